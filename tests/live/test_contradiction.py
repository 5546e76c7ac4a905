"""What a probe finds of a stock node and what the catalogue of releases says of it must agree."""

import pytest

from tests.live.running import PytestRun

CASE = ("conformance/derender/test_choices.py", "-k", "finish_reason_is_forwarded and abort")
WRONG = ("-p", "tests.live.suite.wrong_catalogue")
SAID = (
    "the probe says that stock@0.33.0 has derender.chat, "
    "and the catalogue of releases that it has not derender"
)


@pytest.mark.parametrize(("plugin", "status"), [((), "passed"), (WRONG, "error")])
def test_a_wrong_catalogue_is_an_error_with_the_probe_as_evidence(tmp_path, plugin, status):
    run = PytestRun(tmp_path, *plugin, *CASE, "--impl", "stock", "--vllm", "0.33.0")
    assert run.wait() == (status == "error"), run.output
    [case] = run.report().cases
    assert case["status"] == status
    if status == "error":
        assert case["message"] == SAID
        [exchange] = case["exchanges"]
        assert (exchange["path"], exchange["status"]) == ("/v1/chat/completions/derender", 200)
