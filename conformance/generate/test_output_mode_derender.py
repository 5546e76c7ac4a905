"""Derender mode without a parser: the message is the text, and the answer equals tokens +
derender.
"""

import pytest

from conformance.generate import GREEDY, PROMPT, refused
from conformance.support import encode
from fixtures.case import Node, capability, requirement
from fixtures.models import tokenizer
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

TEXT = "naïve fox 日本"
IDS = encode(TEXT)
PARAMS = {"max_tokens": 64, "ignore_eos": True}


async def say(engine):
    return await engine.script([output(token_ids=IDS, finish_reason="length")])


@requirement("generate.output-mode.derender.shape")
@capability("output-mode.derender")
async def test_whole_answer(wire, engine):
    """The keys of the answer and its message, null ones too; the choice keeps its ids."""
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params=PARAMS, script=await say(engine), output_mode="derender"
    )
    body = dict(answer.expect(200).json)
    (choice,) = body.pop("choices")
    message = choice.pop("message")
    for key in ("request_id", "created", "model", "usage"):
        assert body.pop(key)
    assert body == {
        "output_mode": "derender",
        "prompt_logprobs": None,
        "prompt_token_id_logprobs": None,
        "prompt_token_ids": None,
        "mm_placeholders": None,
        "metrics": None,
        "kv_transfer_params": None,
        "ec_transfer_params": None,
    }
    weights = choice.pop("weight_versions")
    assert weights is None or weights == [{"version": "default", "start": 0, "end": len(IDS)}]
    assert choice == {
        "index": 0,
        "finish_reason": "length",
        "stop_reason": None,
        "token_ids": IDS,
        "routed_experts": None,
        "sampling_mask": None,
        "logprobs": None,
    }
    assert (message["role"], message["content"]) == ("assistant", TEXT)
    assert {key for key, value in message.items() if value} == {"role", "content"}


@requirement("generate.output-mode.derender.equals-derender-route")
@capability("output-mode.derender")
@pytest.mark.parametrize("logprobs", [None, 2], ids=["plain", "logprobs"])
async def test_equals_the_derender_route(wire, engine, logprobs):
    """The message, finish reason and logprobs are those that the derender route makes of the tokens
    answer.
    """
    params = PARAMS if logprobs is None else {**PARAMS, "logprobs": logprobs}
    tokens = await wire.generate(token_ids=PROMPT, sampling_params=params, script=await say(engine))
    chat_request = {"messages": [{"role": "user", "content": "?"}]}
    if logprobs is not None:
        chat_request |= {"logprobs": True, "top_logprobs": logprobs}
    routed = await wire.derender_chat(
        generate_response=tokens.expect(200).json,
        prompt_token_ids=PROMPT,
        chat_request=chat_request,
    )
    inline = await wire.generate(
        token_ids=PROMPT, sampling_params=params, script=await say(engine), output_mode="derender"
    )
    (expected,) = routed.expect(200).json["choices"]
    (got,) = inline.expect(200).json["choices"]
    assert got["message"]["content"] == expected["message"]["content"] == TEXT
    assert got["finish_reason"] == expected["finish_reason"] == "length"
    assert got["logprobs"] == expected["logprobs"]
    assert logprobs is None or len(got["logprobs"]["content"]) == len(IDS)


@requirement("generate.output-mode.derender.unknown-context-refused")
@capability("output-mode.derender")
@pytest.mark.parametrize(
    "context", [{"tokenwire_unknown": 1}, {"tools": None, "later_field": None}], ids=["one", "null"]
)
async def test_unknown_context_key_fails_closed(wire, engine, context):
    """A parse_context key that the server does not know is a 400 in derender mode, and named.

    In tokens mode the context is not read: there the same body is served.
    """
    sent = {"token_ids": PROMPT, "sampling_params": PARAMS, "parse_context": context}
    answer = await wire.generate(sent, script=await say(engine), output_mode="derender")
    refused(answer)
    unknown = next(key for key in context if key != "tools")
    assert unknown in answer.json["error"]["message"]
    served = await wire.generate(sent, script=await say(engine), output_mode="tokens")
    assert served.expect(200).json["choices"][0]["token_ids"] == IDS


@requirement("generate.output-mode.derender.context-checked")
@capability("output-mode.derender")
@pytest.mark.parametrize(
    "context",
    [
        {"history_tool_call_cnt": -1},
        {"tool_choice": "sometimes"},
        {"tools": "none"},
        {"include_reasoning": "perhaps"},
        {"chat_template_kwargs": 5},
    ],
    ids=lambda context: next(iter(context)),
)
async def test_malformed_context_is_refused(wire, engine, context):
    """A known key with a value it cannot have is a 400 that names the context; the key left out is
    served.
    """
    sent = {"token_ids": PROMPT, "sampling_params": PARAMS, "output_mode": "derender"}
    answer = await wire.generate(sent, script=await say(engine), parse_context=context)
    refused(answer, param="parse_context")
    served = await wire.generate(sent, script=await say(engine), parse_context={})
    assert served.expect(200).json["choices"][0]["message"]["content"] == TEXT


@requirement("generate.output-mode.derender.equals-derender-route")
@capability("output-mode.derender")
async def test_each_choice_has_its_own_message(wire, engine):
    """With n=2 each choice's message is the text of its own ids."""
    name = await engine.script(
        [
            output(index=1, token_ids=IDS[::-1], finish_reason="length"),
            output(index=0, token_ids=IDS, finish_reason="length"),
        ]
    )
    params = {**PARAMS, "n": 2, "temperature": 1.0}
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params=params, script=name, output_mode="derender"
    )
    first, second = answer.expect(200).json["choices"]
    assert (first["token_ids"], first["message"]["content"]) == (IDS, TEXT)
    assert second["token_ids"] == IDS[::-1] and second["message"]["content"] != TEXT


@requirement("generate.output-mode.derender.finish-and-stop")
@capability("output-mode.derender")
@pytest.mark.parametrize("keep", [False, True], ids=["cut", "kept"])
async def test_stop_string(wire, engine, keep):
    """The message is cut at a stop string as the coupled answer is; the ids are not."""
    letters = [tokenizer().token_to_id(letter) for letter in "abENDc"]
    name = await engine.script([output(token_ids=[token]) for token in letters])
    params = {**PARAMS, **GREEDY, "stop": ["END"], "include_stop_str_in_output": keep}
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params=params, script=name, output_mode="derender"
    )
    (choice,) = answer.expect(200).json["choices"]
    assert choice["message"]["content"] == ("abEND" if keep else "ab")
    assert (choice["token_ids"], choice["finish_reason"], choice["stop_reason"]) == (
        letters[:5],
        "stop",
        "END",
    )
