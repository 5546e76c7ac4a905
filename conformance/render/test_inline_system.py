"""A system message in the middle of an Anthropic conversation: where the template can take it.

Catches a route that renders what the template refuses, or moves a message that the template takes
where it stands.
"""

import pytest

from fixtures.case import Node, capabilities, requirement

# What many models' templates do: only the first message may be the system's.
FIRST_ONLY = (
    "{% for message in messages %}"
    "{% if message.role == 'system' and not loop.first %}{{ raise_exception('system first') }}"
    "{% endif %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
)
ANYWHERE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
MERGES = pytest.mark.parametrize(
    "node",
    [
        pytest.param(
            Node("none", "--chat-template", FIRST_ONLY, role="render"), id="none-first-only"
        )
    ],
    indirect=True,
)
TAKES = pytest.mark.parametrize(
    "node",
    [
        pytest.param(Node("none", "--chat-template", ANYWHERE, role="render"), id="none-anywhere"),
        # its template takes system messages anywhere too, and marks what the assistant wrote
        pytest.param(Node("none", role="render"), id="none-generation-tags"),
    ],
    indirect=True,
)
pytestmark = capabilities("render.messages", "render.chat")

INLINE = [
    {"role": "user", "content": "a"},
    {"role": "system", "content": "Now rhyme."},
    {"role": "user", "content": "b"},
]


async def of_messages(wire) -> list[int]:
    """The ids of the conversation as a messages request."""
    body = {"system": "Be brief.", "messages": INLINE, "max_tokens": 4}
    return (await wire.post("/v1/messages/render", body)).expect(200).json["token_ids"]


async def of_chat(wire, system: str, turns: list[dict]) -> list[int]:
    """The ids of a chat that begins with the system's text."""
    messages = [{"role": "system", "content": system}, *turns]
    return (await wire.render_chat(messages=messages)).expect(200).json["token_ids"]


@MERGES
@requirement("render.messages.inline-system")
async def test_it_is_merged_where_the_template_refuses_it(wire):
    """The ids are those of the two system texts put together by hand, in their order."""
    turns = [INLINE[0], INLINE[2]]
    found = await of_messages(wire)
    joined = [f"Be brief.{between}Now rhyme." for between in ("\n\n", "\n", "")]
    assert found in [await of_chat(wire, text, turns) for text in joined]


@TAKES
@requirement("render.messages.inline-system")
async def test_it_stays_where_the_template_takes_it(wire):
    """The ids are those of the chat with the same messages in the same places."""
    assert await of_messages(wire) == await of_chat(wire, "Be brief.", INLINE)
