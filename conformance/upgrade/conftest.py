"""Cells of the matrix: which releases a case mixes, the nodes it gets, and the outcome it is held to."""

import asyncio
import contextlib
import dataclasses
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.upgrade.rolling import ends
from fixtures.case import Node
from fixtures.expectation import ROLES, Rule, expected
from fixtures.mix import BREAKS, Seen, Stopped, answered
from fixtures.node_wire import NodeWire
from fixtures.nodes.lease import Lease
from fixtures.nodes.pool import NodeProblem
from fixtures.nodes.spec import NodeSpec
from fixtures.outcome import CaseRecord
from fixtures.releases import catalogue
from fixtures.settings import Settings
from fixtures.stash import EXPECTED, POOL, SETTINGS
from fixtures.wire import Exchange, WireError


@dataclass(frozen=True)
class Cell:
    """The spec of each role's node."""

    nodes: dict[str, NodeSpec]

    def __str__(self) -> str:
        return "-".join(spec.release for spec in self.nodes.values())

    @property
    def targets(self) -> dict[str, str]:
        """Role to IMPLEMENTATION@RELEASE."""
        return {role: spec.target for role, spec in self.nodes.items()}


def specs(role: str, wish: Node, settings: Settings) -> list[NodeSpec]:
    """The node wished for, of every release in the mix that has the role."""
    spec = wish.spec(settings)
    if wish.implementation == "reference" and settings.implementation != "stock":
        # An implementation of the user's takes the reference's place.
        spec = dataclasses.replace(spec, implementation=settings.implementation)
    if wish.release:
        return [dataclasses.replace(spec, release=settings.release)]
    known = catalogue.load()
    return [
        dataclasses.replace(spec, release=release)
        for release in settings.releases
        if role not in ("derender", "successor") or known.get(release).can("derender")
    ]


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case is run in every cell: the product of the releases over the roles it mixes."""
    if (mark := metafunc.definition.get_closest_marker("cells")) is None:
        return
    roles = [role for role in ROLES if role in mark.kwargs]
    settings = metafunc.config.stash[SETTINGS]
    axes = [specs(role, mark.kwargs[role], settings) for role in roles]
    cells = [Cell(dict(zip(roles, nodes, strict=True))) for nodes in itertools.product(*axes)]
    # A mix without the role has no such cell; an empty list would be a skip.
    metafunc.parametrize("mix", cells or [None], indirect=True, ids=str)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Every triple of releases is another 6,000 cases, so it runs only when it is asked for."""
    full = config.option.upgrade == "full"
    return True if collection_path.name == "test_cube.py" and not full else None


def cell_of(item: pytest.Item) -> Cell | None:
    """The cell an item is run in; None for an item without one."""
    return item.callspec.params.get("mix") if hasattr(item, "callspec") else None


