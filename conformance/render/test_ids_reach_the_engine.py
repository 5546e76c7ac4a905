"""What was rendered is what the engine runs, and what the coupled route would run.

Catches a generate node that prepends a BOS, re-tokenizes or truncates, and a render node whose
template differs from the coupled server's.
"""

import pytest

from fixtures.case import Node, capabilities, capability, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

USER = {"role": "user", "content": "hello world"}
TOOL_TURNS = [
    USER,
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": "call-1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call-1", "content": "18 °C"},
]
REQUESTS = {
    "one-turn": {"messages": [USER]},
    "system-and-unicode": {
        "messages": [{"role": "system", "content": "短く"}, {"role": "user", "content": "é 🦊"}]
    },
    "no-generation-prompt": {"messages": [USER], "add_generation_prompt": False},
    "continued-message": {
        "messages": [USER, {"role": "assistant", "content": "the quick"}],
        "add_generation_prompt": False,
        "continue_final_message": True,
    },
    "truncated": {"messages": [USER], "truncate_prompt_tokens": 7},
    "tool-turns": {"messages": TOOL_TURNS},
    "content-parts": {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "hello"}, {"type": "text", "text": "fox"}],
            }
        ]
    },
}


@requirement("render.ids.equal-coupled")
@pytest.mark.parametrize("name", REQUESTS)
async def test_rendered_ids_equal_the_coupled_prompt(wire, name):
    """Render's ids are the prompt ids that the coupled answer reports."""
    rendered = (await wire.render_chat(REQUESTS[name])).expect(200)
    coupled = await wire.chat(REQUESTS[name], max_tokens=1, return_token_ids=True)
    assert rendered.json["token_ids"] == coupled.expect(200).json["prompt_token_ids"]


@requirement("render.ids.equal-coupled")
@pytest.mark.parametrize(
    "prompt",
    ["hello world", "<|im_start|>é 🦊", [20, 21, 22]],
    ids=["text", "special-and-unicode", "ids"],
)
async def test_rendered_completion_ids_equal_the_coupled_prompt(wire, prompt):
    """The same for completions, text and ids."""
    rendered = (await wire.render_completions(prompt=prompt, max_tokens=1)).expect(200)
    coupled = await wire.completions(prompt=prompt, max_tokens=1, return_token_ids=True)
    assert [rendered.json[0]["token_ids"]] == [
        choice["prompt_token_ids"] for choice in coupled.expect(200).json["choices"]
    ]


@requirement("render.ids.sent-as-rendered")
@capability("return-token-ids")
@pytest.mark.parametrize("name", REQUESTS)
async def test_generate_runs_exactly_the_rendered_ids(wire, name):
    """Generate reports the prompt it ran: the rendered ids, and their count in usage."""
    rendered = (await wire.render_chat(REQUESTS[name], max_tokens=1)).expect(200).json
    answer = (await wire.generate({**rendered, "return_token_ids": True})).expect(200).json
    assert answer["prompt_token_ids"] == rendered["token_ids"]
    assert answer["usage"]["prompt_tokens"] == len(rendered["token_ids"])
