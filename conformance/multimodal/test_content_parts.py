"""content_parts: raw media beside token ids, which the generate node processes itself."""

import pytest

from conformance.generate import refused
from conformance.multimodal import GREEDY, ON_VISION, ids, rendered
from conformance.multimodal.images import BLUE, IMAGE_TOKEN, RED, chat, url
from fixtures.case import requirement

pytestmark = ON_VISION


def part(*colours) -> list[dict]:
    """One content part for each colour."""
    return [{"type": "image_url", "url": url(colour)} for colour in colours]


def unexpanded(request: dict) -> dict:
    """A rendered request as a client writes it: one image token per image, and no features."""
    places = [own["offset"] for own in request["features"]["mm_placeholders"]["image"]]
    tokens = [
        token for at, token in enumerate(request["token_ids"])
        if token != IMAGE_TOKEN or at in places
    ]  # fmt: skip
    return {"token_ids": tokens, "sampling_params": GREEDY, "return_token_ids": True}


@requirement("multimodal.content-parts.same-as-features")
@pytest.mark.parametrize("images", [(RED,), (BLUE,), (RED, BLUE)], ids=["red", "blue", "two"])
async def test_raw_media_are_as_rendered_features(wire, images):
    """The expanded prompt, the ranges and the answer are those of the rendered request."""
    request = await rendered(wire, chat(*images))
    answer = await wire.generate(unexpanded(request), content_parts=part(*images))
    want = await wire.generate({**request, "return_token_ids": True})
    names = ("prompt_token_ids", "mm_placeholders")
    told = {name: answer.expect(200).json[name] for name in names}
    assert told == {
        "prompt_token_ids": request["token_ids"],
        "mm_placeholders": request["features"]["mm_placeholders"],
    }
    assert ids(answer) == ids(want)


@requirement("multimodal.content-parts.unreadable-refused")
@pytest.mark.parametrize(
    "wrong",
    [
        [{"type": "image_url", "url": "data:image/png;base64,AAAA"}],
        [{"type": "image_url", "url": "data:image/png;base64,!"}],
        [{"type": "image_url", "url": "ftp://example.com/a.png"}],
        [{"type": "image_url"}],
        [{"type": "video_url", "url": "data:video/mp4;base64,AAAA"}],
        part(RED, RED),
    ],
    ids=[
        "no-image",
        "no-base64",
        "scheme",
        "no-url",
        "film",
        "more-than-tokens",
    ],
)
async def test_unusable_parts_are_refused(wire, wrong):
    """Media that cannot be read, that the model does not take, or more of them than the prompt has
    places for are a 400.
    """
    request = unexpanded(await rendered(wire, chat(RED)))
    refused(await wire.generate(request, content_parts=wrong))
    assert ids(await wire.generate(request, content_parts=part(RED)))


@requirement("generate.content-parts.unknown-type-refused")
@pytest.mark.parametrize("beside", [True, False], ids=["beside-an-image", "alone"])
async def test_an_unknown_type_is_refused(wire, beside):
    """A part of a type that nobody knows is a 400, also beside an image that is served."""
    request = unexpanded(await rendered(wire, chat(RED)))
    unknown = [{"type": "hologram_url", "url": "data:,x"}]
    refused(await wire.generate(request, content_parts=part(RED) * beside + unknown))
