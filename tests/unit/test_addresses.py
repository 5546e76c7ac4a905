"""--url: which addresses it takes, what the servers behind them must say, and what a run makes of it."""

import contextlib
import http.server
import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from fixtures.__main__ import main
from fixtures.addresses import AddressProblem, Said, addresses, look, role_of, shown
from fixtures.case import Node
from fixtures.nodes.hosts import ROOT
from fixtures.releases import catalogue
from fixtures.settings import from_command_line

A, B, C = "http://a:1", "https://b", "http://10.0.0.7:80/under"
TINY = {"data": [{"id": "tiny", "max_model_len": 512}]}
NEWEST = catalogue.load().newest.version


@pytest.fixture
def server():
    """`server({path: (status, body)})`: the address of a server that answers so, 404 elsewhere."""
    servers = []

    def start(answers: dict[str, tuple[int, object]]) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = answers.get(self.path, (404, {}))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            def log_message(self, *_):
                pass

        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_address[1]}"

    yield start
    for one in servers:
        one.shutdown()
        one.server_close()


def dribble(wfile) -> None:
    """A byte now and then, so that no single read is late."""
    for _ in range(40):
        wfile.write(b" ")
        time.sleep(0.05)


def vllm(version: object, **more) -> dict:
    return {"/v1/models": (200, TINY), "/version": (200, {"version": version, **more})}


def test_one_address_serves_every_role_or_each_has_its_own():
    assert addresses([A + "/"]) == {"render": A, "generate": A, "derender": A}
    own = addresses([f"derender={C}", f"render={A}", f"generate={B}"])
    assert own == {"render": A, "generate": B, "derender": C}
    assert shown(own) == f"render={A} generate={B} derender={C}"
    assert shown(addresses([A])) == A


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([A, B], "--url names the render server twice."),
        ([f"generate={A}", f"generate={B}"], "--url names the generate server twice."),
        ([f"render={A}", f"generate={B}"], "--url names no derender server: "),
        (["http://me:secret@host:1"], "--url for host holds a user or a password"),
        (["localhost:8000"], "is not http://HOST:PORT or ROLE="),
        (["router=http://a:1"], "is not http://HOST:PORT or ROLE="),
        (["http://"], "is not http://HOST:PORT or ROLE="),
        (["http://a:1?x=1"], "is not http://HOST:PORT or ROLE="),
        (["http://a:port"], "is not http://HOST:PORT or ROLE="),
    ],
)
def test_what_names_no_server_is_refused(words, sentence):
    with pytest.raises(AddressProblem) as refused:
        addresses(words)
    assert sentence in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("/v1/chat/completions/render", "render"),
        ("/v1/completions/derender", "derender"),
        ("/v1/chat/completions", "generate"),
        ("/inference/v1/generate", "generate"),
        ("/metrics", "generate"),
    ],
)
def test_each_route_has_its_role(path, role):
    assert role_of(path) == role


def test_servers_say_one_version(server):
    one = server(vllm("0.33.0+cpu"))
    rust = server(vllm("0.33.0", rust_frontend_version="0.33.0"))
    silent = server({"/v1/models": (200, TINY), "/version": (200, b"<html>")})
    assert look({"generate": one}) == Said("0.33.0", False)
    assert look({"generate": rust, "render": silent}) == Said("0.33.0", True)
    assert look({"render": silent}) == Said(None, False)
    assert look({"render": server(vllm("my build@7"))}) == Said("my-build-7", False)
    with pytest.raises(AddressProblem, match=r"vLLM 0\.32\.0 and 0\.33\.0; .* --vllm RELEASE"):
        look({"generate": one, "render": server(vllm("0.32.0"))})


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            (200, {"data": [{"id": "llama", "max_model_len": 8192}]}),
            "serves 'llama' with a context of 8192, and",
        ),
        (
            (200, {"data": [{"id": "\x1b" + "x" * 99, "max_model_len": "y" * 99}] * 7}),
            f"serves '\\x1b{'x' * 55} with a context of '{'y' * 19}, '",
        ),
        ((200, {"data": [{"id": "a"}] * 7}), "'a' with a context of None, 2 more, and"),
        ((200, {"data": [{"id": "tiny", "max_model_len": 2048}]}), "python -m fixtures model"),
        ((200, {"data": [7]}), "serves no model"),
        ((200, b"<html>"), "serves no model"),
        ((404, {}), "is answered with 404 instead of the models it serves."),
        ((401, {}), "A server that wants a key cannot be judged."),
    ],
)
def test_another_model_is_refused(server, answer, sentence):
    with pytest.raises(AddressProblem) as refused:
        look({"generate": server({"/v1/models": answer})})
    assert sentence in str(refused.value)


