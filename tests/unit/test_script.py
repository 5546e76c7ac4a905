"""The scripted engine's parts that need no vLLM: scripts, control routes, the small model."""

import math
from itertools import islice
from types import SimpleNamespace

import httpx
import pytest

from fixtures.nodes import script_store
from fixtures.nodes.script import Engine, fail, float32, hang, output, sleep, step, together, wait
from fixtures.nodes.script_store import Script, ScriptError, ScriptStore, plain
from fixtures.nodes.shim import SCRIPT_NAME, Shim
from fixtures.nodes.small_model import SmallModel

PROMPT = [20, 30, 40]


def exception_named(name: str, message: str) -> Exception:
    if name != "ValueError":
        raise ScriptError(f"no exception {name!r}")
    return ValueError(message)


@pytest.fixture
def store() -> ScriptStore:
    return ScriptStore(exception_named)


class InnerApp:
    """Answers with what it saw of the request."""

    routes = ("a route",)

    async def __call__(self, scope, receive, send):
        headers = dict(scope["headers"])
        body = f"{SCRIPT_NAME.get()} {b'x-engine-script' in headers}".encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})


class Transport:
    """What Engine needs, over an app in this process."""

    def __init__(self, app: Shim) -> None:
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://node")

    async def post(self, path: str, body: dict, headers: dict | None = None) -> SimpleNamespace:
        return self._answer(await self.client.post(path, json=body, headers=headers))

    async def get(self, path: str, headers: dict | None = None) -> SimpleNamespace:
        return self._answer(await self.client.get(path, headers=headers))

    @staticmethod
    def _answer(response: httpx.Response) -> SimpleNamespace:
        json = (
            response.json() if response.headers.get("content-type") == "application/json" else None
        )
        return SimpleNamespace(status=response.status_code, body=response.content, json=json)


@pytest.fixture
def node(store: ScriptStore) -> Transport:
    scripted = SimpleNamespace(scripts=store, describe=lambda: {"engine": "scripted"})
    return Transport(Shim(InnerApp(), scripted))


@pytest.mark.parametrize(
    "steps",
    [
        "outputs",
        [{}],
        [{"outputs": []}],
        [{"outputs": [{}], "wait": "gate"}],
        [{"outputs": [{"tokens": [1]}]}],
        [{"outputs": [{"text": "only raw scripts have text"}]}],
        [{"outputs": [{"token_ids": ["1"]}]}],
        [{"outputs": [{"token_ids": [True]}]}],
        [{"outputs": [{"index": -1}]}],
        [{"outputs": [{}], "together": False}],
        [{"wait": "gate", "together": True}],
        [{"outputs": [{"finish_reason": "tired"}]}],
        [{"outputs": [{"logprobs": {}}]}],
        [{"wait": 1}],
        [{"sleep": -1}],
        [{"sleep": float("nan")}],
        [{"hang": False}],
        [{"raise": "SystemExit"}],
        [{"sleep": 1, "message": "belongs to raise"}],
    ],
)
def test_a_script_that_is_not_well_formed_is_refused(store, steps):
    with pytest.raises(ScriptError):
        store.add({"name": "bad", "steps": steps})
    assert "bad" not in store


@pytest.mark.parametrize(
    "body", [{}, {"name": "x"}, {"name": "", "steps": []}, {"name": "x", "steps": [], "calls": []}]
)
def test_a_script_needs_a_name_and_either_steps_or_calls(store, body):
    with pytest.raises(ScriptError):
        store.add(body)


def test_a_name_is_used_once(store):
    store.add({"name": "one", "steps": []})
    with pytest.raises(ScriptError, match="before"):
        store.add({"name": "one", "steps": []})


def test_each_generate_of_calls_gets_its_own_steps_and_one_too_many_fails(store):
    script = store.add({"name": "two", "calls": [[hang()], None]})
    assert script.next_plan() == [hang()]
    assert script.next_plan() is None
    with pytest.raises(ScriptError, match="two"):
        script.next_plan()


def test_the_oldest_script_is_forgotten_beyond_the_bound(store, monkeypatch):
    monkeypatch.setattr(script_store, "MAX_SCRIPTS", 2)
    for name in "abc":
        store.add({"name": name, "steps": []})
    assert [name in store for name in "abc"] == [False, True, True]


def test_events_beyond_the_bound_are_counted():
    script = Script("many", [None], raw=False, per_call=False)
    for _ in range(script_store.MAX_EVENTS + 3):
        script.record("abort")
    seen = script.calls_since(0)
    assert seen["forgotten"] == 3
    assert seen["calls"][0]["number"] == 3
    assert seen["next"] == script_store.MAX_EVENTS + 3


def test_events_become_strict_json():
    values = {"a": float("-inf"), 1: {3, 2}, "t": (b"x", math.nan)}
    assert plain(values) == {"a": "-inf", "1": [2, 3], "t": ["b'x'", "nan"]}


