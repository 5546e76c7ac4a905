"""The implementation `rust`: which node a wish becomes, and how its servers show what they are."""

import http.server
import threading
from pathlib import Path

import pytest

from fixtures.case import Node
from fixtures.nodes import health
from fixtures.nodes.host import binds_by_itself
from fixtures.releases.environment import Environment
from fixtures.releases.problem import EnvironmentProblem
from fixtures.run import has_rust_binary
from fixtures.settings import Settings

RUST = Settings(("0.33.0",), "rust", "cpu", "code")
MODEL = Path("/models/tiny")
NOT_IMPLEMENTED = """\
error: invalid value '{"tokens_only": true}' for '--args-json <JSON>':
The following arguments are not implemented in Rust frontend yet:
- tokens_only
- lora_modules
Remove these arguments to continue.
"""
UNEXPECTED = "error: unexpected argument '--return-tokens-as-token-ids' found\n\nUsage: …"


@pytest.mark.parametrize("engine", ["real", "scripted"])
def test_every_serve_node_has_the_real_engine(engine):
    spec = Node(engine, "--max-logprobs", "5").spec(RUST)
    assert (spec.engine, spec.target) == ("cpu", "rust@0.33.0")
    words = spec.arguments(MODEL, True)
    assert words[:2] == ["--model", str(MODEL)]
    assert words[-3:] == ["--enable-scale-out", "--max-logprobs", "5"]


def test_a_wish_for_another_implementation_keeps_its_script():
    assert Node("scripted", implementation="stock").spec(RUST).engine == "scripted"


def test_a_render_node_has_the_binarys_own_command_line():
    flags = "--enable-auto-tool-choice", "--tool-call-parser", "hermes"
    spec = Node("none", *flags, role="render").spec(RUST)
    assert spec.arguments(MODEL, True) == [
        str(MODEL), "--served-model-name", "tiny", "--max-model-len", "512",
        "--host", "127.0.0.1", "--tool-call-parser", "hermes",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("implementation", "role", "itself"),
    [("rust", "render", True), ("rust", "serve", False), ("stock", "render", False)],
)
def test_only_the_render_binary_binds_its_port_itself(implementation, role, itself):
    assert binds_by_itself({"implementation": implementation, "role": role}) is itself


@pytest.mark.parametrize(
    ("log", "flags", "said"),
    [
        (
            NOT_IMPLEMENTED,
            ["--tokens-only", "--lora-modules", "a=b"],
            "The following arguments are not implemented in Rust frontend yet: "
            "- tokens_only - lora_modules",
        ),
        (NOT_IMPLEMENTED, ["--tokens-only"], ""),
        (
            UNEXPECTED,
            ["--return-tokens-as-token-ids"],
            "unexpected argument '--return-tokens-as-token-ids' found",
        ),
        (UNEXPECTED, [], ""),
        ("RuntimeError: Engine core initialization failed.", ["--tokens-only"], ""),
        (
            "host.py: error: unrecognized arguments: --new-metrics=all --other",
            ["--new-metrics=all", "--other"],
            "unrecognized arguments: --new-metrics=all --other",
        ),
        ("host.py: error: unrecognized arguments: --scale-out", ["--new-metrics=all"], ""),
    ],
)
def test_an_option_is_absent_only_in_the_servers_words_on_a_flag_of_the_case(
    tmp_path, log, flags, said
):
    (tmp_path / "node.log").write_text(log)
    assert health.absent_option(tmp_path / "node.log", flags) == said
    assert health.absent_option(tmp_path / "no.log", flags) == ""


SAID = [
    "AutoImageProcessor requires the Torchvision library but it was not found in your environment.",
    "AuxOutput Connector requires Model Runner V2",
    "--enable-return-routed-experts is not supported with monolithic MoE kernel NoneType; it",
    "pin_memory=True requires a CUDA or other accelerator backend",
]


@pytest.mark.parametrize("said", SAID)
def test_what_a_model_or_a_flag_wants_is_absent_in_the_servers_words(tmp_path, said):
    (tmp_path / "node.log").write_text(f"ValueError: x\n{said}\n")
    (tmp_path / "other.log").write_text("ModuleNotFoundError: No module named 'torchvision'\n")

    def look(log):
        looks = health.absent_library(log), health.absent_support(log)
        return "".join(looks) or health.absent_memory(log, ["--enable-lora"])

    found = [look(tmp_path / f"{name}.log") for name in ("node", "other", "no")]
    assert found == [said, "", ""]


def test_memory_of_a_gpu_is_wanted_by_an_option_alone(tmp_path):
    (tmp_path / "node.log").write_text(f"RuntimeError: {SAID[-1]}; no allocator\n")
    assert health.absent_memory(tmp_path / "node.log", ["--max-num-seqs", "4"]) == ""


DIED = [
    "(EngineCore) TypeError: Cannot inspect kernel parameters for function\n",
    "(Worker)     _topk_log_softmax_kernel[(batch_size,)](\n(Worker)     ~~~~~~~~~^^^^\n"
    "(Worker) TypeError: 'function' object is not subscriptable\n",
]


@pytest.mark.parametrize("log", DIED)
def test_a_cpu_engine_dies_for_want_of_a_kernel(tmp_path, log):
    (tmp_path / "node.log").write_text(f"before\n{log}after\n")
    (tmp_path / "other.log").write_text("TypeError: 'function' object is not subscriptable\n")
    found = [health.absent_kernel(tmp_path / f"{name}.log") for name in ("node", "other")]
    assert "Type" in found[0] or "Cannot inspect" in found[0]
    assert found[1] == ""


@pytest.fixture
def answering():
    """`answering(status)`: the port of a server that answers every request with it."""
    servers = []

    def start(status: int) -> int:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.send_error(status)

            def log_message(self, *_):
                pass

        servers.append(http.server.HTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1].server_address[1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(("status", "good"), [(200, True), (403, True), (500, False)])
def test_a_node_generates_or_refuses_to_and_no_more(answering, status, good):
    assert (health.no_token(answering(status)) == "") is good


def test_a_refused_connection_is_waited_for_until_the_node_ends(answering):
    port = answering(200)
    with pytest.raises(OSError, match="501"):
        health.wait_for(port, 5, lambda: False)
    polls = iter([False, False, True])
    with pytest.raises(OSError, match="refused"):
        health.wait_for(1, 5, lambda: next(polls))
    assert next(polls, "asked three times") == "asked three times"


def test_a_release_without_the_binary_is_one_sentence(tmp_path):
    environment = Environment("0.32.0", tmp_path, tmp_path, tmp_path, {}, "CPU wheel")
    with pytest.raises(EnvironmentProblem, match=r"^--impl rust: vLLM 0\.32\.0 .*vllm/vllm-rs"):
        has_rust_binary(environment)
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "vllm-rs").touch(mode=0o755)
    has_rust_binary(environment)