def test_a_dead_address_is_one_sentence():
    with pytest.raises(AddressProblem, match=r"^--url http://127\.0\.0\.1:9: no server answers"):
        look({"generate": "http://127.0.0.1:9"})


@pytest.mark.parametrize(
    ("send", "sentence"),
    [
        (
            lambda wfile: wfile.write(bytes(2 * 1024 * 1024)),
            "its answer has more than 1048576 bytes",
        ),
        (dribble, "within 0.3 seconds"),
    ],
    ids=["endless", "slow"],
)
def test_an_answer_has_a_bound(monkeypatch, send, sentence):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                send(self.wfile)

        def log_message(self, *_):
            pass

    monkeypatch.setattr("fixtures.addresses.SECONDS", 0.3 if send is dribble else 10)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with pytest.raises(AddressProblem) as refused:
            look({"generate": f"http://127.0.0.1:{server.server_address[1]}"})
        server.shutdown()
    assert sentence in str(refused.value)


def config(*urls: str, args=("conformance/generate",), **options) -> SimpleNamespace:
    values = {"url": list(urls), "vllm": None, "impl": None, "engine": None, **options}
    return SimpleNamespace(
        option=SimpleNamespace(**values),
        args=list(args),
        invocation_params=SimpleNamespace(dir=ROOT),
    )


@pytest.mark.parametrize(
    ("said", "options", "target", "release"),
    [
        ("0.32.0", {}, "stock@0.32.0", "0.32.0"),
        ("0.32.0", {"impl": "reference"}, "reference@0.32.0", "0.32.0"),
        ("0.32.0", {"vllm": "0.33.0", "impl": "mine"}, "mine@0.33.0", "0.33.0"),
        ("0.34.0", {}, "url@0.34.0", NEWEST),
        ("0.34.0", {"impl": "stock"}, "stock@0.34.0", NEWEST),
        ("0.34.0", {"vllm": "0.33.0"}, "stock@0.33.0", "0.33.0"),
        ("", {}, "url@unknown", NEWEST),
    ],
)
def test_servers_are_taken_for_what_is_said(server, said, options, target, release):
    settings = from_command_line(config(server(vllm(said)), **options))
    assert (settings.target, settings.release) == (target, release)
    assert Node("scripted").spec(settings).engine == "given"
    assert target in settings.judging
    assert (f"as of {NEWEST}" in settings.judging) == target.startswith(("url", "stock@0.34"))
    assert (f"although GET /version says vLLM {said}" in settings.judging) == ("vllm" in options)


def test_a_rust_server_is_one(server):
    url = server(vllm("0.33.0", rust_frontend_version="0.33.0"))
    assert from_command_line(config(url)).target == "rust@0.33.0"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"args": ["conformance/upgrade"]}, "--url starts nothing, and conformance/upgrade"),
        ({"engine": "cpu"}, "--url starts nothing, so there is no engine to choose by --engine."),
        ({"impl": "impl:install"}, "--url starts nothing that could hold --impl 'impl:install'"),
        (
            {"vllm": "0.32.0..0.33.0"},
            "--url judges one release, and --vllm 0.32.0..0.33.0 names more.",
        ),
        ({"vllm": "0.99.0"}, "vLLM release '0.99.0' is not known here"),
        ({}, "no server answers GET /v1/models"),
    ],
)
def test_what_does_not_go_with_url_is_refused(options, sentence):
    with pytest.raises(pytest.UsageError) as refused:
        from_command_line(config("http://127.0.0.1:9", **options))
    assert sentence in str(refused.value)


def test_the_model_is_made_and_its_servers_command_lines_are_printed(capsys):
    assert main(["model"]) == main(["model", "0.27.1"]) == 0
    newest, newest_render, older, _ = capsys.readouterr().out.splitlines()
    command, verb, folder, *words = newest.split()
    assert (command, verb) == ("vllm", "serve") and (Path(folder) / "config.json").is_file()
    assert " ".join(words).startswith(
        "--served-model-name tiny --max-model-len 512 --dtype float32"
    )
    assert "--enable-scale-out" in words and "--enable-scale-out" not in older
    assert newest_render.startswith(f"vllm launch render {folder} --served-model-name tiny")
    assert main(["model", "0.99.0"]) == 1
