"""The reference on every release: it adds what the release lacks."""

import base64
import io

import numpy
import pytest

from fixtures.models import tokenizer
from fixtures.nodes.script import Engine, hang, output, step
from tests.live.releases import DERENDERING, MESSAGES, PROMPT, wire_of


async def test_it_fills_the_context_and_keeps_an_explicit_sixteen(hold):
    node = hold("scripted", "reference")
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
async def test_it_forwards_the_rank(hold, stream):
    node = hold("scripted", "reference", "--data-parallel-size", "2")
    wire, engine = wire_of(node), Engine(wire_of(node))
    name = await engine.script([output([40, 41], finish_reason="length")])
    call = wire.generate_stream if stream else wire.generate
    headers = {"X-data-parallel-rank": "1"}
    answer = await call(token_ids=PROMPT, sampling_params={}, headers=headers, script=name)
    answer.expect(200)
    asked = await engine.wait_for(name, "add_request")
    assert asked["request"]["data_parallel_rank"] == 1


@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_it_sends_routed_experts_on_each_choice(hold, stream):
    node = hold("scripted", "reference")
    wire, engine = wire_of(node), Engine(wire_of(node))
    # The prompt is routed once for all choices, what each generates on its own.
    prompt = numpy.arange(len(PROMPT) * 4, dtype="uint8").reshape(len(PROMPT), 2, 2)
    arrays = [numpy.concatenate([prompt, numpy.full((1, 2, 2), 100 + n, "uint8")]) for n in (0, 1)]
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


async def test_it_aborts_when_the_client_leaves(hold):
    node = hold("scripted", "reference")
    wire, engine = wire_of(node), Engine(wire_of(node))
    name = await engine.script([output([40]), hang()])
    path, body = "/inference/v1/generate", {"token_ids": PROMPT, "sampling_params": {}}
    async with wire.open_stream(path, body, script=name) as stream:
        await anext(stream)
    await engine.wait_for(name, "abort", indexes=[0])


@pytest.mark.parametrize(
    "release", DERENDERING, ids=lambda one: one.version, indirect=True, scope="session"
)
@pytest.mark.parametrize("flag", [False, True], ids=["flag-off", "flag-on"])
@pytest.mark.parametrize("value", [True, False, None])
async def test_it_lets_an_explicit_value_win_on_derender(hold, release, flag, value):
    flags = ["--return-tokens-as-token-ids"] if flag else []
    node = hold("scripted", "reference", *flags)
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
