"""Capabilities that no probe asks for: stock nodes show them as the catalogue says."""

from collections.abc import Awaitable, Callable

from fixtures.nodes.script import Engine, output, step
from fixtures.wire import OMIT, Exchange, Wire
from tests.live.releases import MESSAGES, PROMPT, wire_of

ONE = {"max_tokens": 1, "temperature": 0.0}
TWO_CHOICES = {"n": 2, "temperature": 1.0, "max_tokens": 2}
EXPERTS = {"shape": [21, 2, 2], "dtype": "uint8"}
GENERATED = {
    "request_id": "generate-tokens-1",
    "choices": [{"index": 0, "token_ids": [40], "finish_reason": "length"}],
}


class Asked:
    """A scripted node of one release, and what is asked of it."""

    def __init__(self, wire: Wire) -> None:
        self.wire, self.engine = wire, Engine(wire)

    async def generate(
        self, *steps: dict, stream: bool = False, headers: dict | None = None, **fields
    ) -> Exchange:
        call = self.wire.generate_stream if stream else self.wire.generate
        name = await self.engine.script(list(steps)) if steps else None
        body = {"token_ids": PROMPT, "sampling_params": ONE, **fields}
        return await call(body, script=name, headers=headers)

    async def choice(self, *steps: dict, stream: bool = False, **fields) -> dict:
        """The only choice, or the last chunk's."""
        answer = (await self.generate(*steps, stream=stream, **fields)).expect(200)
        bodies = answer.chunks if stream else [answer.json]
        return [choice for body in bodies for choice in body.get("choices", ())][-1]

    async def refuses(self, headers: dict | None = None, **fields) -> bool:
        # Releases before 0.27.1 drop the connection after some refusals, without saying so.
        once = {**(headers or {}), "Connection": "close"}
        return (await self.generate(headers=once, **fields)).status == 400


async def fills_the_context(node: Asked) -> bool:
    choice = await node.choice(sampling_params={"ignore_eos": True})
    return len(choice["token_ids"]) > 16


async def names_each_candidate(node: Asked) -> bool:
    content = (await node.choice(sampling_params={**ONE, "logprobs": 3}))["logprobs"]["content"]
    names = [entry.get("token_id", entry.get("token")) for entry in content[0]["top_logprobs"]]
    return len(set(names)) == len(names)


async def sends_experts(node: Asked) -> bool:
    end = output([40], finish_reason="length", routed_experts=EXPERTS)
    return bool((await node.choice(end)).get("routed_experts"))


async def streams_experts(node: Asked) -> bool:
    end = output([40], finish_reason="length", routed_experts=EXPERTS)
    return bool((await node.choice(end, stream=True)).get("routed_experts"))


async def sends_every_choice(node: Asked) -> bool:
    steps = [
        step(output([40]), output([40], index=1)),
        output([41], index=1, finish_reason="length"),
        output([41], finish_reason="length"),
    ]
    answer = await node.generate(*steps, sampling_params=TWO_CHOICES)
    return len(answer.expect(200).json["choices"]) == 2


async def tells_an_abort(node: Asked) -> bool:
    return (await node.choice(output([40]), output(finish_reason="abort"), stream=True))[
        "finish_reason"
    ] == "abort"


async def passes_transfer_params(node: Asked) -> bool:
    name = await node.engine.script([output([40], finish_reason="length")])
    body = {"token_ids": PROMPT, "sampling_params": ONE, "kv_transfer_params": {"a": 1}}
    (await node.wire.generate(body, script=name)).expect(200)
    call = await node.engine.wait_for(name, "generate")
    return (call["extra_args"] or {}).get("kv_transfer_params") == {"a": 1}


async def passes_the_session_id(node: Asked) -> bool:
    name = await node.engine.script([output([40], finish_reason="length")])
    headers = {"X-Session-ID": "a session"}
    body = {"token_ids": PROMPT, "sampling_params": ONE}
    (await node.wire.generate(body, script=name, headers=headers)).expect(200)
    return (await node.engine.wait_for(name, "generate")).get("session_id") == "a session"


