"""A value that is neither true, false nor null is refused, not guessed at."""

import pytest

from conformance.override.forced import (
    CHAT_WITH_LOGPROBS,
    COMPLETION_WITH_LOGPROBS,
    PLAIN,
    generate,
    generate_chunks,
    steps,
    token_request,
)
from conformance.override.support import (
    KEY,
    chat_logprobs,
    either_flag,
    empty_bytes_alike,
)
from fixtures.case import capability, requirement

pytestmark = either_flag("scripted")

WRONG = {
    "word": "yes",
    "text-true": "true",
    "one": 1,
    "zero": 0,
    "half": 0.5,
    "list": [],
    "object": {},
}
# vLLM reads OpenAI booleans loosely ("yes" and 1 are true); these have no loose reading.
HOPELESS = {"word": "perhaps", "two": 2, "half": 0.5, "list": [], "object": {}}


def refused(answer):
    """A 4xx with the protocol's error body."""
    assert 400 <= answer.status < 500, (answer.status, answer.body[:300])
    assert answer.json["error"]["message"]


@requirement("override.parse-context.wrong-type-refused")
@capability("output-mode.derender")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize("wrong", WRONG)
async def test_a_wrong_type_in_parse_context_is_refused(wire, engine, node, wrong, stream):
    """render sends nothing but JSON booleans, so this is a broken body: a 4xx, no generation."""
    script = await engine.script(steps((PLAIN,), logprobs=5))
    body = token_request((PLAIN,), logprobs=5) | {"output_mode": "derender", "stream": stream}
    refused(await wire.generate(body, parse_context={KEY: WRONG[wrong]}, script=script))
    assert await engine.calls(script) == []


@requirement("override.render.wrong-type-refused")
@capability("render.chat")
@pytest.mark.parametrize("wrong", HOPELESS)
async def test_a_wrong_type_is_refused_by_render(wire, node, wrong):
    """Neither render route lets it through to the next node."""
    refused(await wire.render_chat(CHAT_WITH_LOGPROBS | {KEY: HOPELESS[wrong]}))
    refused(await wire.render_completions(COMPLETION_WITH_LOGPROBS | {KEY: HOPELESS[wrong]}))


@requirement("override.derender.wrong-type-refused")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("wrong", HOPELESS)
async def test_a_wrong_type_is_refused_by_derender(wire, engine, node, wrong):
    """Neither derender route takes it, full or streamed."""
    response = await generate(wire, engine, PLAIN)
    chunk, *_ = await generate_chunks(wire, engine, PLAIN)
    chat = CHAT_WITH_LOGPROBS | {KEY: HOPELESS[wrong]}
    completion = COMPLETION_WITH_LOGPROBS | {KEY: HOPELESS[wrong]}
    refused(await wire.derender_chat(generate_response=response, chat_request=chat))
    refused(await wire.derender_chat(stream=True, generate_chunk=chunk, chat_request=chat))
    refused(
        await wire.derender_completions(
            generate_responses=[response], completion_request=completion
        )
    )
    refused(
        await wire.derender_completions(
            stream=True, generate_chunk=chunk, completion_request=completion
        )
    )


LOOSE = {"yes": ("yes", True), "one": (1, True), "no": ("no", False), "zero": (0, False)}


@requirement("override.derender.loose-boolean")
@capability("derender.chat")
@pytest.mark.parametrize("loose", LOOSE)
async def test_a_loose_boolean_is_refused_or_read_as_the_coupled_route_reads_it(
    wire, engine, node, loose
):
    """A 4xx, or what /v1/chat/completions makes of it: never the server's flag instead."""
    sent, meaning = LOOSE[loose]
    response = await generate(wire, engine, PLAIN)
    answer = await wire.derender_chat(
        generate_response=response, chat_request=CHAT_WITH_LOGPROBS | {KEY: sent}
    )
    if answer.status == 200:
        logprobs = empty_bytes_alike(answer.json["choices"][0]["logprobs"])
        assert logprobs == chat_logprobs(PLAIN.content, as_ids=meaning)
    else:
        refused(answer)
