"""A short run of the upgrade chapter: cells, rules and grid; and a node that cannot start."""

from fixtures.releases import catalogue
from tests.live.releases import RELEASES
from tests.live.running import PytestRun

SHORT = "not rolling and (test_chat or test_max_tokens or test_derender_chat_logprobs or test_stream_state)"


def cells(run):
    return [case["cell"] for case in run.report().cases]


def test_the_whole_matrix_has_every_pair(tmp_path):
    run = PytestRun(tmp_path, "conformance/upgrade", "--collect-only", "-q")
    assert run.wait() == 0, run.output
    known = catalogue.load().releases
    derendering = [release for release in known if release.can("derender")]
    assert run.output.count("test_chat.py::test_chat[") == len(known) ** 2
    assert run.output.count("test_derender.py::test_derender_chat[") == len(known) * len(
        derendering
    )


def test_a_short_run_holds_its_table(tmp_path):
    releases = [release.version for release in (RELEASES[0], RELEASES[-1])]
    run = PytestRun(
        tmp_path, "conformance/upgrade", "-n", "2", "--vllm", ",".join(releases), "-k", SHORT
    )
    assert run.wait(600) == 0, run.output
    pairs = {(cell["render"], cell["generate"]) for cell in cells(run) if "render" in cell}
    targets = [f"stock@{release}" for release in releases]
    assert pairs == {(render, generate) for render in targets for generate in targets}
    assert "render (rows) and generate (columns)" in run.output
    assert "max-tokens-16-lost" in run.output
    assert run.nothing_left_within(10)


def test_a_node_that_cannot_start_is_red(tmp_path):
    run = PytestRun(
        tmp_path, "conformance/upgrade", "--vllm", "0.27.1,0.33.0", "-k", "test_max_tokens and 17",
        "--impl", "tests.live.suite.unstartable:install",
    )  # fmt: skip
    assert run.wait(600) == 1
    found = {
        (cell["render"][-6:], cell["generate"][-6:]): cell.get("outcome") for cell in cells(run)
    }
    assert found == {
        ("0.27.1", "0.27.1"): None,
        ("0.27.1", "0.33.0"): None,
        ("0.33.0", "0.27.1"): None,
        ("0.33.0", "0.33.0"): "interoperates",
    }
    assert [case["status"] for case in run.report().cases].count("error") == 3
    [row] = [
        line
        for line in run.output.splitlines()
        if line.startswith("tests.live.suite") and "E" in line[-6:] and "0.27.1" in line
    ]
    assert row.split()[-2:] == ["E", "E"]
