"""The rule as a property: any value, flag, choices, chunks and logprobs, over random tokens."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from conformance.override.forced import (
    CHAT,
    COMPLETION,
    Choice,
    derender_chunks,
    generate,
    generate_chunks,
    steps,
    token_request,
)
from conformance.override.support import (
    TRI_STATE,
    by_placeholder,
    chat_logprobs,
    completion_logprobs,
    either_flag,
    empty_bytes_alike,
    row,
    server_flag,
    with_value,
)
from conformance.support import without
from fixtures.case import capability, requirement
from fixtures.models import tokenizer

pytestmark = either_flag("scripted")

TOKEN = st.integers(0, tokenizer().get_vocab_size() - 1)


@dataclass(frozen=True)
class Request:
    """A drawn request: the value, how many logprobs, and the choices the engine will give."""

    value: object
    logprobs: int | None
    choices: tuple[Choice, ...]

    @property
    def asked(self) -> dict:
        """How a chat request asks for these logprobs."""
        return {} if self.logprobs is None else {"logprobs": True, "top_logprobs": self.logprobs}


@st.composite
def rows(draw, sampled: int, k: int) -> list[list]:
    """A position's candidates: the sampled id is among the k best, or is one more after them."""
    among = k > 0 and draw(st.booleans())
    others = st.lists(
        TOKEN.filter(lambda token_id: token_id != sampled),
        min_size=k - among,
        max_size=k - among,
        unique=True,
    )
    return row(sampled, draw(others), rank=draw(st.integers(1, k)) if among else k + 1)


@st.composite
def requests(draw) -> Request:
    """Any value with None, 0, 1 or 5 logprobs over one to three choices of one to four chunks."""
    logprobs = draw(st.sampled_from([None, 0, 1, 5]))
    choices = []
    for _ in range(draw(st.integers(1, 3))):
        widths = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
        token_ids = draw(st.lists(TOKEN, min_size=sum(widths), max_size=sum(widths)))
        candidates = [draw(rows(token_id, logprobs or 0)) for token_id in token_ids]
        choices.append(Choice(token_ids, candidates, widths))
    return Request(draw(st.sampled_from([*TRI_STATE.values()])), logprobs, tuple(choices))


def allowed(content: list[dict], as_ids: bool, k: int | None, history: list[int]) -> list:
    """The chat logprobs the rule allows; with k = 0 the sampled entry may stay (CASES 28)."""
    if k is None:
        return [None]
    return [chat_logprobs(content, as_ids, top, history) for top in ([k] if k else [0, 1])]


@requirement("override.derender-chat.any-request")
@capability("derender.chat")
@given(drawn=requests())
async def test_chat_derender_of_any_answer(wire, engine, node, drawn):
    """Each choice's logprobs are exactly what its ids spell under the rule."""
    as_ids = by_placeholder(drawn.value, server_flag(node))
    response = await generate(wire, engine, *drawn.choices, logprobs=drawn.logprobs)
    answer = await wire.derender_chat(
        generate_response=response, chat_request=with_value(CHAT | drawn.asked, drawn.value)
    )
    answers = answer.expect(200).json["choices"]
    assert len(answers) == len(drawn.choices)
    for choice, told in zip(answers, drawn.choices, strict=True):
        assert empty_bytes_alike(choice["logprobs"]) in allowed(
            told.content, as_ids, drawn.logprobs, []
        )


@requirement("override.derender-chat.stream.any-request")
@capability("derender.chat.stream.logprobs")
@given(drawn=requests())
async def test_streamed_chat_derender_of_any_answer(wire, engine, node, drawn):
    """Each chunk's logprobs are what its ids spell under the rule, after the ids before it."""
    as_ids = by_placeholder(drawn.value, server_flag(node))
    chunks = await generate_chunks(wire, engine, *drawn.choices, logprobs=drawn.logprobs)
    request = with_value(CHAT | drawn.asked, drawn.value)
    answers = await derender_chunks(wire.derender_chat, chunks, chat_request=request)
    for index, told in enumerate(drawn.choices):
        each = [a["choices"][0] for a in answers if a["choices"][0]["index"] == index]
        for choice, (history, _, content) in zip(each, told.chunks(), strict=True):
            assert empty_bytes_alike(choice["logprobs"]) in allowed(
                content, as_ids, drawn.logprobs, history
            )


