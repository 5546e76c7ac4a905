"""Render of an image chat says which images there are, where, and what their tensors are.

Catches a render node that gives hashes alone (0.19.1), lists that do not belong together, one hash
for two images, or a prompt whose ids are not those of the same chat elsewhere.
"""

import pytest

from conformance.multimodal import ON_VISION, item, rendered
from conformance.multimodal.images import BLUE, GREEN, IMAGE_TOKEN, RED, TOKENS, chat, url
from fixtures.case import requirement

pytestmark = ON_VISION


@requirement("multimodal.render.hashes")
async def test_equal_images_have_equal_hashes(wire):
    """One non-empty string per image, in their order; it depends on the image and on nothing else."""
    many = (await rendered(wire, chat(RED, GREEN, RED, BLUE)))["features"]["mm_hashes"]
    alone = [
        (await rendered(wire, chat(colour, text="other words ")))["features"]["mm_hashes"]["image"]
        for colour in (RED, GREEN, BLUE)
    ]
    assert [len(hashes) for hashes in alone] == [1, 1, 1]
    red, green, blue = (own for hashes in alone for own in hashes)
    assert many == {"image": [red, green, red, blue]}
    assert all(isinstance(own, str) and own for own in (red, green, blue))
    assert len({red, green, blue}) == 3


@requirement("multimodal.render.placeholders")
@pytest.mark.parametrize("size", [(16, 16), (8, 8), (24, 16), (32, 32)], ids="{0[0]}x{0[1]}".format)
async def test_a_range_covers_the_tokens_of_its_image(wire, size):
    """Each range is an offset and a positive length; it covers image tokens alone, and all of them.

    The length is a token for every 8 by 8 pixels.
    """
    content = [{"type": "image_url", "image_url": {"url": url(RED, *size)}}]
    content += [{"type": "text", "text": "and"}, *chat(GREEN)[0]["content"]]
    request = await rendered(wire, [{"role": "user", "content": content}])
    ranges = request["features"]["mm_placeholders"]["image"]
    assert [own.keys() for own in ranges] == [{"offset", "length"}] * 2
    assert [own["length"] for own in ranges] == [size[0] * size[1] // 64, TOKENS]
    covered = [own["offset"] + at for own in ranges for at in range(own["length"])]
    places = [at for at, token in enumerate(request["token_ids"]) if token == IMAGE_TOKEN]
    assert covered == places


@requirement("multimodal.render.kwargs-data")
@pytest.mark.parametrize("images", [(RED,), (RED, GREEN), (GREEN, RED, GREEN)], ids=len)
async def test_every_image_has_its_tensors(wire, images):
    """kwargs_data has one string per image, as hashes and ranges do, and equal images have equal
    ones.
    """
    features = (await rendered(wire, chat(*images)))["features"]
    lists = [features[name] for name in ("mm_hashes", "mm_placeholders", "kwargs_data")]
    assert [{modality: len(own) for modality, own in one.items()} for one in lists] == [
        {"image": len(images)}
    ] * 3
    items = features["kwargs_data"]["image"]
    assert all(isinstance(own, str) and own for own in items)
    hashes = features["mm_hashes"]["image"]
    colours = [str(item.decode(own)["pixel_values"]) for own in items]
    assert len({*zip(hashes, colours, images, strict=True)}) == len(set(images))


@requirement("multimodal.render.same-as-tokenize")
@pytest.mark.parametrize("images", [(RED,), (BLUE, GREEN)], ids=len)
async def test_tokenize_gives_the_same_ids(wire, images):
    """/tokenize of the same chat has the ids that render sends to generate, image tokens and all."""
    request = await rendered(wire, chat(*images))
    tokens = (await wire.post("/tokenize", messages=chat(*images))).expect(200).json
    assert (tokens["tokens"], tokens["count"]) == (request["token_ids"], len(request["token_ids"]))
    assert request["token_ids"].count(IMAGE_TOKEN) == TOKENS * len(images)


@requirement("multimodal.render.text-has-no-features")
async def test_a_text_prompt_has_no_features(wire):
    """features is present and null for a chat and a completion without an image, even if the text
    names the image's token.
    """
    plain = await rendered(wire, [{"role": "user", "content": "hello"}])
    prompts = ["hello", "hello <|IMAGE_PLACEHOLDER|>"]
    completions = (await wire.render_completions(prompt=prompts)).expect(200).json
    assert [request["features"] for request in (plain, *completions)] == [None] * 3


@requirement("multimodal.render.bad-image-refused")
@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,!"}},
        {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}},
    ],
    ids=["no-image", "no-base64", "film"],
)
async def test_what_is_no_image_is_refused(wire, part):
    """Bytes that are no image, and media that the model does not take, are a 400."""
    assert (await rendered(wire, chat(RED)))["features"]
    answer = await wire.render_chat(messages=[{"role": "user", "content": [part]}])
    assert answer.status == 400 and answer.json["error"]["message"].strip()
    assert (await rendered(wire, chat(RED)))["features"]
