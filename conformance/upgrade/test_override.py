"""return_tokens_as_token_ids between releases, and from a render node that carries it to older nodes.

Catches an upgraded render node that breaks requests which say nothing, and an explicit value that
is ignored where it should be refused.
"""

import pytest

from conformance.override.support import TRI_STATE, placeholder, with_value
from conformance.support import decode
from conformance.upgrade.support import CHAT, ONE_TOKEN, RENDER, SCRIPTED, rendered_chat
from fixtures.case import Node, cells, requirement
from fixtures.mix import answered

REQUEST = {**CHAT, "logprobs": True, "top_logprobs": 1}
UPGRADED = Node("none", role="render", implementation="reference", release="newest")
STOCK = Node("scripted", implementation="stock")


def wanted(value: object) -> dict:
    """The message and the names of its tokens; without a value the server's flag, off, decides."""
    text = decode([50])
    return {"content": text, "tokens": [placeholder(50) if value is True else text]}


async def derender_mode(mix, value: object) -> dict | None:
    """The parsed message and its tokens' names; None where the node answered in another mode."""
    script = await mix.generate.engine.script(ONE_TOKEN)
    rendered = await rendered_chat(mix, with_value(REQUEST, value))
    edited = {**rendered, "output_mode": "derender"}
    [choice] = answered(await mix.generate.generate(edited, script=script))["choices"]
    if "message" not in choice:
        return None
    tokens = [entry["token"] for entry in choice["logprobs"]["content"]]
    return {"content": choice["message"]["content"], "tokens": tokens}


@requirement("upgrade.override.honoured-or-refused")
@pytest.mark.parametrize("value", ["true", "false"])
@cells(render=RENDER, generate=SCRIPTED)
async def test_override(mix, value):
    """An explicit value decides how the parsed message's logprobs name their tokens."""
    with mix.judged() as seen:
        seen.asked(await derender_mode(mix, TRI_STATE[value]), wanted(TRI_STATE[value]))


@requirement("upgrade.override.honoured-or-refused")
@pytest.mark.parametrize("value", TRI_STATE)
@cells(render=UPGRADED, generate=STOCK)
async def test_override_of_upgraded_render(mix, value):
    """The upgraded render node carries the value: older nodes serve the unset and refuse the rest."""
    with mix.judged() as seen:
        seen.asked(await derender_mode(mix, TRI_STATE[value]), wanted(TRI_STATE[value]))


@requirement("upgrade.override.tokens-mode-untouched")
@pytest.mark.parametrize("value", TRI_STATE)
@cells(render=UPGRADED, generate=STOCK)
async def test_tokens_of_upgraded_render(mix, value):
    """In tokens mode, which has no names, every node serves a request with any value."""
    script = await mix.generate.engine.script(ONE_TOKEN)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, with_value(REQUEST, TRI_STATE[value]))
        [choice] = answered(await mix.generate.generate(rendered, script=script))["choices"]
        seen.answer(choice["token_ids"], [50])
