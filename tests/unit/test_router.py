"""The router, its ledger and a rolling run's account, over nodes of a few lines that lie."""

import asyncio
import json
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest

from conformance.upgrade.ledger import Broken, ending, faults, told
from conformance.upgrade.rolling import Replacement, Run, ends, pair
from fixtures.releases import catalogue
from fixtures.router import DONE, ROLES, Answer, Router
from fixtures.settings import Settings

FULL = {"messages": []}
STREAM = {"messages": [], "stream": True}
TOKENS = [7, 8, 9]


class Node:
    """What the router and its ledger know of a node."""

    def __init__(self, name):
        self.name, self.url = name, f"http://{name}"
        self.spec = SimpleNamespace(release="1.0")


def nodes(*names):
    """Nodes of every role: `nodes("a")` are a.render, a.generate and a.derender."""
    return {role: [Node(f"{name}.{role}") for name in names] for role in ROLES}


def text(token_ids):
    return "".join(f"<{own}>" for own in token_ids)


def choice(token_ids, finish=None):
    return {"index": 0, "token_ids": token_ids, "finish_reason": finish}


def events(*chunks):
    return b"".join(
        b"data: " + (part if isinstance(part, bytes) else json.dumps(part).encode()) + b"\n\n"
        for part in chunks
    )


class Nodes(httpx.AsyncBaseTransport):
    """Honest nodes of all roles; what `lies` holds for (role, streamed) is done instead.

    A lie gets the request's body and returns a Response, or an awaitable of one.
    """

    def __init__(self, **lies):
        self.lies, self.calls = lies, []

    async def handle_async_request(self, request):
        role = request.url.host.split(".")[1]
        self.calls.append(request.url.host)
        body = json.loads(await request.aread())
        if role in self.lies:
            answer = self.lies[role](body)
            return await answer if asyncio.iscoroutine(answer) else answer
        if role == "render":
            own = {"token_ids": [1, 2], "request_id": request.headers["X-Request-Id"]}
            return httpx.Response(200, json=own | {"stream": body.get("stream", False)})
        if role == "generate":
            return generated(body)
        return derendered(body)


def generated(body, token_ids=TOKENS, tail=(b"[DONE]",), request_id=None):
    of = {"request_id": request_id or body["request_id"]}
    if not body["stream"]:
        return httpx.Response(200, json=of | {"choices": [choice(token_ids, "length")]})
    last = len(token_ids) - 1
    chunks = [
        of | {"choices": [choice([own], "length" if at == last else None)]}
        for at, own in enumerate(token_ids)
    ]
    return event_stream(events(*chunks, *tail))


def event_stream(content):
    return httpx.Response(200, content=content, headers={"content-type": "text/event-stream"})


def derendered(body, **changes):
    part = body["generate_chunk"] if body.get("stream") else body["generate_response"]
    [own] = part["choices"]
    message = {"content": text(own["token_ids"])} | changes
    answer = {
        "id": part["request_id"],
        "choices": [{"index": 0, "finish_reason": own["finish_reason"]}],
        "usage": {"prompt_tokens": 2, "completion_tokens": len(own["token_ids"])},
    }
    answer["choices"][0]["delta" if body.get("stream") else "message"] = message
    if not body.get("stream"):
        return httpx.Response(200, json=answer)
    state = (body["stream_state"] or 0) + 1
    return httpx.Response(200, json={"chunk": answer, "stream_state": state})


async def serve(request, *, seconds=5, number=0, router=None, **lies):
    """One answer of a router over nodes with these lies."""
    if router is None:
        router = Router(nodes("a"), client=httpx.AsyncClient(transport=Nodes(**lies)))
    answer = Answer(f"r-{number}", "kind", request)
    await router.serve(answer, seconds)
    return answer


async def unmixed(request):
    return {"1.0": {"kind": ending(await serve(request))}}


BOTH = pytest.mark.parametrize("request_", [FULL, STREAM], ids=["full", "stream"])


@BOTH
async def test_an_honest_answer_is_complete(request_):
    own = ending(await serve(request_))
    assert (own["token_ids"], own["content"], own["finish_reason"]) == (
        TOKENS,
        text(TOKENS),
        "length",
    )


@BOTH
@pytest.mark.parametrize("role", ROLES)
async def test_a_refusal_is_one_error_with_the_status_and_no_second_try(request_, role):
    fake = Nodes(**{role: lambda body: httpx.Response(400, json={"error": {"message": "no"}})})
    router = Router(nodes("a", "b"), client=httpx.AsyncClient(transport=fake))
    assert ending(await serve(request_, router=router)) == {"error": 400}
    assert sum(call.endswith(f".{role}") for call in fake.calls) == 1


