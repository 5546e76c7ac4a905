"""mm_placeholders is in an answer where return_token_ids asked for it, and only there."""

import pytest

from conformance.generate import PROMPT
from conformance.multimodal import GREEDY, ON_VISION, rendered
from conformance.multimodal.images import BLUE, RED, chat
from fixtures.case import requirement

pytestmark = ON_VISION

NAMES = {"prompt_token_ids", "mm_placeholders"}


@requirement("multimodal.placeholders.on-request")
@pytest.mark.parametrize("images", [(RED,), (RED, BLUE)], ids=len)
async def test_asked_for_they_are_those_of_the_request(wire, images):
    """A full answer has the request's ids and ranges; a stream has them in its first chunk alone."""
    request = {**await rendered(wire, chat(*images)), "return_token_ids": True}
    want = {
        "prompt_token_ids": request["token_ids"],
        "mm_placeholders": request["features"]["mm_placeholders"],
    }
    full = (await wire.generate(request)).expect(200).json
    # The usage chunk comes after, also where all ids are in one.
    usage = {"stream_options": {"include_usage": True}}
    first, *rest = (await wire.generate_stream(request, **usage)).expect(200).chunks
    assert [{name: own[name] for name in NAMES} for own in (full, first)] == [want, want]
    assert rest and not any(NAMES & own.keys() for own in rest)


@requirement("multimodal.placeholders.on-request")
@pytest.mark.parametrize("asked", [{}, {"return_token_ids": None}, {"return_token_ids": False}],
                         ids=["absent", "null", "false"])  # fmt: skip
async def test_unasked_they_are_null(wire, asked):
    """A full answer has both as null, and no chunk of a stream has either."""
    request = await rendered(wire, chat(RED))
    request.pop("return_token_ids", None)
    full = (await wire.generate(request, **asked)).expect(200).json
    chunks = (await wire.generate_stream(request, **asked)).expect(200).chunks
    assert {name: full[name] for name in NAMES} == dict.fromkeys(NAMES)
    assert chunks and not any(NAMES & own.keys() for own in chunks)


@requirement("multimodal.placeholders.null-for-text")
async def test_a_text_prompt_has_none(wire):
    """For a text prompt a full answer has null, and a stream's first chunk has the ids and no
    mm_placeholders at all.
    """
    sent = {"token_ids": PROMPT, "sampling_params": GREEDY, "return_token_ids": True}
    full = (await wire.generate(sent)).expect(200).json
    first, *_ = (await wire.generate_stream(sent)).expect(200).chunks
    assert (full["mm_placeholders"], full["prompt_token_ids"]) == (None, PROMPT)
    assert first["prompt_token_ids"] == PROMPT and "mm_placeholders" not in first