def is_in_the_mix(item: pytest.Item) -> bool:
    """Whether the releases to mix have a cell of the item, and all that it names."""
    named = {release for mark in item.iter_markers("releases") for release in mark.args}
    settings = item.config.stash[SETTINGS]
    has_cell = "mix" not in item.fixturenames or cell_of(item) is not None
    rolls = "own_node" not in item.fixturenames or named or len(set(ends(settings))) == 2
    return bool(has_cell and rolls and named.issubset(settings.releases))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Cases with the same generate node stand together, so that few engines are in memory at once."""
    place: dict[NodeSpec | None, int] = {}

    def node(item: pytest.Item) -> int:
        cell = cell_of(item)
        spec = cell.nodes.get("generate") if cell else None
        return place.setdefault(spec, len(place))

    if outside := [item for item in items if not is_in_the_mix(item)]:
        outside[0].config.hook.pytest_deselected(items=outside)
    items[:] = [item for item in items if is_in_the_mix(item)]
    items.sort(key=node)


class Held:
    """The nodes a worker holds: every render and derender node, and one generate node at a time."""

    def __init__(self, pool: dict) -> None:
        self.pool = pool
        self.leases: dict[NodeSpec, Lease] = {}
        self.generate: Lease | None = None
        # What its own routes said; greedy float32 answers are the same every time.
        self.unmixed: dict[tuple, Exchange] = {}

    def take(self, role: str, spec: NodeSpec) -> Lease:
        """The node of this spec; raises NodeProblem, also once for one that died after a case."""
        if role == "generate":
            if self.generate is None or self.generate.spec != spec:
                self.close_generate()
                self.generate = Lease(self.pool, spec)
            lease = self.generate
        else:
            if spec not in self.leases:
                self.leases[spec] = Lease(self.pool, spec)
            lease = self.leases[spec]
        if ending := lease.ending():
            lease.close()
            self.leases.pop(spec, None)
            self.generate = None if lease is self.generate else self.generate
            raise NodeProblem(f"the node did not outlive the case before: {ending}")
        return lease

    def close_generate(self) -> None:
        if self.generate:
            self.generate.close()
        self.generate = None
        self.unmixed.clear()

    def close(self) -> None:
        self.close_generate()
        for lease in self.leases.values():
            lease.close()


@pytest.fixture(scope="session")
def _held(request: pytest.FixtureRequest) -> Iterator[Held]:
    held = Held(request.config.stash[POOL])
    yield held
    held.close()


class Mix:
    """A cell's nodes as Wires, by role, and the outcome that is expected of them."""

    def __init__(
        self, held: Held, record: CaseRecord, rule: Rule, wires: dict[str, NodeWire]
    ) -> None:
        self._held, self._record, self._rule, self._wires = held, record, rule, wires

    def __getattr__(self, role: str) -> NodeWire:
        # Every generate node renders too.
        wire = self._wires.get(role) or (role == "render" and self._wires.get("generate"))
        if not wire:
            raise AttributeError(f"this case mixes no {role} node")
        return wire

    async def unmixed(self, route: str, request: dict) -> Any:
        """The generate node's own answer by its coupled `route`, asked for once and kept.

        For a greedy request to a real engine. Raises Stopped where there is no answer.
        """
        wire = self._wires["generate"]
        key = wire.node.pid, route, json.dumps(request)
        if key in self._held.unmixed:
            self._record.add(self._held.unmixed[key])
        else:
            self._held.unmixed[key] = await getattr(wire, route)(request)
        return answered(self._held.unmixed[key])

    @contextlib.contextmanager
    def judged(self) -> Iterator[Seen]:
        """Compare inside; at the end AssertionError unless the outcome is the expected one."""
        seen = Seen()
        try:
            yield seen
        except Stopped as stopped:
            seen.stopped = stopped
        except WireError as error:
            if any(wire.node.ending() for wire in self._wires.values()):
                raise  # A node that died is no outcome.
            seen.stopped = Stopped(BREAKS, str(error))
        rule = self._rule
        self._record.cell |= {"outcome": seen.outcome}
        assert seen.outcome == rule.outcome, (
            f"{seen.outcome}, but rule {rule.name} expects {rule.outcome} ({rule.reason}; "
            f"{rule.reference}). {seen.why}"
        )
        assert rule.says in seen.why, f"rule {rule.name} wants {rule.says!r} said: {seen.why}"


@pytest.fixture
async def mix(request: pytest.FixtureRequest, _held: Held, case_record: CaseRecord):
    """The nodes of the case's cell."""
    cell: Cell = request.param
    item = request.node
    parameters = item.callspec.id.removesuffix(str(cell)).rstrip("-")
    exchange = item.originalname.removeprefix("test_") + (f"[{parameters}]" if parameters else "")
    case_record.cell = {**cell.targets, "exchange": exchange}
    rule = expected(request.config.stash[EXPECTED], exchange, cell.targets)
    case_record.cell |= rule.line()
    wires = {}
    # The first node a case uses is the one that its report line names.
    for role in sorted(cell.nodes, key=lambda role: role != "generate"):
        lease = await asyncio.to_thread(_held.take, role, cell.nodes[role])
        wires[role] = NodeWire(lease, case_record)
    yield Mix(_held, case_record, rule, wires)
    for wire in wires.values():
        await wire.close()
