"""A prompt without media goes past everything that is there for media."""

import pytest

from conformance.generate import GREEDY, PROMPT, refused, still_answers
from conformance.multimodal import ALONE, VISION, item, rendered
from conformance.multimodal.images import RED, chat, fields
from fixtures.case import Node, requirement


async def queries(wire) -> float:
    """How often the node's multimodal cache was asked."""
    (sample,) = (await wire.metrics())["vllm:mm_cache_queries_total"]
    return sample.value


@requirement("multimodal.text.past-the-cache")
@pytest.mark.parametrize("node", [pytest.param(ALONE, id="vision")], indirect=True)
async def test_text_asks_no_cache(wire):
    """Token prompts of text leave the multimodal cache unasked, as render does; an image in a chat
    asks it once.
    """
    await rendered(wire, chat(RED))
    before = await queries(wire)
    for stream in (False, True):
        body = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 2}}
        assert (await wire.generate(body, stream=stream)).status == 200
    text = await queries(wire)
    (await wire.chat(messages=chat(RED), max_tokens=2)).expect(200)
    assert (text - before, await queries(wire) - text) == (0, 1)


@requirement("multimodal.text.features-need-a-media-model")
@pytest.mark.parametrize("tensors", [True, False], ids=["tensors", "hash-alone"])
@pytest.mark.parametrize("node", [Node("real")], indirect=True)
async def test_features_for_a_text_model_are_refused(wire, node, tensors):
    """Features that name an image are a 400 on a model that takes none."""
    features = {
        "mm_hashes": {"image": ["a"]},
        "mm_placeholders": {"image": [{"offset": 0, "length": 4}]},
        "kwargs_data": {"image": [item.encode(fields(node, RED))]} if tensors else None,
    }
    sent = {"token_ids": [20, 21, 22, 23, 24], "sampling_params": GREEDY}
    refused(await wire.generate(sent, features=features))
    await still_answers(wire)


@requirement("multimodal.text.empty-features-are-none")
@pytest.mark.parametrize("node", [Node("real"), pytest.param(VISION, id="vision")], indirect=True)
@pytest.mark.parametrize("lists", [{}, {"image": []}], ids=["no-modality", "no-item"])
async def test_empty_features_are_none(wire, lists):
    """Features without an item are served as a prompt without features, with the same ids."""
    sent = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 8}}
    plain = (await wire.generate(sent)).expect(200).json["choices"][0]["token_ids"]
    empty = await wire.generate(sent, features={"mm_hashes": lists, "mm_placeholders": lists})
    assert empty.expect(200).json["choices"][0]["token_ids"] == plain


@requirement("multimodal.render.text-has-no-features")
@pytest.mark.parametrize("node", [Node("real")], indirect=True)
async def test_render_of_a_text_model_has_no_features(wire):
    """On a text model features is there and null, and an image in the chat is a 400."""
    assert (await rendered(wire, [{"role": "user", "content": "hello"}]))["features"] is None
    refused(await wire.render_chat(messages=chat(RED)))
