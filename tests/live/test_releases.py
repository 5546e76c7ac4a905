"""Every release of the catalogue runs: its nodes start, answer, and can what the catalogue says.

TOKENWIRE_RELEASES chooses the releases: `A`, `A..B`, several by commas, or "all". Without it one
release of each layout of vLLM's server code is run, which takes about a minute where they are
installed; "all" takes about five.
"""

import base64
import io
import json
import os

import numpy
import pytest

from fixtures import capabilities
from fixtures.models import tokenizer
from fixtures.nodes.lease import Lease
from fixtures.nodes.pool import Pool
from fixtures.nodes.script import Engine, hang, output, step
from fixtures.nodes.spec import NodeSpec
from fixtures.releases import catalogue
from fixtures.releases.catalogue import Release
from fixtures.run import SHARED_POOL, say
from fixtures.wire import Wire

LAYOUTS = "0.20.2,0.24.0,0.27.1,0.33.0"
CHOSEN = os.environ.get("TOKENWIRE_RELEASES", LAYOUTS)
KNOWN = catalogue.load()
RELEASES = KNOWN.releases if CHOSEN == "all" else KNOWN.select(CHOSEN)

PROMPT = list(range(40, 60))
GREEDY = {"max_tokens": 16, "temperature": 0.0, "ignore_eos": True}
MESSAGES = [{"role": "user", "content": "hello world"}]

# What is probed -> the catalogue's name of it. None: no release has it. "": each one has it.
PROBED = {
    "generate": "generate",
    "generate-stream": "generate-stream",
    "render.chat": "render",
    "render.completions": "render",
    "render.messages": "messages-render",
    "render.responses": "responses-render",
    "derender.chat": "derender",
    "derender.completions": "derender",
    "derender.chat.stream": "derender-stream",
    "derender.completions.stream": "derender-stream",
    "output-mode.text": "output-mode-text",
    "output-mode.derender": "output-mode-derender",
    "output-mode.derender.stream": None,
    "abort-route": "abort-route",
    "coupled.chat": "",
    "coupled.completions": "",
    "integer-logprobs": "integer-logprobs",
    "parse-context": "parse-context",
    "return-token-ids": "return-token-ids",
}
NOT_ON_A_RENDER_NODE = ("generate", "output-mode", "abort", "coupled", "integer", "parse", "return")

# Greedy tokens of the releases run so far; every release must give the same.
greedy_tokens: dict[str, list[int]] = {}


@pytest.fixture(scope="module", params=RELEASES, ids=lambda release: release.version)
def release(request: pytest.FixtureRequest) -> Release:
    return request.param


@pytest.fixture(scope="module")
def lease(release: Release, tmp_path_factory: pytest.TempPathFactory):
    """A pool of this release alone, so that one host at a time is in memory."""
    given = os.environ.get(SHARED_POOL)
    pool = None if given else Pool(tmp_path_factory.mktemp(release.version), say)
    address = json.loads(given) if given else pool.address
    leases: dict[NodeSpec, Lease] = {}

    def hold(engine: str, implementation: str = "stock", *flags: str) -> Lease:
        role = "render" if engine == "none" else "serve"
        spec = NodeSpec(release.version, implementation, engine, role=role, flags=flags)
        if spec not in leases:
            leases[spec] = Lease(address, spec)
        return leases[spec]

    yield hold
    for one in leases.values():
        one.close()
    if pool:
        pool.close()


def wire_of(lease: Lease) -> Wire:
    return Wire(lease.url, lease.name)


@pytest.mark.parametrize("implementation", ["stock", "reference"])
@pytest.mark.parametrize("engine", ["scripted", "cpu", "none"])
async def test_a_node_starts_and_reports_its_release(lease, release, engine, implementation):
    node = lease(engine, implementation)
    answer = (await wire_of(node).get("/version")).expect(200)
    assert answer.json["version"].split("+")[0] == release.version


@pytest.mark.parametrize("implementation", ["stock", "reference"])
@pytest.mark.parametrize("engine", ["scripted", "cpu"])
async def test_generate_answers_the_same_full_and_streamed(lease, release, engine, implementation):
    wire = wire_of(lease(engine, implementation))
    full = (await wire.generate(token_ids=PROMPT, sampling_params=GREEDY)).expect(200)
    streamed = (await wire.generate_stream(token_ids=PROMPT, sampling_params=GREEDY)).expect(200)
    tokens = full.json["choices"][0]["token_ids"]
    choices = [choice for chunk in streamed.chunks for choice in chunk["choices"]]
    assert len(tokens) == GREEDY["max_tokens"]
    assert [token for choice in choices for token in choice["token_ids"]] == tokens
    assert streamed.done
    ends = full.json["choices"][0]["finish_reason"], choices[-1]["finish_reason"]
    assert ends == ("length", "length")
    greedy_tokens.setdefault(engine, tokens)
    assert tokens == greedy_tokens[engine]


@pytest.mark.parametrize("implementation", ["stock", "reference"])
@pytest.mark.parametrize("engine", ["cpu", "none"])
async def test_a_chat_is_rendered_and_derendered(lease, release, engine, implementation):
    wire = wire_of(lease(engine, implementation))
    rendered = (await wire.render_chat(messages=MESSAGES, max_tokens=8)).expect(200)
    assert rendered.json["token_ids"]
    generated = {
        "request_id": "generate-tokens-1",
        "choices": [
            {"index": 0, "token_ids": rendered.json["token_ids"], "finish_reason": "length"}
        ],
    }
    derendered = await wire.derender_chat(generate_response=generated)
    if not release.can("derender"):
        assert derendered.status == 404
        return
    assert "hello world" in derendered.expect(200).json["choices"][0]["message"]["content"]