def died(body):
    raise httpx.ReadError("connection reset")


class Cut(httpx.AsyncByteStream):
    """A stream that breaks off after its first event."""

    async def __aiter__(self):
        yield events({"request_id": "r", "choices": [choice([7])]})
        raise httpx.ReadError("connection reset")


@BOTH
@pytest.mark.parametrize("role", ROLES)
async def test_a_node_that_dies_is_one_error(request_, role):
    assert ending(await serve(request_, **{role: died})) == {"error": 502}


@pytest.mark.parametrize(
    ("lie", "status"),
    [
        (lambda body: generated(body, tail=()), 502),
        (lambda body: httpx.Response(200, stream=Cut(), headers=event_stream(b"").headers), 502),
        (
            lambda body: event_stream(events({"error": {"message": "x", "code": 500}}, b"[DONE]")),
            500,
        ),
    ],
    ids=["without-done", "cut", "error-event"],
)
async def test_half_a_stream_is_an_error(lie, status):
    answer = await serve(STREAM, generate=lie)
    assert ending(answer) == {"error": status}
    assert answer.events[-1] == DONE


LIES = {
    "wrong-tokens": {"generate": lambda body: generated(body, [7, 8, 10])},
    "lost-token": {"generate": lambda body: generated(body, [7, 8])},
    "repeated-token": {"generate": lambda body: generated(body, [7, 7, 8, 9])},
    "wrong-text": {"derender": lambda body: derendered(body, content="x")},
    "lost-reasoning": {"derender": lambda body: derendered(body, reasoning="x")},
    "no-json": {"derender": lambda body: httpx.Response(200, content=b"{")},
    "no-state": {"derender": lambda body: httpx.Response(200, json={"id": "r"})},
    "refused": {"render": lambda body: httpx.Response(500, json={"error": {}})},
}


@BOTH
@pytest.mark.parametrize("lie", LIES)
async def test_a_lie_is_found(request_, lie):
    answer = await serve(request_, **LIES[lie])
    assert answer in faults([answer], await unmixed(request_))


@BOTH
async def test_the_honest_answer_has_no_fault(request_):
    assert faults([await serve(request_)], await unmixed(request_)) == {}


async def test_a_finish_reason_that_comes_twice_is_found():
    def twice(body):
        body["generate_chunk"]["choices"][0]["finish_reason"] = "length"
        return derendered(body)

    with pytest.raises(Broken, match="3 finish reasons"):
        ending(await serve(STREAM, derender=twice))


@BOTH
async def test_a_request_that_hangs_is_found(request_):
    async def hang(body):
        await asyncio.sleep(60)

    answer = await serve(request_, seconds=0.05, generate=hang)
    with pytest.raises(Broken, match=r"no ending within 0\.05 s"):
        ending(answer)


@BOTH
async def test_one_answer_for_two_requests_is_found(request_):
    lie = {"generate": lambda body: generated(body, request_id="same")}
    answers = [await serve(request_, number=number, **lie) for number in range(2)]
    assert list(faults(answers, await unmixed(request_))) == answers[1:]


