"""max_tokens left out on a server with its own default: the smaller of the default and the
remaining context.
"""

import pytest

from conformance.generate import PROMPT
from fixtures.case import Node, requirement

CAPPED = Node("scripted", "--override-generation-config", '{"max_new_tokens": 7}')
pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(CAPPED, id="max-new-tokens-7")], indirect=True
)


async def length_and_end(wire, prompt, params):
    answer = await wire.generate(token_ids=prompt, sampling_params={"ignore_eos": True, **params})
    choice = answer.expect(200).json["choices"][0]
    return len(choice["token_ids"]), choice["finish_reason"]


@requirement("generate.max-tokens.server-default-caps")
@pytest.mark.parametrize(
    ("params", "expected"),
    [({}, 7), ({"max_tokens": 3}, 3), ({"max_tokens": 16}, 16)],
    ids=["omitted", "3", "16"],
)
async def test_server_default_holds_where_the_client_is_silent(wire, params, expected):
    """The server's default stands in for a missing max_tokens and yields to an explicit one."""
    assert await length_and_end(wire, PROMPT, params) == (expected, "length")


@requirement("generate.max-tokens.server-default-caps")
async def test_context_still_bounds_the_default(wire, node):
    """With room for 4 tokens only, the default 7 gives 4."""
    assert await length_and_end(wire, [20] * (node.max_model_len - 4), {}) == (4, "length")


@requirement("generate.max-tokens.null-takes-server-default")
async def test_null_takes_the_server_default_too(wire):
    """An explicit null is no value, so the server's default applies as it does where the key is
    missing.
    """
    assert await length_and_end(wire, PROMPT, {"max_tokens": None}) == (7, "length")
