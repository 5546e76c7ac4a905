"""The stream: frames, [DONE], the keys of a chunk, and that it says what the full answer says."""

import pytest

from conformance.generate import GREEDY, PROMPT, choices_of, deltas, joined
from conformance.support import UNDISTURBED, entry_id
from fixtures.case import requirement

pytestmark = UNDISTURBED

PARAMS = {**GREEDY, "max_tokens": 6}


@requirement("generate.stream.frames")
async def test_frames(wire):
    """An event stream of `data: PAYLOAD` frames, one blank line after each, the last one [DONE]."""
    answer = (await wire.generate_stream(token_ids=PROMPT, sampling_params=PARAMS)).expect(200)
    assert answer.headers["content-type"].split(";")[0] == "text/event-stream"
    frames = answer.body.decode().split("\n\n")
    assert frames[-2:] == ["data: [DONE]", ""]
    assert all(frame.startswith("data: {") and "\n" not in frame for frame in frames[:-2])
    assert len(frames) - 2 == len(answer.chunks) >= 1 and answer.done


@requirement("generate.stream.chunk-shape")
async def test_chunk_keys(wire):
    """A token chunk has exactly these keys, null ones too; prompt_token_ids, mm_placeholders,
    metrics are absent.
    """
    answer = await wire.generate_stream(token_ids=PROMPT, sampling_params=PARAMS)
    *earlier, last = answer.expect(200).chunks
    request_id = last["request_id"]
    for chunk in earlier:
        assert chunk == plain_chunk(request_id, chunk["choices"][0]["token_ids"], None, None)
    spans = [{"version": "default", "start": 0, "end": 6}]
    assert last == plain_chunk(request_id, last["choices"][0]["token_ids"], "length", spans)


def plain_chunk(request_id, token_ids, finish_reason, weight_versions):
    return {
        "request_id": request_id,
        "usage": None,
        "output_mode": "tokens",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "stop_reason": None,
                "token_ids": token_ids,
                "routed_experts": None,
                "sampling_mask": None,
                "weight_versions": weight_versions,
                "logprobs": None,
            }
        ],
    }


@requirement("generate.stream.equals-full")
@pytest.mark.parametrize(
    "params",
    [
        {**GREEDY, "max_tokens": 40},
        {"temperature": 1.0, "seed": 11, "max_tokens": 40, "ignore_eos": True},
        {
            "temperature": 1.5,
            "seed": 5,
            "top_p": 0.9,
            "top_k": 50,
            "max_tokens": 40,
            "ignore_eos": True,
        },
    ],
    ids=["greedy", "seeded", "seeded-top-p-top-k"],
)
async def test_stream_equals_full(wire, params):
    """The ids of a stream, put together, are the full answer's; so is the finish reason."""
    full = (
        (await wire.generate(token_ids=PROMPT, sampling_params=params))
        .expect(200)
        .json["choices"][0]
    )
    stream = await wire.generate_stream(token_ids=PROMPT, sampling_params=params)
    assert joined(stream) == {0: full["token_ids"]} and len(full["token_ids"]) == 40
    assert choices_of(stream)[-1]["finish_reason"] == full["finish_reason"]


@requirement("generate.stream.one-choice-with-tokens")
async def test_every_chunk_has_one_choice_with_new_ids(wire, node):
    """Each chunk of a running n=1 stream has one choice, with at least one new id; the last ends
    it.
    """
    answer = await wire.generate_stream(
        token_ids=PROMPT, sampling_params={**GREEDY, "max_tokens": 20}
    )
    assert [len(chunk["choices"]) for chunk in answer.expect(200).chunks] == [1] * len(
        answer.chunks
    )
    *earlier, last = deltas(node, answer)
    assert all(index == 0 and tokens and finish is None for index, tokens, finish, _ in earlier)
    assert last[1] and last[2:] == ("length", None)
    assert sum(len(tokens) for _, tokens, _, _ in deltas(node, answer)) == 20


@requirement("generate.stream.logprobs-match-ids")
@pytest.mark.parametrize("logprobs", [0, 1, 5])
async def test_each_chunk_has_a_logprob_for_each_of_its_ids(wire, logprobs):
    """A chunk's logprob entries are those of its own ids, and all together are the full
    answer's.
    """
    params = {**PARAMS, "logprobs": logprobs}
    full = (
        (await wire.generate(token_ids=PROMPT, sampling_params=params))
        .expect(200)
        .json["choices"][0]
    )
    stream = await wire.generate_stream(token_ids=PROMPT, sampling_params=params)
    entries = []
    for choice in choices_of(stream):
        content = choice["logprobs"]["content"]
        assert [entry_id(entry) for entry in content] == choice["token_ids"]
        entries += content
    assert entries == full["logprobs"]["content"] and len(entries) == 6


@requirement("generate.stream.off-is-json")
@pytest.mark.parametrize("options", [None, {"include_usage": True}], ids=["no-options", "options"])
async def test_stream_false_is_one_json_answer(wire, options):
    """stream=false is answered as one JSON body; stream_options beside it are ignored, or refused.

    Allowed with options: 200 (every vLLM release seen) or 400 (what the coupled routes do).
    """
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params=PARAMS, stream=False, stream_options=options
    )
    if options is None or answer.status != 400:
        assert answer.expect(200).headers["content-type"] == "application/json"
        assert len(answer.json["choices"][0]["token_ids"]) == 6