def full(**changes):
    own = {"index": 0, "message": {"content": "x"}, "finish_reason": "stop"} | changes
    return {"id": "r", "choices": [own], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


def chunk(finish=None):
    own = {"index": 0, "delta": {"content": "x"}, "finish_reason": finish}
    return {"id": "r", "choices": [own], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


ERROR = {"error": {"message": "no", "code": 500}}
NOT_ONE_ENDING = {
    "lost": (FULL, []),
    "doubled": (FULL, [full(), full()]),
    "answer-and-error": (FULL, [full(), ERROR]),
    "unfinished": (FULL, [full(finish_reason=None)]),
    "another-choice": (FULL, [full(index=1)]),
    "lost-stream": (STREAM, []),
    "without-done": (STREAM, [chunk("stop")]),
    "done-alone": (STREAM, [DONE]),
    "truncated": (STREAM, [chunk(), DONE]),
    "doubled-done": (STREAM, [chunk("stop"), DONE, DONE]),
    "doubled-stream": (STREAM, [chunk("stop"), DONE, chunk("stop"), DONE]),
    "doubled-finish": (STREAM, [chunk("stop"), chunk("stop"), DONE]),
    "after-the-finish": (STREAM, [chunk("stop"), chunk(), DONE]),
    "after-the-error": (STREAM, [ERROR, chunk("stop"), DONE]),
    "two-errors": (STREAM, [ERROR, ERROR, DONE]),
    "error-without-done": (STREAM, [ERROR]),
    "error-without-status": (STREAM, [{"error": {"message": "no"}}, DONE]),
    "two-ids": (STREAM, [chunk(), chunk("stop") | {"id": "s"}, DONE]),
}


@pytest.mark.parametrize("name", NOT_ONE_ENDING)
def test_anything_but_one_ending_is_broken(name):
    request, got = NOT_ONE_ENDING[name]
    with pytest.raises(Broken):
        ending(Answer("r", "kind", request, events=got))


@pytest.mark.parametrize(
    ("request_", "got"),
    [(FULL, [full()]), (STREAM, [chunk(), chunk("stop"), DONE]), (STREAM, [chunk(), ERROR, DONE])],
)
def test_one_ending_is_taken(request_, got):
    assert ending(Answer("r", "kind", request_, events=got))


async def test_an_ending_of_a_release_without_a_part_is_a_fault():
    answer = await serve(FULL)
    own = ending(answer)
    other = {"1.0": {"kind": {"error": 501}}, "2.0": {"kind": own}}
    assert "answered" in faults([answer], other)[answer]
    assert faults([answer], {"1.0": {"kind": own}}) == {}


async def test_an_error_is_allowed_where_it_is_expected_and_told_elsewhere():
    answer = await serve(FULL, derender=died)
    expected = await unmixed(FULL)
    assert faults([answer], expected, lambda own, status: status == 502) == {}
    [said] = told(faults([answer], expected))
    assert all(word in said for word in ("r-0", "a.render", "a.generate", "a.derender", "502"))


@pytest.mark.parametrize("spread", [False, True])
async def test_a_streams_chunks_stay_on_one_derender_node_or_go_round(spread):
    fake = Nodes()
    client = httpx.AsyncClient(transport=fake)
    answer = await serve(STREAM, router=Router(nodes("a", "b"), spread=spread, client=client))
    assert ending(answer)["content"] == text(TOKENS)
    used = {call for call in fake.calls if call.endswith("derender")}
    assert len(used) == (2 if spread else 1)


async def test_a_replaced_node_ends_what_it_has_and_gets_nothing_new():
    gate = asyncio.Event()

    async def slow(body):
        await gate.wait()
        return generated(body)

    router = Router(nodes("a"), client=httpx.AsyncClient(transport=Nodes(generate=slow)))
    [old], new = router.nodes["generate"], Node("b.generate")
    first = asyncio.create_task(serve(FULL, router=router))
    while not router.open[old]:
        await asyncio.sleep(0)
    router.replace("generate", old, new)
    with pytest.raises(TimeoutError):
        await router.drained(old, 0.02)
    second = asyncio.create_task(serve(FULL, router=router, number=1))
    gate.set()
    await router.drained(old, 5)
    assert [dict((await own).nodes)["generate"] for own in (first, second)] == [old, new]
    assert router.open[old] == router.open[new] == 0


async def test_a_run_without_traffic_at_a_replacement_shows_nothing():
    [old], new = nodes("a")["generate"], Node("b.generate")
    answer = Answer("r-0", "kind", FULL, nodes=[("generate", old)], ended=True)
    run = Run([answer], [Replacement(old, new, {answer}, in_flight=0, open=0)])
    assert run.gaps() == [
        "only 1 requests ended",
        "nothing was in flight when a.generate was replaced",
        "b.generate got no request",
    ]


def test_an_error_that_is_the_unmixed_answer_too_shows_nothing():
    run = Run(
        unmixed={"0.32.0": {"a": {"error": 502}, "b": {"error": 501}, "c": {"token_ids": []}}}
    )
    assert run.gaps()[1:] == ["a ends with 502 unmixed on 0.32.0"]


def test_the_pair_is_the_newest_two_or_the_ends_of_what_is_named():
    known = tuple(release.version for release in catalogue.load().releases)
    everything = Settings(known, "stock", "cpu", "")
    named = replace(everything, releases=("0.30.0", "0.31.0", "0.32.0"))
    assert pair(everything, "up") == known[-2:]
    assert pair(everything, "down") == known[:-3:-1]
    assert pair(named, "up") == ("0.30.0", "0.32.0")
    assert pair(replace(named, releases=("0.20.2", "0.30.0", "0.32.0")), "up") == (
        "0.30.0",
        "0.32.0",
    )
    assert len(set(ends(replace(named, releases=("0.32.0",))))) == 1
    assert len(set(ends(replace(named, releases=("0.20.2", "0.26.0"))))) == 1