async def test_a_script_is_posted_seen_and_forgotten(node, store):
    engine = Engine(node)
    name = await engine.script(
        [
            output([1], logprobs=[[[1, -math.inf, 1]]]),
            step(output(), output(index=1)),
            sleep(0),
            together(output(), output()),
        ]
    )
    plan = store.get(name).next_plan()
    assert plan[0] == {"outputs": [{"index": 0, "token_ids": [1], "logprobs": [[[1, "-inf", 1]]]}]}
    assert [values["index"] for values in plan[1]["outputs"]] == [0, 1]
    assert plan[3] == {"outputs": [{"index": 0, "token_ids": []}] * 2, "together": True}
    store.get(name).record("generate", how=None)
    assert [call["event"] for call in await engine.calls(name)] == ["generate"]
    assert await engine.calls(name, since=1) == []
    await engine.close()
    with pytest.raises(ValueError, match="never posted"):
        await engine.calls(name)


async def test_a_refused_script_says_why(node):
    with pytest.raises(ValueError, match="SystemExit"):
        await Engine(node).script([fail("SystemExit")])


async def test_a_gate_stays_open_and_belongs_to_its_script(node, store):
    engine = Engine(node)
    first, second = await engine.script([wait("gate")]), await engine.script([wait("gate")])
    await engine.release(first, "gate")
    assert store.get(first).gate("gate").is_set()
    assert not store.get(second).gate("gate").is_set()


async def test_wait_for_finds_an_event_and_names_what_it_saw_instead(node, store):
    engine = Engine(node)
    name = await engine.script()
    store.get(name).record("generate_end", how="CancelledError")
    assert (await engine.wait_for(name, "generate_end", how="CancelledError"))["number"] == 0
    with pytest.raises(TimeoutError, match="CancelledError"):
        await engine.wait_for(name, "generate_end", how="finished", timeout=0.01)


async def test_the_script_header_becomes_the_requests_script_and_goes_no_further(node):
    name = await Engine(node).script()
    assert (
        await node.get("/v1/models", {"X-Engine-Script": name})
    ).body == f"{name} False".encode()
    assert (await node.get("/v1/models")).body == b"None False"


async def test_an_unknown_script_fails_the_request(node):
    answer = await node.get("/v1/models", {"X-Engine-Script": "nobody"})
    assert answer.status == 500
    assert "nobody" in answer.json["error"]["message"]


@pytest.mark.parametrize("path", ["calls", "calls?script=a&since=x", "nothing"])
async def test_a_broken_control_request_is_refused(node, store, path):
    store.add({"name": "a", "steps": []})
    assert (await node.get(f"/_engine/{path}")).status in (400, 404)


async def test_a_real_engines_shim_passes_everything_but_control(store):
    shim = Shim(InnerApp(), None)
    node = Transport(shim)
    assert (await node.get("/_engine/config")).status == 404
    assert (await node.get("/x", {"X-Engine-Script": "kept"})).body == b"None True"
    assert shim.routes == InnerApp.routes


@pytest.fixture
def model() -> SmallModel:
    return SmallModel(range(7, 60), 64)


def generated(model: SmallModel, prompt: list[int], **wishes) -> list:
    return list(model.generate(model.read(prompt), **{"max_tokens": 20, **wishes}))


def test_a_distribution_is_a_permutation_with_descending_logprobs_that_sum_below_one(model):
    distribution = model.next_token(model.read(PROMPT))
    ids = [distribution.id_at(rank) for rank in range(1, 65)]
    assert sorted(ids) == list(range(64))
    assert [distribution.rank_of(token_id) for token_id in ids] == list(range(1, 65))
    logprobs = [distribution.logprob(rank) for rank in range(1, 65)]
    assert logprobs == sorted(logprobs, reverse=True)
    assert 0.9 < sum(map(math.exp, logprobs)) < 1


def test_a_continued_prompt_continues_the_answer(model):
    whole = [token.token_id for token in generated(model, PROMPT)]
    rest = [token.token_id for token in generated(model, PROMPT + whole[:8], max_tokens=12)]
    assert rest == whole[8:]


def test_generated_ids_are_printable_and_the_last_has_the_finish_reason(model):
    tokens = generated(model, PROMPT)
    assert {token.token_id for token in tokens} <= set(range(7, 60))
    assert [token.finish_reason for token in tokens] == [None] * 19 + ["length"]


def test_a_stop_id_ends_the_answer_only_after_min_tokens(model):
    stop = generated(model, PROMPT)[4].token_id
    early = generated(model, PROMPT, stop_token_ids=[stop])
    assert (early[-1].finish_reason, early[-1].stop_reason) == ("stop", stop)
    late = generated(model, PROMPT, stop_token_ids=[stop], min_tokens=15)
    assert len(late) >= 15
    assert stop not in [token.token_id for token in late[:15]]


def test_every_id_a_stop_id_still_ends(model):
    tokens = generated(model, PROMPT, stop_token_ids=range(64), min_tokens=3)
    assert len(tokens) == 4


def test_greedy_takes_the_likeliest_and_noise_changes_the_rest(model):
    greedy = generated(model, PROMPT, greedy=True, noise=3)
    assert all(token.distribution.rank_of(token.token_id) == 1 for token in greedy)
    first, second = (
        [t.token_id for t in generated(model, PROMPT, noise=noise)] for noise in (1, 2)
    )
    assert first != second


def test_top_k_bounds_the_rank(model):
    tokens = islice(generated(model, PROMPT, top_k=2, max_tokens=200), 200)
    assert {token.distribution.rank_of(token.token_id) for token in tokens} == {1, 2}


def test_float32_is_what_the_engine_sends():
    assert float32(-0.25) == -0.25
    assert float32(-0.1) == -0.10000000149011612
