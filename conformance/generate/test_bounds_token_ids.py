"""token_ids that no model can take are refused, and the node goes on answering."""

import pytest

from conformance.generate import GREEDY, PROMPT, refused, refused_in_stream, still_answers
from conformance.support import since
from fixtures.case import Node, requirement
from fixtures.models import tokenizer
from fixtures.wire import OMIT

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

VOCABULARY = tokenizer().get_vocab_size()
PARAMS = {**GREEDY, "max_tokens": 2}

NOT_A_LIST_OF_IDS = {
    "absent": OMIT,
    "null": None,
    "string": "abc",
    "number": 5,
    "object": {},
    "nested": [[1]],
    "word": ["a"],
    "fraction": [20, 1.5],
    "null-inside": [20, None],
    "empty": [],
    "negative": [20, -1],
}
NOT_IN_VOCABULARY = {
    "first-beyond": VOCABULARY,
    "million": 10**6,
    "int32": 2**31,
    "int64": 2**63,
    "huge": 10**30,
}


@requirement("generate.token-ids.malformed-refused")
@pytest.mark.parametrize("token_ids", NOT_A_LIST_OF_IDS.values(), ids=NOT_A_LIST_OF_IDS.keys())
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_malformed_is_refused(wire, token_ids, stream):
    """What is no list of non-negative integers is a 400 that names token_ids, streamed or not."""
    send = wire.generate_stream if stream else wire.generate
    answer = await send(token_ids=token_ids, sampling_params=PARAMS)
    refused(answer, param="token_ids")
    await still_answers(wire)


@requirement("generate.token-ids.out-of-vocabulary-refused")
@pytest.mark.parametrize("token", NOT_IN_VOCABULARY.values(), ids=NOT_IN_VOCABULARY.keys())
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_out_of_vocabulary_is_refused(wire, token, stream):
    """An id the model does not have is refused, wherever it stands, and no embedding is read for
    it.
    """
    send = wire.generate_stream if stream else wire.generate
    for prompt in ([token], [20, 21, token], [token, 20, 21]):
        answer = await send(token_ids=prompt, sampling_params=PARAMS)
        refused_in_stream(answer) if stream else refused(answer)
    await still_answers(wire)


@requirement("generate.token-ids.out-of-vocabulary-refused")
async def test_last_id_of_the_vocabulary_is_served(wire):
    """The largest id there is, and 0, are served: the bound is exact."""
    answer = await wire.generate(token_ids=[VOCABULARY - 1, 0], sampling_params=PARAMS)
    assert len(answer.expect(200).json["choices"][0]["token_ids"]) == 2
    refused(await wire.generate(token_ids=[VOCABULARY, 0], sampling_params=PARAMS))


@requirement("generate.token-ids.too-long-refused")
@pytest.mark.parametrize("excess", [0, 1, 10_000])
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_too_long_is_refused(wire, node, excess, stream):
    """A prompt that fills or passes the context is refused; one id shorter is served."""
    send = wire.generate_stream if stream else wire.generate
    prompt = [20] * (node.max_model_len + excess)
    answer = await send(token_ids=prompt, sampling_params={**GREEDY, "max_tokens": 1})
    refused_in_stream(answer) if stream else refused(answer)
    served = await wire.generate(token_ids=[20] * (node.max_model_len - 1), sampling_params=PARAMS)
    assert len(served.expect(200).json["choices"][0]["token_ids"]) == 1


@requirement("generate.token-ids.refusal-beside-running")
async def test_refusals_beside_a_running_stream(wire, node):
    """Bad requests sent while a stream runs are refused, and the stream says what it says alone."""
    # as long as the context, so that the refusals fall into the stream
    params = {**GREEDY, "max_tokens": node.max_model_len - len(PROMPT)}
    # the first id there is not; before 0.32 it was served (generate.token-ids.out-of-vocabulary-refused)
    beyond = VOCABULARY if since(node, "0.32.0") else 10**6
    alone = await wire.generate(token_ids=PROMPT, sampling_params={**params, "max_tokens": 60})
    got = []
    async with wire.open_stream(
        "/inference/v1/generate", token_ids=PROMPT, sampling_params=params
    ) as stream:
        got += (await anext(stream))["choices"][0]["token_ids"]
        for _ in range(3):
            refused(await wire.generate(token_ids=[beyond], sampling_params=params))
        async for chunk in stream:
            got += chunk["choices"][0]["token_ids"]
    assert got[:60] == alone.expect(200).json["choices"][0]["token_ids"]
    assert len(got) == params["max_tokens"]
