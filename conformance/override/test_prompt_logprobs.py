"""prompt_logprobs are keyed by id already: no value renames what is in them."""

import pytest

from conformance.override.support import TRI_STATE, either_flag, with_value
from conformance.support import split_chat
from fixtures.case import capability, requirement

pytestmark = [either_flag("real"), pytest.mark.parametrize("value", TRI_STATE)]

CHAT = {
    "messages": [{"role": "user", "content": "hello \u20ac"}],
    "max_tokens": 2,
    "temperature": 0.0,
    "logprobs": True,
    "top_logprobs": 1,
    "prompt_logprobs": 1,
}


def own_texts(prompt_logprobs, token_ids):
    """The decoded token of each prompt id, from the second on."""
    pairs = zip(token_ids[1:], prompt_logprobs[1:], strict=True)
    return [entry[str(token_id)]["decoded_token"] for token_id, entry in pairs]


@requirement("override.prompt-logprobs.untouched")
@capability("derender.chat")
async def test_chat_derender_passes_prompt_logprobs_through(wire, node, value):
    """The generate answer's, key by key, with their decoded tokens."""
    split = await split_chat(wire, with_value(CHAT, TRI_STATE[value]))
    assert split.answer["prompt_logprobs"] == split.generated["prompt_logprobs"]
    texts = own_texts(split.answer["prompt_logprobs"], split.rendered["token_ids"])
    assert "\u20ac" in texts
    assert not any(text.startswith("token_id:") for text in texts)


@requirement("override.prompt-logprobs.untouched")
@capability("output-mode.derender")
async def test_derender_mode_has_the_prompt_logprobs_of_token_mode(wire, node, value):
    """The same request in either mode, the same prompt_logprobs."""
    rendered = (await wire.render_chat(with_value(CHAT, TRI_STATE[value]))).expect(200).json
    tokens = (await wire.generate(rendered)).expect(200).json["prompt_logprobs"]
    answer = (await wire.generate(rendered, output_mode="derender")).expect(200).json
    assert len(tokens) == len(rendered["token_ids"])
    assert answer["prompt_logprobs"] == tokens