@requirement("override.derender-completions.any-request")
@capability("derender.completions.stream.logprobs")
@given(drawn=requests(), stream=st.booleans())
async def test_completions_derender_of_any_answer(wire, engine, node, drawn, stream):
    """Names, values, keys and offsets are exactly what the ids spell under the rule."""
    as_ids = by_placeholder(drawn.value, server_flag(node))
    request = with_value(COMPLETION | {"logprobs": drawn.logprobs}, drawn.value)
    if not stream:
        response = await generate(wire, engine, *drawn.choices, logprobs=drawn.logprobs)
        answer = await wire.derender_completions(
            generate_responses=[response], completion_request=request
        )
        pairs = zip(response["choices"], answer.expect(200).json["choices"], strict=True)
    else:
        chunks = await generate_chunks(wire, engine, *drawn.choices, logprobs=drawn.logprobs)
        answers = await derender_chunks(
            wire.derender_completions, chunks, completion_request=request
        )
        pairs = [(c["choices"][0], a["choices"][0]) for c, a in zip(chunks, answers, strict=True)]
    histories = {index: ([], 0) for index in range(len(drawn.choices))}
    for source, choice in pairs:
        if drawn.logprobs is None:
            assert choice["logprobs"] is None
            continue
        history, offset = histories[source["index"]]
        expected = completion_logprobs(source["logprobs"]["content"], as_ids, offset, history)
        # Where text streams begin a chunk is a rule of its own.
        elsewhere = ["text_offset"] if stream and not as_ids else []
        assert without(choice["logprobs"], *elsewhere) == without(expected, *elsewhere)
        offset += sum(len(token) for token in expected["tokens"])
        histories[source["index"]] = [*history, *source["token_ids"]], offset


@requirement("override.derender-mode.any-request")
@capability("output-mode.derender")
@given(drawn=requests())
async def test_derender_mode_of_any_answer(wire, engine, node, drawn):
    """Each choice's logprobs in derender mode are exactly what its ids spell under the rule."""
    as_ids = by_placeholder(drawn.value, server_flag(node))
    rendered = (await wire.render_chat(with_value(CHAT | drawn.asked, drawn.value))).expect(200)
    body = rendered.json | {"output_mode": "derender"}
    body["sampling_params"] |= token_request(drawn.choices, drawn.logprobs)["sampling_params"]
    script = await engine.script(steps(drawn.choices, drawn.logprobs))
    answers = (await wire.generate(body, script=script)).expect(200).json["choices"]
    assert len(answers) == len(drawn.choices)
    for choice, told in zip(answers, drawn.choices, strict=True):
        assert choice["token_ids"] == told.token_ids
        assert empty_bytes_alike(choice["logprobs"]) in allowed(
            told.content, as_ids, drawn.logprobs, []
        )


@requirement("override.derender-mode.stream.any-request")
@capability("output-mode.derender.stream")
@given(drawn=requests())
async def test_streamed_derender_mode_of_any_answer(wire, engine, node, drawn):
    """Each chunk's logprobs in derender mode are exactly what its ids spell under the rule."""
    as_ids = by_placeholder(drawn.value, server_flag(node))
    rendered = (await wire.render_chat(with_value(CHAT | drawn.asked, drawn.value))).expect(200)
    body = rendered.json | {"output_mode": "derender"}
    body["sampling_params"] |= token_request(drawn.choices, drawn.logprobs)["sampling_params"]
    script = await engine.script(steps(drawn.choices, drawn.logprobs))
    chunks = (await wire.generate_stream(body, script=script)).expect(200).chunks
    for index, told in enumerate(drawn.choices):
        each = [c for chunk in chunks for c in chunk["choices"] if c["index"] == index]
        for choice, (history, token_ids, content) in zip(each, told.chunks(), strict=True):
            assert choice["token_ids"] == token_ids
            assert empty_bytes_alike(choice["logprobs"]) in allowed(
                content, as_ids, drawn.logprobs, history
            )
