"""What the client sends for the engine reaches it unchanged, and what the engine gives back comes
back.
"""

import pytest

from conformance.generate import PROMPT, choices_of, refused, still_answers
from conformance.support import since
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
TRANSFER = {
    "do_remote_decode": True,
    "remote_engine_id": "engine-7",
    "remote_block_ids": [[1, 2], [3]],
    "nested": {"null": None, "big": 2**62, "float": 0.5, "text": "é✓"},
}


async def asked(wire, engine, stream=False, params=None, prompt=PROMPT, headers=None, **fields):
    """What the engine was asked: the recorded generate() call."""
    name = await engine.script([output(token_ids=[40, 41], finish_reason="length")])
    send = wire.generate_stream if stream else wire.generate
    sampling = {"max_tokens": 2, **(params or {})}
    answer = await send(
        token_ids=prompt, sampling_params=sampling, script=name, headers=headers, **fields
    )
    choices = choices_of(answer) if stream else answer.expect(200).json["choices"]
    assert [token for choice in choices for token in choice["token_ids"]] == [40, 41]
    (call,) = [call for call in await engine.calls(name) if call["event"] == "generate"]
    return call


@requirement("generate.engine.prompt-verbatim")
@FULL_OR_STREAM
@pytest.mark.parametrize(
    "prompt", [[5], [0, 2, 2, 1, 262, 7], list(range(300))], ids=["one", "specials", "many"]
)
async def test_prompt_ids_reach_the_engine_verbatim(wire, engine, stream, prompt):
    """The engine sees exactly the ids sent: no begin token put before them, none dropped or
    re-tokenized.
    """
    call = await asked(wire, engine, stream, prompt=prompt)
    assert call["prompt_token_ids"] == prompt


@requirement("generate.engine.sampling-params-verbatim")
@FULL_OR_STREAM
async def test_sampling_params_reach_the_engine(wire, node, engine, stream):
    """Every sampling field that was sent reaches the engine with its value."""
    params = {
        "n": 1,
        "presence_penalty": 0.25,
        "frequency_penalty": -0.5,
        "repetition_penalty": 1.25,
        "temperature": 0.75,
        "top_p": 0.5,
        "top_k": 17,
        "min_p": 0.125,
        "seed": 2**40,
        "stop": ["END"],
        "stop_token_ids": [9, 200],
        "ignore_eos": True,
        "max_tokens": 2,
        "min_tokens": 1,
        "logprobs": 3,
        "include_stop_str_in_output": True,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "logit_bias": {"50": 1.5},
        "allowed_token_ids": [40, 41, 50],
        "bad_words": ["dog"],
    }
    if since(node, "0.22.1"):
        params["routed_experts_prompt_start"] = 2
    got = (await asked(wire, engine, stream, params))["sampling_params"]
    assert {key: got[key] for key in params if key != "stop_token_ids"} == {
        key: value for key, value in params.items() if key != "stop_token_ids"
    }
    assert set(got["stop_token_ids"]) >= {9, 200}


@requirement("generate.engine.cache-salt")
@FULL_OR_STREAM
@pytest.mark.parametrize(
    "salt", [None, "a", "tenant-7", "é" * 64], ids=["null", "one", "word", "unicode"]
)
async def test_cache_salt_reaches_the_engine(wire, engine, stream, salt):
    """cache_salt reaches the engine as it is, so that tenants do not share a prefix cache."""
    assert (await asked(wire, engine, stream, cache_salt=salt))["cache_salt"] == salt


@requirement("generate.engine.cache-salt")
@pytest.mark.parametrize(
    "salt", ["", 5, ["a"], "a" * 1025], ids=["empty", "number", "list", "too-long"]
)
async def test_bad_cache_salt_is_refused(wire, salt):
    """An empty, over-long or non-string salt is a 400 that names the field, not an unsalted 200."""
    refused(
        await wire.generate(token_ids=PROMPT, sampling_params={"max_tokens": 2}, cache_salt=salt)
    )
    await still_answers(wire)


@requirement("generate.engine.priority")
@FULL_OR_STREAM
@pytest.mark.parametrize("priority", [0, 5, -5, 2**63 - 1, -(2**63)])
async def test_priority_reaches_the_engine(wire, engine, stream, priority):
    """priority reaches the engine as it is; a server without priority scheduling then
    ignores it.
    """
    assert (await asked(wire, engine, stream, priority=priority))["priority"] == priority


@requirement("generate.engine.session-id")
@FULL_OR_STREAM
@pytest.mark.parametrize("session", [None, "session-7"], ids=["absent", "given"])
async def test_session_id_reaches_the_engine(wire, engine, stream, session):
    """The X-Session-ID header reaches the engine; without it the engine gets none."""
    headers = {} if session is None else {"X-Session-ID": session}
    assert (await asked(wire, engine, stream, headers=headers))["session_id"] == session


