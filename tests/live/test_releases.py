"""Every release of the catalogue runs: its nodes start, answer, and can what the catalogue says.

TOKENWIRE_RELEASES chooses the releases (see `tests.live.releases`).
"""

import pytest

from fixtures import capabilities
from tests.live.releases import MESSAGES, PROMPT, wire_of

GREEDY = {"max_tokens": 16, "temperature": 0.0, "ignore_eos": True}

NOT_ON_A_RENDER_NODE = (
    "generate",
    "output-mode",
    "abort",
    "coupled",
    "integer",
    "stop",
    "parse",
    "return",
    "parallel",
    "prompt",
)

# Greedy tokens of the releases run so far; every release must give the same.
greedy_tokens: dict[str, list[int]] = {}


@pytest.mark.parametrize("implementation", ["stock", "reference"])
@pytest.mark.parametrize("engine", ["scripted", "cpu", "none"])
async def test_a_node_starts_and_reports_its_release(hold, release, engine, implementation):
    node = hold(engine, implementation)
    answer = (await wire_of(node).get("/version")).expect(200)
    assert answer.json["version"].split("+")[0] == release.version


@pytest.mark.parametrize("implementation", ["stock", "reference"])
@pytest.mark.parametrize("engine", ["scripted", "cpu"])
async def test_generate_answers_the_same_full_and_streamed(hold, release, engine, implementation):
    wire = wire_of(hold(engine, implementation))
    full = (await wire.generate(token_ids=PROMPT, sampling_params=GREEDY)).expect(200)
    streamed = (await wire.generate_stream(token_ids=PROMPT, sampling_params=GREEDY)).expect(200)
    tokens = full.json["choices"][0]["token_ids"]
    choices = [choice for chunk in streamed.chunks for choice in chunk["choices"]]
    assert len(tokens) == GREEDY["max_tokens"]
    assert [token for choice in choices for token in choice["token_ids"]] == tokens
    assert streamed.done
    ends = full.json["choices"][0]["finish_reason"], choices[-1]["finish_reason"]
    assert ends == ("length", "length")
    greedy_tokens.setdefault(engine, tokens)
    assert tokens == greedy_tokens[engine]


@pytest.mark.parametrize("implementation", ["stock", "reference"])
@pytest.mark.parametrize("engine", ["cpu", "none"])
async def test_a_chat_is_rendered_and_derendered(hold, release, engine, implementation):
    wire = wire_of(hold(engine, implementation))
    rendered = (await wire.render_chat(messages=MESSAGES, max_tokens=8)).expect(200)
    assert rendered.json["token_ids"]
    generated = {
        "request_id": "generate-tokens-1",
        "choices": [
            {"index": 0, "token_ids": rendered.json["token_ids"], "finish_reason": "length"}
        ],
    }
    derendered = await wire.derender_chat(generate_response=generated)
    if not release.can("derender"):
        assert derendered.status == 404
        return
    assert "hello world" in derendered.expect(200).json["choices"][0]["message"]["content"]


@pytest.mark.parametrize("engine", ["cpu", "none"])
async def test_what_a_node_can_is_what_the_catalogue_says(hold, release, engine):
    wire = wire_of(hold(engine))
    found, expected = {}, {}
    for name, known_as in capabilities.CATALOGUED.items():
        found[name], _ = await capabilities.probe(name, wire)
        expected[name] = known_as == "" or (known_as is not None and release.can(known_as))
        if engine == "none" and name.startswith(NOT_ON_A_RENDER_NODE):
            expected[name] = False
    assert found == expected
