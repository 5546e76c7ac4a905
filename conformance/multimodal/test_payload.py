"""mm_payload="none" leaves the tensors out of a rendered request, and nothing else."""

import pytest

from conformance.multimodal import ON_VISION, ids, rendered
from conformance.multimodal.images import BLUE, RED, chat
from fixtures.case import requirement

pytestmark = ON_VISION


@requirement("multimodal.payload.none-drops-tensors")
@pytest.mark.parametrize(
    "asked", [{"mm_payload": "none"}, {"return_mm_kwargs": False}], ids=["none", "older-name"]
)
async def test_no_payload_keeps_the_rest(wire, asked):
    """Ids, hashes and ranges are those of the full request; kwargs_data and mm_metadata are null."""
    full = await rendered(wire, chat(RED, BLUE))
    bare = await rendered(wire, chat(RED, BLUE), **asked)
    assert bare["token_ids"] == full["token_ids"]
    dropped = {"kwargs_data": None, "mm_metadata": None}
    assert bare["features"] == full["features"] | dropped != full["features"]


@requirement("multimodal.payload.none-drops-tensors")
@pytest.mark.parametrize("asked", [{"mm_payload": "all"}, {"mm_payload": 1}], ids=["all", "number"])
async def test_an_unknown_payload_is_refused(wire, asked):
    """A payload that nobody knows is a 400, not an answer with tensors."""
    assert (await rendered(wire, chat(RED)))["features"]
    answer = await wire.render_chat(messages=chat(RED), **asked)
    assert answer.status == 400 and "mm_payload" in answer.json["error"]["message"]


@requirement("multimodal.payload.tensors-by-default")
async def test_tensors_are_the_default(wire):
    """ "tensors", true and nothing asked for are the same, and a request for them is served."""
    plain = await rendered(wire, chat(RED))
    for asked in ({"mm_payload": "tensors"}, {"return_mm_kwargs": True}):
        request = await rendered(wire, chat(RED), **asked)
        assert len(request["features"]["kwargs_data"]["image"][0]) == len(
            plain["features"]["kwargs_data"]["image"][0]
        )
        assert ids(await wire.generate(request)) == ids(await wire.generate(plain))
