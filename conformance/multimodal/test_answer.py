"""A rendered image chat, posted to generate, is answered as the coupled chat is: the model sees.

Catches a generate node that drops features (0.19.1) and takes the image's tokens for text, one that
puts the image's embeddings elsewhere, and one that cannot read what another encoder wrote.
"""

import json

import pytest

from conformance.generate import joined
from conformance.multimodal import GREEDY, ON_VISION, ids, item, rendered, with_features
from conformance.multimodal.images import BLUE, GREEN, RED, chat, fields, grid
from fixtures.case import requirement

pytestmark = ON_VISION

CHATS = {
    "red": (RED,),
    "green": (GREEN,),
    "blue": (BLUE,),
    "two": (RED, BLUE),
    "swapped": (BLUE, RED),
}


@requirement("multimodal.generate.sees-the-image")
async def test_the_answer_is_the_coupled_one(wire):
    """For each of five chats whose texts are equal the ids are the coupled chat's, full and
    streamed, and no two of them have the same logprobs.
    """
    scores = set()
    for name, images in CHATS.items():
        request = await rendered(wire, chat(*images))
        scored = {**request, "sampling_params": {**request["sampling_params"], "logprobs": 1}}
        answer = await wire.generate(scored)
        streamed = joined(await wire.generate_stream(request))
        coupled = await wire.chat(messages=chat(*images), return_token_ids=True, **GREEDY)
        assert streamed[0] == ids(coupled) == ids(answer), name
        scores.add(str(answer.json["choices"][0]["logprobs"]))
    assert len(scores) == len(CHATS)


@requirement("multimodal.generate.sees-the-image")
async def test_features_survive_another_json_writer(wire):
    """A request read and written again with other white space, key order and escapes is the same."""
    request = await rendered(wire, chat(RED, GREEN))
    body = json.dumps({"model": "tiny", **request}, indent=2, sort_keys=True).replace("/", "\\/")
    coupled = await wire.chat(messages=chat(RED, GREEN), return_token_ids=True, **GREEDY)
    assert ids(await wire.generate(body.encode())) == ids(coupled)


@requirement("multimodal.generate.any-encoder")
@pytest.mark.parametrize("colour", [RED, BLUE], ids=["red", "blue"])
async def test_items_of_another_processor_are_read(wire, node, colour):
    """Items that the harness computed and encoded, under hashes of its own, give the same answer."""
    request = await rendered(wire, chat(colour))
    own = item.encode(fields(node, colour))
    assert own not in request["features"]["kwargs_data"]["image"]
    features = {
        "mm_hashes": {"image": [f"own-{request['request_id']}"]},
        "mm_placeholders": request["features"]["mm_placeholders"],
        "kwargs_data": {"image": [own]},
    }
    answer = await wire.generate(
        {**request, "features": features, "cache_salt": request["request_id"]}
    )
    assert ids(answer) == ids(await wire.generate(request))


@requirement("multimodal.generate.without-metadata")
@pytest.mark.parametrize("metadata", ["absent", "null", "present"])
async def test_metadata_is_not_needed_beside_tensors(wire, metadata):
    """With kwargs_data the answer is the same whether mm_metadata is there or not; both together
    need no ec_transfer_params.
    """
    request = await rendered(wire, chat(GREEN))
    features = {name: own for name, own in request["features"].items() if name != "mm_metadata"}
    if metadata == "null":
        features["mm_metadata"] = None
    if metadata == "present":
        features["mm_metadata"] = {"image": [item.encode({"image_grid_thw": grid()})]}
    assert request.get("ec_transfer_params") is None
    answer = await wire.generate(
        {**request, "features": features, "cache_salt": request["request_id"]}
    )
    assert ids(answer) == ids(await wire.generate(request))


@requirement("multimodal.generate.null-is-a-cached-item")
@pytest.mark.parametrize("slots", [(0,), (1,), (0, 1)], ids=["first", "second", "both"])
async def test_a_null_slot_stands_for_a_cached_item(wire, slots):
    """An image that the node has seen may be sent as null in its place; its neighbours keep theirs.

    A cache_salt of its own keeps the prefix cache from answering for it.
    """
    request = await rendered(wire, chat(RED, GREEN))
    want = ids(await wire.generate(request))
    items = request["features"]["kwargs_data"]["image"]
    hashes = request["features"]["mm_hashes"]["image"]
    left = [None if at in slots else own for at, own in enumerate(items)]
    # An image that is sent whole is a new one to the node.
    new = [
        own if at in slots else f"{own}-{request['request_id']}" for at, own in enumerate(hashes)
    ]
    bare = with_features(
        request, mm_hashes={"image": new}, kwargs_data={"image": left}, mm_metadata=None
    )
    salted = {**bare, "cache_salt": request["request_id"]}
    assert ids(await wire.generate(salted)) == want


@requirement("multimodal.generate.unseen-null-refused")
async def test_an_item_that_nobody_has_is_not_invented(wire):
    """Null for an image that the node never saw is an error, and the node goes on."""
    request = await rendered(wire, chat(RED))
    unseen = with_features(
        request, mm_hashes={"image": ["never-seen"]}, kwargs_data=None, mm_metadata=None
    )
    answer = await wire.generate({**unseen, "cache_salt": request["request_id"]})
    assert answer.status >= 400 and answer.json["error"]["message"]
    assert len(ids(await wire.generate(request))) == GREEDY["max_tokens"]
