"""What the strategies make is valid, reaches the edges it names, and is the same on every run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, find, given, settings

from fixtures import strategies
from fixtures.strategies import ABSENT

VOCABULARY = 330
ROOT = Path(__file__).parents[2]

EXAMPLES = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    # How busy the machine is says nothing about a strategy.
    suppress_health_check=[HealthCheck.too_slow],
)


@EXAMPLES
@given(strategies.token_ids(VOCABULARY))
def test_a_token_id_is_inside_the_vocabulary(token_id):
    assert 0 <= token_id < VOCABULARY


@pytest.mark.parametrize("edge", [0, VOCABULARY - 1])
def test_the_edges_of_the_vocabulary_come_up_soon(edge):
    few = settings(max_examples=25, database=None, derandomize=True)
    find(strategies.token_ids(VOCABULARY), lambda token_id: token_id == edge, settings=few)


@EXAMPLES
@given(strategies.token_ids(1))
def test_a_vocabulary_of_one_has_one_token(token_id):
    assert token_id == 0


@EXAMPLES
@given(strategies.texts())
def test_a_text_is_valid_utf8(text):
    assert text.encode().decode() == text


def off(params: dict) -> dict:
    fields = strategies.sampling_fields(VOCABULARY)
    return {name: value for name, value in params.items() if value != fields[name][0]}


@EXAMPLES
@given(strategies.sampling_params(VOCABULARY))
def test_at_most_one_sampling_parameter_is_off_its_default(params):
    assert len(off(params)) <= 1
    json.dumps(params, allow_nan=False)


@EXAMPLES
@given(strategies.sampling_params(VOCABULARY, only=("n", "seed"), fixed={"temperature": 0.0}))
def test_fixed_parameters_stand_and_greedy_has_no_siblings(params):
    assert params["temperature"] == 0.0
    assert off(params).keys() <= {"temperature", "seed"}


@EXAMPLES
@given(strategies.sampling_params(VOCABULARY, only=("min_tokens",), fixed={"max_tokens": 3}))
def test_no_more_tokens_are_asked_for_than_allowed(params):
    assert params.get("min_tokens", 0) <= 3


@EXAMPLES
@given(strategies.sampling_params(VOCABULARY))
def test_omitted_max_tokens_stays_omitted_among_the_defaults(params):
    assert "max_tokens" not in params or off(params) in ({}, {"max_tokens": params["max_tokens"]})
    assert params.get("max_tokens") != 16 or len(params) == 1


@pytest.mark.parametrize("name", strategies.sampling_fields(VOCABULARY))
def test_every_sampling_parameter_can_be_off(name):
    found = find(
        strategies.sampling_params(VOCABULARY, only=(name,)),
        off,
        settings=settings(EXAMPLES, max_examples=200),
    )
    assert list(off(found)) == [name]


@EXAMPLES
@given(strategies.messages())
def test_a_chat_alternates_and_ends_with_the_user(messages):
    roles = [message["role"] for message in messages]
    roles = roles[1:] if roles[0] == "system" else roles
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    assert all(message["content"] for message in messages)


@EXAMPLES
@given(strategies.tool_fields())
def test_a_named_tool_is_one_of_those_offered(fields):
    if fields["tools"] is ABSENT:
        assert fields["tool_choice"] is ABSENT
    elif isinstance(fields["tool_choice"], dict):
        name = fields["tool_choice"]["function"]["name"]
        assert name in [tool["function"]["name"] for tool in fields["tools"]]


@EXAMPLES
@given(strategies.tool_fields(parser=False))
def test_without_a_parser_no_tool_is_chosen(fields):
    assert fields["tool_choice"] in (ABSENT, "none")


@EXAMPLES
@given(strategies.completion_prompts(VOCABULARY))
def test_a_completion_prompt_has_something_in_it(prompt):
    assert prompt
    assert not isinstance(prompt, list) or all(part or part == 0 for part in prompt)


@pytest.mark.parametrize(("given_examples", "expected"), [(None, 25), ("7", 7)])
def test_the_profile_repeats_itself(given_examples, expected):
    script = """
from hypothesis import given, settings, strategies as st
from fixtures import strategies
strategies.register_profile()
seen = []
given(st.integers())(lambda number: seen.append(number))()
print(len(seen), settings().deadline, settings().derandomize, settings().database, seen)
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("TOKENWIRE_EXAMPLES", None)
    if given_examples:
        env["TOKENWIRE_EXAMPLES"] = given_examples
    command = [sys.executable, "-c", script]
    runs = {
        subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1
    assert runs.pop().startswith(f"{expected} None True None [")