async def derenders_without_model(node: Asked) -> bool:
    answer = await node.wire.derender_chat(generate_response=GENERATED, model=OMIT)
    return answer.status == 200


def rendered(key: str, **fields) -> Callable[[Asked], Awaitable[bool]]:
    """Whether render's answer has a value under `key`."""

    async def look(node: Asked) -> bool:
        answer = await node.wire.render_chat(messages=MESSAGES, **fields)
        return answer.expect(200).json.get(key) is not None

    return look


def refused(**fields) -> Callable[[Asked], Awaitable[bool]]:
    """Whether a body that is wrong to who reads the field is refused."""
    return lambda node: node.refuses(**fields)


def answered(key: str) -> Callable[[Asked], Awaitable[bool]]:
    async def look(node: Asked) -> bool:
        return key in (await node.generate()).expect(200).json

    return look


def in_choice(key: str) -> Callable[[Asked], Awaitable[bool]]:
    async def look(node: Asked) -> bool:
        return key in await node.choice()

    return look


async def names_the_engines_id(node: Asked) -> bool:
    return (await node.generate()).json["request_id"].startswith("generate-tokens-")


SHOWN = {
    "max-tokens-default": fills_the_context,
    "data-parallel-rank": refused(headers={"X-data-parallel-rank": "7"}),
    "top-logprobs-own-id": names_each_candidate,
    "empty-prompt-refused": refused(token_ids=[]),
    "routed-experts": sends_experts,
    "routed-experts-stream": streams_experts,
    "generate-usage": answered("usage"),
    "generate-request-id": names_the_engines_id,
    "token-offsets": rendered("token_offsets", return_token_offsets=True),
    "ec-transfer-params": refused(ec_transfer_params=7),
    "sampling-mask": in_choice("sampling_mask"),
    "content-parts": refused(content_parts=7),
    "session-id": passes_the_session_id,
    "derender-model-optional": derenders_without_model,
    "all-choices": sends_every_choice,
    "kv-transfer-params": passes_transfer_params,
    "stop-token-ids-checked": refused(sampling_params={**ONE, "stop_token_ids": [99999]}),
    "prompt-token-id-logprobs": answered("prompt_token_id_logprobs"),
    "weight-versions": in_choice("weight_versions"),
    "abort-terminal-event": tells_an_abort,
    "transfer-params-hoisted": rendered("kv_transfer_params", kv_transfer_params={"a": 1}),
}


async def test_a_stock_node_shows_what_the_catalogue_says(hold, release):
    node = Asked(wire_of(hold("scripted")))
    found = {name: await look(node) for name, look in SHOWN.items()}
    assert found == {name: release.can(name) for name in SHOWN}


async def test_the_gate_is_the_catalogues(hold, release):
    wire = wire_of(hold("scripted", "stock", "--no-enable-scale-out"))
    status = (await wire.generate(token_ids=PROMPT, sampling_params=ONE)).status
    closed = 403 if release.can("scale-out-forbidden") else 404
    assert status == (closed if release.can("enable-scale-out") else 200)


async def test_the_key_covers_what_the_catalogue_says(hold, release):
    wire = wire_of(hold("scripted", "stock", "--api-key", "secret"))
    status = (await wire.generate(token_ids=PROMPT, sampling_params=ONE)).status
    assert status == (401 if release.can("inference-authenticated") else 200)


async def test_a_node_without_a_tokenizer_serves_tokens(hold, release):
    wire = wire_of(hold("scripted", "stock", "--tokens-only"))
    (await wire.generate(token_ids=PROMPT, sampling_params=ONE)).expect(200)
    stops = await wire.generate(token_ids=PROMPT, sampling_params={**ONE, "stop": ["x"]})
    assert stops.status == (400 if release.can("tokens-only-stop-refused") else 200)
