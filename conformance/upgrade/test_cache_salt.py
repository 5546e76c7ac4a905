"""cache_salt, which keeps tenants' prefix caches apart: it reaches the engine or is refused.

Catches a salt that is lost, and shows which salts only newer nodes refuse.
"""

import pytest

from conformance.upgrade.support import CHAT, RENDER, SCRIPTED, effective, rendered_chat
from fixtures.case import cells, requirement

# Standard base64 has a slash in about half of all salts of 32 bytes.
SALTS = {"plain": "tenant-1", "slash": "q83vEjRWeJ/AEiM0RVZneA==", "long": "s" * 129}


@requirement("upgrade.cache-salt.kept")
@pytest.mark.parametrize("name", SALTS)
@cells(render=RENDER, generate=SCRIPTED)
async def test_cache_salt(mix, name):
    """The engine's request has the salt."""
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**CHAT, "cache_salt": SALTS[name]})
        received = await effective(mix.generate, mix.generate.generate, rendered)
        seen.asked(received["cache_salt"], SALTS[name])
