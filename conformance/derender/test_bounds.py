"""Payloads beyond the server's bounds are refused at the limit, not near it.

Catches a node that is off by one, checks only the first choice, bounds one route or one shape
and forgets the other, or refuses what is still within the bound.
"""

import pytest

from conformance.support import chunk, logprob_entry, response
from fixtures.case import Node, capability, requirement

SEQUENCES, ALTERNATIVES = 4, 5
pytestmark = pytest.mark.parametrize(
    "node",
    [
        Node(
            "none",
            "--max-logprobs",
            str(ALTERNATIVES),
            role="render",
            env={"VLLM_MAX_N_SEQUENCES": str(SEQUENCES)},
        )
    ],
    indirect=True,
)

CONTEXT = 512
ROUTES = ["chat", "completions"]


async def derendered(wire, route: str, body: dict, **fields):
    """The answer to a full derender of one generate response."""
    if route == "chat":
        return await wire.derender_chat(generate_response=body, **fields)
    fields = {name: [value] for name, value in fields.items()}
    return await wire.derender_completions(generate_responses=[body], **fields)


async def judge(wire, route: str, within: dict, beyond: dict) -> None:
    """200 at the limit, 400 one past it."""
    (await derendered(wire, route, within)).expect(200)
    assert (await derendered(wire, route, beyond)).expect(400).json["error"]["code"] == 400


@requirement("derender.bounds.token-ids")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_token_ids_up_to_the_context(wire, node, route):
    """As many ids as the context holds, in any choice."""
    limit = node.max_model_len
    assert limit == CONTEXT
    await judge(wire, route, response([30] * limit), response([30] * (limit + 1)))
    await judge(wire, route, response([30], [30] * limit), response([30], [30] * (limit + 1)))


@requirement("derender.bounds.token-ids")
@capability("derender.chat.stream")
async def test_streamed_ids_up_to_the_context(wire, node):
    """Chat chunks are bounded with the prompt's ids and what the state carries."""
    limit = node.max_model_len
    fields = {"stream": True, "prompt_token_ids": [30] * 100}
    within = await wire.derender_chat(generate_chunk=chunk([30] * (limit - 100)), **fields)
    beyond = await wire.derender_chat(generate_chunk=chunk([30] * (limit - 99)), **fields)
    assert (within.status, beyond.status) == (200, 400)


@requirement("derender.bounds.streamed-completions")
@capability("derender.completions.stream")
async def test_streamed_completions_ids_up_to_the_context(wire, node):
    """A completions chunk is bounded as a chat chunk is."""
    limit = node.max_model_len
    within = await wire.derender_completions(stream=True, generate_chunk=chunk([30] * limit))
    beyond = await wire.derender_completions(stream=True, generate_chunk=chunk([30] * (limit + 1)))
    assert (within.status, beyond.status) == (200, 400)


@requirement("derender.bounds.prompt-ids")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_prompt_ids_up_to_the_context(wire, node, route):
    """prompt_token_ids are bounded like the output."""
    limit = node.max_model_len
    within = await derendered(wire, route, response([30]), prompt_token_ids=[30] * limit)
    beyond = await derendered(wire, route, response([30]), prompt_token_ids=[30] * (limit + 1))
    assert (within.status, beyond.status) == (200, 400)


@requirement("derender.bounds.sequences")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_choices_up_to_the_sequence_limit(wire, route):
    """As many choices as the server's sequence limit."""
    await judge(wire, route, response(*[[30]] * SEQUENCES), response(*[[30]] * (SEQUENCES + 1)))


@requirement("derender.bounds.sequences")
@capability("derender.completions")
async def test_responses_up_to_the_sequence_limit(wire):
    """As many completions responses as the server's sequence limit."""
    within = await wire.derender_completions(generate_responses=[response([30])] * SEQUENCES)
    beyond = await wire.derender_completions(generate_responses=[response([30])] * (SEQUENCES + 1))
    assert (within.status, beyond.status) == (200, 400)


@requirement("derender.bounds.logprob-entries")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_logprob_entries_up_to_the_context(wire, node, route):
    """As many logprob entries as the context holds."""
    entry = logprob_entry(node, 30, [(30, -0.5)])
    bodies = [
        response({"token_ids": [30] * node.max_model_len, "logprobs": {"content": [entry] * count}})
        for count in (node.max_model_len, node.max_model_len + 1)
    ]
    await judge(wire, route, *bodies)


@requirement("derender.bounds.alternatives")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_alternatives_beyond_what_generate_can_send(wire, node, route):
    """max_logprobs alternatives are taken; two more no generate node sends (CASES 28)."""
    bodies = [
        response(
            {
                "token_ids": [30],
                "logprobs": {
                    "content": [
                        logprob_entry(node, 30, [(30 + at, -0.5 - at) for at in range(count)])
                    ]
                },
            }
        )
        for count in (ALTERNATIVES, ALTERNATIVES + 2)
    ]
    await judge(wire, route, *bodies)


@requirement("derender.bounds.prompt-logprobs")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_prompt_logprobs_up_to_the_context(wire, node, route):
    """prompt_logprobs are bounded like the prompt they belong to."""
    entry = {"30": {"logprob": -0.5, "rank": 1, "decoded_token": "8"}}
    bodies = [
        response([30], prompt_logprobs=[None, *[entry] * (count - 1)])
        for count in (node.max_model_len, node.max_model_len + 1)
    ]
    await judge(wire, route, *bodies)
