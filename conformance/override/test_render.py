"""render carries an explicit value in parse_context, and leaves the key out when it is null."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.override.forced import CHAT, COMPLETION
from conformance.override.support import ABSENT, FLAG, KEY, TRI_STATE, with_value
from conformance.support import PARSERS
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node",
    [
        pytest.param(Node("scripted"), id="flag-off"),
        pytest.param(Node("scripted", FLAG), id="flag-on"),
        pytest.param(Node("scripted", *PARSERS), id="parsers"),
    ],
    indirect=True,
)

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("look", "listen")
]
TEXT = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=8)
MESSAGES = st.tuples(
    st.lists(TEXT.map(lambda text: {"role": "system", "content": text}), max_size=1),
    st.lists(TEXT.map(lambda text: {"role": "user", "content": text}), min_size=1, max_size=3),
).map(lambda parts: parts[0] + parts[1])
OPTIONS = {
    "max_tokens": st.integers(1, 64),
    "logprobs": st.just(True),
    "n": st.integers(1, 3),
    "seed": st.integers(0, 99),
    "temperature": st.sampled_from([0.5, 1.0, 1.5]),
    "stream": st.booleans(),
    "stop": st.sampled_from(["x", ["x", "yz"]]),
    "return_token_ids": st.booleans(),
    "include_reasoning": st.booleans(),
    "reasoning_effort": st.sampled_from(["low", "high"]),
    "chat_template_kwargs": st.dictionaries(
        st.sampled_from(["enable_thinking", "style"]), st.booleans() | TEXT
    ),
}
TOOL_OPTIONS = st.fixed_dictionaries(
    {"tools": st.sampled_from([TOOLS[:1], TOOLS])},
    optional={
        "tool_choice": st.sampled_from(
            ["auto", "none", "required", {"type": "function", "function": {"name": "look"}}]
        ),
        "parallel_tool_calls": st.booleans(),
    },
)
REQUESTS = st.fixed_dictionaries({"messages": MESSAGES}, optional=OPTIONS)


def keys_of(value):
    """Every object key at any depth of a JSON value."""
    if isinstance(value, dict):
        return set(value) | set().union(*map(keys_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    return set()


async def rendered(wire, request, value):
    """The chat request with the value, rendered; without its id, which is random."""
    body = (await wire.render_chat(with_value(request, value))).expect(200).json
    del body["request_id"]
    return body


def requests_for(node):
    """Chat requests, some of them with tools where the node parses tool calls."""
    if PARSERS[0] not in node.spec.flags:
        return REQUESTS
    return st.builds(lambda request, tools: request | tools, REQUESTS, TOOL_OPTIONS | st.just({}))


@requirement("override.render.null-omitted")
@capability("parse-context")
@given(data=st.data())
async def test_null_and_absent_render_the_same_body_without_the_key(wire, node, data):
    """For any chat, with tools where the node parses them."""
    request = data.draw(requests_for(node))
    absent = await rendered(wire, request, ABSENT)
    assert KEY not in keys_of(absent["parse_context"])
    assert await rendered(wire, request, None) == absent


@requirement("override.render.explicit-carried")
@capability("parse-context")
@given(data=st.data(), value=st.booleans())
async def test_an_explicit_value_adds_exactly_the_key(wire, node, data, value):
    """For any chat, with tools where the node parses them."""
    request = data.draw(requests_for(node))
    absent = await rendered(wire, request, ABSENT)
    context = absent["parse_context"] | {KEY: value}
    explicit = await rendered(wire, request, value)
    assert explicit == absent | {"parse_context": context}
    assert explicit["parse_context"][KEY] is value


@requirement("override.render.explicit-carried")
@capability("parse-context")
@pytest.mark.parametrize("value", ["true", "false"])
async def test_an_explicit_value_is_in_parse_context(wire, node, value):
    """parse_context holds the JSON boolean the client sent."""
    body = await rendered(wire, CHAT, TRI_STATE[value])
    assert body["parse_context"][KEY] is TRI_STATE[value]


@requirement("override.render.null-omitted")
@capability("parse-context")
@pytest.mark.parametrize("value", ["null", "absent"])
async def test_a_null_value_leaves_no_key_in_the_rendered_body(wire, node, value):
    """Not null, not false: absent, at every depth; and parse_context is there to hold it."""
    body = await rendered(wire, CHAT, TRI_STATE[value])
    assert isinstance(body["parse_context"], dict)
    assert KEY not in keys_of(body)


@requirement("override.render.nothing-else-changes")
@capability("render.chat")
@given(request=REQUESTS)
async def test_nothing_else_in_a_rendered_chat_depends_on_the_value(wire, node, request):
    """Apart from parse_context, the four bodies are the same."""
    bodies = [await rendered(wire, request, value) for value in TRI_STATE.values()]
    contexts = [body.pop("parse_context", None) or {} for body in bodies]
    assert bodies == [bodies[0]] * 4
    assert bodies[0]["token_ids"]
    without_key = [{k: v for k, v in context.items() if k != KEY} for context in contexts]
    assert without_key == [without_key[0]] * 4


@requirement("override.render.completions-unchanged")
@capability("render.completions")
@pytest.mark.parametrize("value", TRI_STATE)
async def test_a_rendered_completion_does_not_carry_the_value(wire, node, value):
    """A completion has no parse_context, so its value stays with the client for derender."""
    request = COMPLETION | {"prompt": ["one", "two"], "logprobs": 2}
    bodies = [
        (await wire.render_completions(each)).expect(200).json
        for each in (request, with_value(request, TRI_STATE[value]))
    ]
    assert [len(body) for body in bodies] == [2, 2]
    for body in bodies:
        for one in body:
            del one["request_id"]
    assert bodies[1] == bodies[0]
    assert KEY not in keys_of(bodies[1])


@requirement("override.render.messages-omit")
@capability("parse-context")
async def test_a_rendered_message_has_no_key(wire, node):
    """An Anthropic message has no such field, so its parse_context never has the key."""
    answer = await wire.post(
        "/v1/messages/render", {"max_tokens": 8, "messages": [{"role": "user", "content": "hi"}]}
    )
    body = answer.expect(200).json
    assert isinstance(body["parse_context"], dict)
    assert KEY not in keys_of(body)
