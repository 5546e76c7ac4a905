"""Transfer parameters for the KV cache and the encoder cache: they reach the engine's connector.

Catches a pair of releases between which disaggregated prefill is switched off without a word.
"""

import pytest

from conformance.upgrade.support import CHAT, RENDER, SCRIPTED, effective, rendered_chat
from fixtures.case import cells, requirement

PARAMETERS = {"do_remote_decode": True, "remote_block_ids": [1, 2]}


@requirement("upgrade.transfer-parameters.kept")
@pytest.mark.parametrize("key", ["kv_transfer_params", "ec_transfer_params"])
@cells(render=RENDER, generate=SCRIPTED)
async def test_transfer_parameters(mix, key):
    """They are where vLLM's connectors look for them, in the engine request's extra_args."""
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**CHAT, key: PARAMETERS})
        received = await effective(mix.generate, mix.generate.generate, rendered)
        extra = received["sampling_params"]["extra_args"] or {}
        seen.asked(extra.get(key), PARAMETERS)