@pytest.mark.parametrize("engine", ["cpu", "none"])
async def test_what_a_node_can_is_what_the_catalogue_says(lease, release, engine):
    wire = wire_of(lease(engine))
    found, expected = {}, {}
    for name, known_as in PROBED.items():
        found[name], _ = await capabilities.probe(name, wire)
        expected[name] = known_as == "" or (known_as is not None and release.can(known_as))
        if engine == "none" and name.startswith(NOT_ON_A_RENDER_NODE):
            expected[name] = False
    assert found == expected


# What the reference adds to a release that lacks it.


async def test_the_reference_fills_the_context_and_keeps_an_explicit_sixteen(lease):
    node = lease("scripted", "reference")
    wire = wire_of(node)
    params = {"ignore_eos": True, "temperature": 0.0}
    full = await wire.generate(token_ids=PROMPT, sampling_params=params)
    streamed = await wire.generate_stream(token_ids=PROMPT, sampling_params=params)
    room = node.max_model_len - len(PROMPT)
    assert len(full.expect(200).json["choices"][0]["token_ids"]) == room
    assert sum(len(chunk["choices"][0]["token_ids"]) for chunk in streamed.chunks) == room
    chat = await wire.render_chat(messages=MESSAGES, max_tokens=16, ignore_eos=True)
    answer = await wire.generate(chat.expect(200).json)
    assert len(answer.expect(200).json["choices"][0]["token_ids"]) == 16


@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_the_reference_forwards_the_rank(lease, stream):
    node = lease("scripted", "reference", "--data-parallel-size", "2")
    wire, engine = wire_of(node), Engine(wire_of(node))
    name = await engine.script([output([40, 41], finish_reason="length")])
    call = wire.generate_stream if stream else wire.generate
    headers = {"X-data-parallel-rank": "1"}
    answer = await call(token_ids=PROMPT, sampling_params={}, headers=headers, script=name)
    answer.expect(200)
    asked = await engine.wait_for(name, "add_request")
    assert asked["request"]["data_parallel_rank"] == 1


@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_the_reference_sends_routed_experts_on_each_choice(lease, stream):
    node = lease("scripted", "reference")
    wire, engine = wire_of(node), Engine(wire_of(node))
    arrays = [numpy.arange(21 * 4, dtype="uint8").reshape(21, 2, 2) + start for start in (0, 100)]
    ends = [
        output(
            [41],
            index=index,
            finish_reason="length",
            routed_experts={"shape": array.shape, "dtype": "uint8", "data": array.tolist()},
        )
        for index, array in enumerate(arrays)
    ]
    begin = step(output([40]), output([40], index=1))
    name = await engine.script([begin, ends[1], ends[0]])
    call = wire.generate_stream if stream else wire.generate
    params = {"n": 2, "temperature": 1.0, "max_tokens": 2}
    answer = await call(token_ids=PROMPT, sampling_params=params, script=name)
    bodies = answer.expect(200).chunks if stream else [answer.expect(200).json]
    ended = [choice for body in bodies for choice in body["choices"] if choice["finish_reason"]]
    assert sorted(choice["index"] for choice in ended) == [0, 1]
    for choice in ended:
        npy = io.BytesIO(base64.b64decode(choice["routed_experts"]))
        assert numpy.array_equal(numpy.load(npy, allow_pickle=False), arrays[choice["index"]])


async def test_the_reference_aborts_when_the_client_leaves(lease):
    node = lease("scripted", "reference")
    wire, engine = wire_of(node), Engine(wire_of(node))
    name = await engine.script([output([40]), hang()])
    path, body = "/inference/v1/generate", {"token_ids": PROMPT, "sampling_params": {}}
    async with wire.open_stream(path, body, script=name) as stream:
        await anext(stream)
    await engine.wait_for(name, "abort", indexes=[0])


@pytest.mark.parametrize("flag", [False, True], ids=["flag-off", "flag-on"])
@pytest.mark.parametrize("value", [True, False, None])
async def test_the_reference_lets_an_explicit_value_win_on_derender(lease, release, flag, value):
    if not release.can("derender"):
        pytest.skip("no derender before 0.24.0")
    flags = ["--return-tokens-as-token-ids"] if flag else []
    node = lease("scripted", "reference", *flags)
    wire, engine = wire_of(node), Engine(wire_of(node))
    name = await engine.script([output([40]), output([41], finish_reason="length")])
    params = {"max_tokens": 2, "logprobs": 1}
    asked = {"token_ids": PROMPT, "sampling_params": params, "script": name}
    client = {"messages": MESSAGES, "return_tokens_as_token_ids": value}
    full = (await wire.generate(**asked)).expect(200).json
    derendered = await wire.derender_chat(generate_response=full, chat_request=client)
    found = [derendered.expect(200).json["choices"][0]["logprobs"]["content"][1]["token"]]
    if release.can("derender-stream"):
        chunks = (await wire.generate_stream(**asked)).expect(200).chunks
        body = {"stream": True, "generate_chunk": chunks[1], "chat_request": client}
        derendered = await wire.derender_chat(body, prompt_token_ids=PROMPT)
        choice = derendered.expect(200).json["chunk"]["choices"][0]
        found.append(choice["logprobs"]["content"][0]["token"])
    expected = "token_id:41" if (flag if value is None else value) else tokenizer().decode([41])
    assert set(found) == {expected}
