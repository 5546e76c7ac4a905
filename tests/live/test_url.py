"""Servers that run already, judged by their address: the verdicts of nodes that tokenwire starts."""

import os
import signal
import time

import pytest

from fixtures.nodes.lease import Lease
from fixtures.nodes.spec import NodeSpec
from tests.live.running import PytestRun
from tests.live.sharing import run_suite

RELEASE = "0.33.0"
JUDGED = (
    "conformance/generate/test_max_tokens.py",
    "conformance/generate/test_isolation.py",
    "conformance/logprobs/test_shape.py",
    "conformance/logprobs/test_float_text.py",
    "conformance/render/test_refusals.py",
    "conformance/derender/test_ids_refused.py",
)
SCRIPTED = "conformance/generate/test_abort.py"
FLAGGED = "conformance/generate/test_tokens_only.py"
ENGINE_FREE = "conformance/render/test_engine_free_node.py"


@pytest.fixture
def server(pool_address):
    """`server(*flags, engine="cpu")`: a stock server that nobody else leases, by its lease."""
    leases = []

    def start(*flags: str, engine: str = "cpu") -> Lease:
        role = "render" if engine == "none" else "serve"
        spec = NodeSpec(RELEASE, "stock", engine, role=role, flags=flags)
        leases.append(Lease(pool_address, spec, exclusive=True))
        return leases[-1]

    yield start
    for lease in leases:
        lease.close()


def by_id(report) -> dict[str, dict]:
    return {case["id"]: case for case in report.cases}


def test_the_verdicts_are_those_of_the_same_node_started_here(pool_address, server, tmp_path):
    files = (*JUDGED, SCRIPTED, FLAGGED)
    url = server().url
    started = run_suite(pool_address, tmp_path / "started", *files, "--impl", "stock")
    report = run_suite(pool_address, tmp_path / "given", *files, "--url", url)
    assert report.header["targets"] == started.header["targets"] == [f"stock@{RELEASE}"]
    assert report.header["releases"]["running servers"]["obtained"] == f"running already at {url}"
    assert report.footer["exit_code"] == started.footer["exit_code"] == 0
    given, own = by_id(report), by_id(started)
    assert given.keys() == own.keys()
    judged = {id for id, case in given.items() if case["status"] != "unsupported"}
    assert {id: given[id]["status"] for id in judged} == {id: own[id]["status"] for id in judged}
    # Each of these files has cases on a node like the server.
    assert {id.partition("::")[0] for id in judged} >= {*JUDGED} - {JUDGED[3]}
    assert {given[id]["engine"] for id in judged} == {"given"}
    assert all(f"--url {url}" in case["replay"] for case in given.values())
    for id, case in given.items():
        if id.startswith(SCRIPTED) and case["status"] == "unsupported" and case["exchanges"]:
            assert "has no script control" in case["message"]
            assert case["exchanges"][-1]["path"] == "/_engine/scripts"
            assert case["exchanges"][-1]["status"] == 404
        if id.startswith(FLAGGED):
            assert case["message"] == (
                "needs a server started with --tokens-only, which --url does not show"
            )
        if "[none-render" in id:
            assert case["message"].startswith("needs a render server without an engine, and")
            assert case["exchanges"][-1]["status"] == 200


def test_each_role_has_a_server_of_its_own(server, tmp_path):
    generate, render = server(), server(engine="none")
    roles = {"render": render.url, "generate": generate.url, "derender": render.url}
    words = [word for role, url in roles.items() for word in ("--url", f"{role}={url}")]
    run = PytestRun(tmp_path, ENGINE_FREE, "conformance/parity/test_completions.py", *words)
    assert run.wait(300) == 0, run.output
    cases = run.report().cases
    assert "unsupported" not in {case["status"] for case in cases}
    asked = {
        (exchange["path"].rpartition("/")[2], exchange["url"].removesuffix(exchange["path"]))
        for case in cases
        for exchange in case["exchanges"]
    }
    routes = {("render", render.url), ("derender", render.url), ("generate", generate.url)}
    # The engine-free node is asked for what it has not, and compared with the one it renders for.
    assert asked >= routes | {("generate", render.url)}
    assert (
        f"judging render={render.url} generate={generate.url} derender={render.url}" in run.output
    )


def test_two_runs_of_two_workers_share_a_server(server, tmp_path):
    words = (*JUDGED[:3], "-n", "2", "--url", server().url)
    runs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        runs.append(PytestRun(tmp_path / name, *words))
    assert [run.wait(400) for run in runs] == [0, 0], [run.output for run in runs]
    first, second = ({case["id"]: case["status"] for case in run.report().cases} for run in runs)
    assert first == second


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_server_that_dies_ends_the_run(server, tmp_path, workers):
    lease = server()
    run = PytestRun(tmp_path, *JUDGED[:2], "-n", workers, "--url", lease.url)
    deadline = time.monotonic() + 120
    while not run.report_file.exists() or b'"status":"passed"' not in run.report_file.read_bytes():
        assert run.process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    os.kill(lease.pid, signal.SIGKILL)
    assert run.wait(60) == 1
    report = run.report()
    said = f"the server at {lease.url} is gone: GET /health is not answered ("
    if workers == "0":
        assert report.cases[-1]["status"] == "error" and said in report.cases[-1]["message"]
    assert report.footer["reported"] < report.footer["planned"]
    assert report.footer["problems"][0].startswith(said)
    assert report.footer["problems"][0].endswith("; the run ends here.")
    assert run.nothing_left_within(10)


def test_what_a_stock_server_lacks_against_the_catalogue_is_an_error(server, tmp_path):
    url = server("--no-enable-scale-out").url
    run = PytestRun(tmp_path, "conformance/generate/test_output_mode_text.py", "--url", url)
    assert run.wait() == 1
    said = {case["message"] for case in run.report().cases if case["status"] == "error"}
    assert said == {
        f"the probe says that stock@{RELEASE} has not output-mode.text, "
        "and the catalogue of releases that it has output-mode-text"
    }


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://127.0.0.1:9", "--url http://127.0.0.1:9: no server answers GET /v1/models"),
        ("http://me:secret@127.0.0.1:9", "--url for 127.0.0.1 holds a user or a password"),
    ],
)
def test_a_bad_address_is_one_sentence(tmp_path, url, sentence):
    run = PytestRun(tmp_path, *JUDGED, "--url", url)
    assert run.wait() == pytest.ExitCode.USAGE_ERROR
    assert run.output.count(sentence) == 1
    assert "Traceback" not in run.output and "secret" not in run.output
    assert not run.report_file.exists()
