"""The kinds of request a client may send: one table, of which several chapters take each row.

Every kind is answered the same each time it is sent: it is greedy or has a seed.
"""

from dataclasses import replace

import pytest

from conformance.kinds import coupled, derender, generate, render
from conformance.kinds.kind import FLAGS, OTHER_NODES, Kind

__all__ = ["FLAGS", "KINDS", "OTHER_NODES", "Kind", "parameters"]

KINDS: dict[str, Kind] = {
    name: replace(kind, name=name)
    for module in (generate, render, derender, coupled)
    for name, kind in (
        (f"{module.__name__.rpartition('.')[2]}.{own}", kind) for own, kind in module.KINDS.items()
    )
}


def parameters(*names: str) -> list:
    """The kinds `names` for parametrize, each with what it needs of the node."""
    return [
        pytest.param(KINDS[name], id=name, marks=[pytest.mark.capability(*KINDS[name].needs)])
        for name in names
    ]
