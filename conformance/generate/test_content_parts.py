"""content_parts on a model without media: refused, not dropped."""

import pytest

from conformance.generate import GREEDY, PROMPT, refused, still_answers
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

PARAMS = {**GREEDY, "max_tokens": 2}


@requirement("generate.content-parts.media-needs-a-media-model")
@pytest.mark.parametrize("kind", ["image_url", "audio_url", "video_url"])
async def test_media_for_a_text_model_is_refused(wire, kind):
    """An image, a sound or a film for a model that takes none is a 400; no parts at all are
    served.
    """
    parts = [{"type": kind, "url": "data:,x"}]
    refused(await wire.generate(token_ids=PROMPT, sampling_params=PARAMS, content_parts=parts))
    served = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS, content_parts=[])
    assert len(served.expect(200).json["choices"][0]["token_ids"]) == 2


@requirement("generate.content-parts.unknown-type-refused")
@pytest.mark.parametrize(
    "part",
    [{"type": "hologram_url", "url": "data:,x"}, {"url": "data:,x"}, {}],
    ids=["unknown", "untyped", "empty"],
)
async def test_unknown_type_is_refused(wire, part):
    """A part of a type that the server does not know is a 400, not an answer without it."""
    refused(await wire.generate(token_ids=PROMPT, sampling_params=PARAMS, content_parts=[part]))
    await still_answers(wire)


@requirement("generate.content-parts.excludes-features")
async def test_parts_and_features_exclude_each_other(wire):
    """content_parts beside features is a 400: the two say the same thing in two ways."""
    features = {"mm_hashes": {}, "mm_placeholders": {}}
    sent = {"token_ids": PROMPT, "sampling_params": PARAMS, "features": features}
    parts = [{"type": "image_url", "url": "data:,x"}]
    refused(await wire.generate(sent, content_parts=parts))
    served = await wire.generate(sent)
    assert len(served.expect(200).json["choices"][0]["token_ids"]) == 2
