"""Whatever valid conversation and sampling parameters a client sends, the split answer is the
coupled one.
"""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from conformance.parity.support import NO_SPECIALS, same_answer
from conformance.support import UNDISTURBED, split_chat, split_completions
from fixtures.case import capability, requirement
from fixtures.models import tokenizer
from fixtures.strategies import messages, sampling_fields, texts

pytestmark = UNDISTURBED

# One field is off: there is nothing to shrink.
UNSHRUNK = settings(phases=[Phase.explicit, Phase.generate], max_examples=10)
VOCABULARY = tokenizer().get_vocab_size()
# Special tokens are judged by their own rule, a limit of 16 by render.max-tokens.explicit-kept.
FIXED = {"max_tokens": 6, "seed": 1, "logit_bias": NO_SPECIALS}
VALUES = {name: values for name, (_, values) in sampling_fields(VOCABULARY, 6).items()}
# What the OpenAI routes have too, under the same name.
# fmt: off
FIELDS = [
    "allowed_token_ids", "bad_words", "frequency_penalty", "ignore_eos",
    "include_stop_str_in_output", "min_p", "min_tokens", "n", "presence_penalty",
    "repetition_penalty", "skip_special_tokens", "spaces_between_special_tokens",
    pytest.param("stop", marks=requirement("parity.stop-strings.same-end")),
    "stop_token_ids", "structured_outputs", "temperature", "top_k", "top_p",
]
# fmt: on


@requirement("parity.chat.same-answer", "derender.text.no-broken-character")
@capability("derender.chat", "coupled.chat")
@pytest.mark.parametrize("field", FIELDS)
@UNSHRUNK
@given(data=st.data())
async def test_any_chat_is_the_same(wire, field, data):
    """Any turns, any value of a sampling parameter, also cut within a character: the whole body."""
    request = {"messages": data.draw(messages()), **FIXED, field: data.draw(VALUES[field])}
    coupled = (await wire.chat(request)).expect(200).json
    same_answer((await split_chat(wire, request)).answer, coupled)


@requirement("parity.completions.same-answer")
@capability("derender.completions", "coupled.completions")
@pytest.mark.parametrize("field", FIELDS)
@UNSHRUNK
@given(data=st.data())
async def test_any_completion_is_the_same(wire, field, data):
    """Any text, any value of a sampling parameter: the whole body."""
    request = {"prompt": data.draw(texts(min_size=1)), **FIXED, field: data.draw(VALUES[field])}
    coupled = (await wire.completions(request)).expect(200).json
    same_answer((await split_completions(wire, request)).answer, coupled)