@requirement("generate.engine.reasoning-fields")
@capability("reasoning-ended")  # render tells generate from the release on in which it reads them
@FULL_OR_STREAM
@pytest.mark.parametrize("ended", [None, True, False], ids=["null", "true", "false"])
async def test_reasoning_fields_reach_the_engine(wire, engine, stream, ended):
    """reasoning_ended and reasoning_parser_kwargs reach the engine unchanged, null too."""
    kwargs = (
        None
        if ended is None
        else {"chat_template_kwargs": {"enable_thinking": ended, "depth": [1, None]}}
    )
    call = await asked(wire, engine, stream, reasoning_ended=ended, reasoning_parser_kwargs=kwargs)
    assert (call["reasoning_ended"], call["reasoning_parser_kwargs"]) == (ended, kwargs)


@requirement("generate.engine.reasoning-kwargs-closed")
@pytest.mark.parametrize(
    "kwargs", [{"model_path": "/x"}, {"chat_template_kwargs": {}, "y": 1}], ids=["other", "more"]
)
async def test_unknown_reasoning_kwargs_are_refused(wire, kwargs):
    """A key of reasoning_parser_kwargs outside the known ones is a 400: they become constructor
    arguments.
    """
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params={"max_tokens": 2}, reasoning_parser_kwargs=kwargs
    )
    refused(answer, param="reasoning_parser_kwargs")
    await still_answers(wire)


@requirement("generate.kv-transfer.reaches-engine")
@FULL_OR_STREAM
@pytest.mark.parametrize("field", ["kv_transfer_params", "ec_transfer_params"])
async def test_transfer_params_reach_the_engine(wire, engine, stream, field):
    """The top-level object reaches the engine unchanged, nested values and nulls too; without it
    there is none.
    """
    call = await asked(wire, engine, stream, **{field: TRANSFER})
    assert call["extra_args"] == {field: TRANSFER}
    assert (await asked(wire, engine, stream, **{field: None}))["extra_args"] is None


@requirement("generate.kv-transfer.reaches-engine")
async def test_transfer_params_keep_other_extra_args(wire, engine):
    """Both transfer objects and the client's own extra_args all arrive."""
    call = await asked(
        wire,
        engine,
        params={"extra_args": {"mine": 1}},
        kv_transfer_params={"a": 1},
        ec_transfer_params={"b": 2},
    )
    expected = {"mine": 1, "kv_transfer_params": {"a": 1}, "ec_transfer_params": {"b": 2}}
    assert call["extra_args"] == expected


async def comes_back(wire, engine, given, mode):
    steps = [
        output(token_ids=[40]),
        output(
            token_ids=[41],
            finish_reason="length",
            **({} if given is None else {"kv_transfer_params": given}),
        ),
    ]
    name = await engine.script(steps)
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params={"max_tokens": 2}, script=name, output_mode=mode
    )
    assert answer.expect(200).json["kv_transfer_params"] == given
    assert answer.json["choices"][0]["token_ids"] == [40, 41]


EACH_GIVEN = pytest.mark.parametrize("given", [None, {}, TRANSFER], ids=["none", "empty", "nested"])


@requirement("generate.kv-transfer.comes-back")
@EACH_GIVEN
@pytest.mark.parametrize("mode", ["tokens", "text"])
async def test_engines_transfer_params_come_back(wire, engine, given, mode):
    """What the engine returns is in the answer, whole, and null when it returns none."""
    await comes_back(wire, engine, given, mode)


@requirement("generate.kv-transfer.comes-back")
@capability("output-mode.derender")
@EACH_GIVEN
async def test_engines_transfer_params_come_back_in_derender_mode(wire, engine, given):
    """What the engine returns is in a derender-mode answer too."""
    await comes_back(wire, engine, given, "derender")


@requirement("generate.kv-transfer.unencodable-refused")
@pytest.mark.parametrize("value", [2**64, -(2**63) - 1], ids=["above", "below"])
@pytest.mark.parametrize("field", ["kv_transfer_params", "ec_transfer_params"])
async def test_unencodable_transfer_params_are_refused(wire, engine, field, value):
    """An integer that the engine's transport cannot hold is a 400, and 2**63 reaches the engine."""
    refused(
        await wire.generate(
            token_ids=PROMPT, sampling_params={"max_tokens": 2}, **{field: {"x": value}}
        )
    )
    assert (await asked(wire, engine, **{field: {"x": 2**63}}))["extra_args"] == {
        field: {"x": 2**63}
    }
