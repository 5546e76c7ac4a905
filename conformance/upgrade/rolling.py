"""A rolling run: chat traffic over two nodes a role, while each of them is replaced."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from conformance.support import PARSERS
from conformance.upgrade.ledger import Ending, ending, faults, never, releases, told
from fixtures.case import Node
from fixtures.nodes.lease import Lease
from fixtures.outcome import CaseRecord
from fixtures.releases import catalogue
from fixtures.router import ROLES, Answer, Router
from fixtures.settings import Settings
from fixtures.wire import new_client

REQUESTS = 500
CLIENTS = 8
ANSWER_SECONDS = 50
NODES_PER_ROLE = 2
# One replacement after this many answers, so that traffic of every mix goes before and after it.
ANSWERS_PER_REPLACEMENT = REQUESTS // (NODES_PER_ROLE * len(ROLES) + 2)
# A connection that its server closes while it is idle would be an error of the router alone.
ONE_EACH = httpx.Limits(max_keepalive_connections=0)

ORDERS = {
    "render-first": ("render", "generate", "derender"),
    "generate-first": ("generate", "render", "derender"),
    "derender-first": ("derender", "generate", "render"),
}

# What derender says of a stream with parsers up to 0.30 (EVOLUTION 3.3).
NOT_IMPLEMENTED = 501

Start = Callable[[Node], Awaitable[Lease]]


@dataclass
class Replacement:
    """A node that gave way to another, and what was at work then.

    `ended`: the requests that had ended; `in_flight`: how many had not; `open`: how many of those
    the old node was at work on.
    """

    old: Lease
    new: Lease
    ended: set[Answer]
    in_flight: int
    open: int


@dataclass
class Run:
    """The answers of a rolling run, its replacements, and how each kind ends unmixed, by release."""

    answers: list[Answer] = field(default_factory=list)
    replacements: list[Replacement] = field(default_factory=list)
    unmixed: dict[str, dict[str, Ending]] = field(default_factory=dict)

    @property
    def ended(self) -> int:
        """How many requests have ended."""
        return sum(answer.ended for answer in self.answers)

    @property
    def stuck(self) -> bool:
        """Whether a request got no ending, so that more traffic shows nothing."""
        return any(answer.problem for answer in self.answers)

    def gaps(self) -> list[str]:
        """Where traffic did not meet the replacements, so that the run would show nothing."""
        worked = {node for answer in self.answers for _, node in answer.nodes}
        found = [] if self.ended >= REQUESTS else [f"only {self.ended} requests ended"]
        # An error that both releases give unmixed as well would hide whatever the mix does.
        found += [
            f"{kind} ends with {own['error']} unmixed on {release}"
            for release, endings in self.unmixed.items()
            for kind, own in endings.items()
            if own.get("error", NOT_IMPLEMENTED) != NOT_IMPLEMENTED
        ]
        for one in self.replacements:
            if not one.in_flight:
                found.append(f"nothing was in flight when {one.old.name} was replaced")
            found += [
                f"{node.name} got no request" for node in (one.old, one.new) if node not in worked
            ]
        return found

    def errors(self) -> Counter[tuple[int, str]]:
        """How many requests ended in an error, by its status and the kind of request."""
        return Counter(
            (event["error"]["code"], answer.kind.partition(":")[0])
            for answer in self.answers
            for event in answer.events
            if "error" in event
        )

    def statuses(self) -> set[int]:
        """The statuses of all errors."""
        return {status for status, _ in self.errors()}

    def summary(self) -> str:
        """One line for the report."""
        mixed = sum(len(releases(answer)) > 1 for answer in self.answers)
        at_work = [f"{one.in_flight}/{one.open}" for one in self.replacements]
        errors = [f"{count} x {status} ({kind})" for (status, kind), count in self.errors().items()]
        return (
            f"{self.ended} requests ended, {mixed} of them over two releases; in flight at each "
            f"replacement, in all and on the old node: {', '.join(at_work)}; "
            f"errors: {', '.join(errors) or 'none'}"
        )


def wrong(run: Run, may_fail: Callable[[Answer, int], bool] = never) -> str:
    """What is wrong with a run, a line each; empty where nothing is. `may_fail` as in `faults`."""
    return "\n".join([*told(faults(run.answers, run.unmixed, may_fail)), *run.gaps()])


def ends(settings: Settings) -> tuple[str, str]:
    """The two newest releases, or the ends of the range that --vllm names, of those that derender
    streams; the same one twice where there is no other.
    """
    known = catalogue.load()
    everything = tuple(release.version for release in known.releases)
    able = [version for version in settings.releases if known.get(version).can("derender-stream")]
    first = able[-2:] if settings.releases == everything else able
    return (first[0], able[-1]) if able else (settings.release, settings.release)


def pair(settings: Settings, direction: str) -> tuple[str, str]:
    """From which release to which: "up" from the older of `ends`, "down" from the newer."""
    older, newer = ends(settings)
    return (older, newer) if direction == "up" else (newer, older)


def wish(role: str, release: str) -> Node:
    """A node for one role; those around the engine need none."""
    if role == "generate":
        return Node("real", release=release)
    return Node("none", *PARSERS, role="render", release=release)


async def roll(
    start: Start,
    record: CaseRecord,
    order: Sequence[str],
    releases: tuple[str, str],
    traffic: Mapping[str, dict],
    *,
    spread: bool = False,
    drain: bool = True,
) -> Run:
    """Replace every node of the first release by one of the second, the roles in `order`.

    `traffic`: kind of request -> request, sent in turn. Without `drain` a node is killed with
    whatever it has open, and replaced after that.
    """
    before, after = releases
    nodes = await asyncio.gather(
        *[start(wish(role, before)) for role in ROLES for _ in range(NODES_PER_ROLE)]
    )
    grouped = [nodes[at : at + NODES_PER_ROLE] for at in range(0, len(nodes), NODES_PER_ROLE)]
    async with new_client(ONE_EACH) as http:
        router = Router(dict(zip(ROLES, grouped, strict=True)), spread=spread, client=http)
        run = Run(unmixed={before: await unmixed(router, traffic)})
        try:
            await replace_all(
                run, router, order, lambda role: start(wish(role, after)), traffic, drain
            )
        finally:
            keep(run, record)
        run.unmixed[after] = await unmixed(router, traffic)
    return run


async def replace_all(
    run: Run,
    router: Router,
    order: Sequence[str],
    start: Callable[[str], Awaitable[Lease]],
    traffic: Mapping[str, dict],
    drain: bool,
) -> None:
    """Keep traffic going while every node gives way to one that `start` makes for its role."""
    done = asyncio.Event()
    clients = [asyncio.create_task(client(router, run, traffic, done)) for _ in range(CLIENTS)]
    try:
        turns = [(role, node) for role in order for node in router.nodes[role]]
        for role, old in turns:
            await answered(run, ANSWERS_PER_REPLACEMENT * (len(run.replacements) + 1))
            new = await start(role)
            if drain:
                note(run, router, old, new)
                router.replace(role, old, new)
                await router.drained(old, ANSWER_SECONDS)
                await asyncio.to_thread(old.end)
            else:
                while not router.open[old] and not run.stuck:
                    await asyncio.sleep(0)
                note(run, router, old, new)
                await asyncio.to_thread(old.end)
                router.replace(role, old, new)
        await answered(run, REQUESTS)
    finally:
        done.set()
        await asyncio.gather(*clients)


def note(run: Run, router: Router, old: Lease, new: Lease) -> None:
    """Write down what is at work now."""
    ended = {answer for answer in run.answers if answer.ended}
    in_flight = len(run.answers) - len(ended)
    run.replacements.append(Replacement(old, new, ended, in_flight, router.open[old]))


async def client(
    router: Router, run: Run, traffic: Mapping[str, dict], done: asyncio.Event
) -> None:
    """Send one request after another until the run is over."""
    kinds = list(traffic)
    while not done.is_set() and not run.stuck:
        number = len(run.answers)
        kind = kinds[number % len(kinds)]
        answer = Answer(f"rolling-{number}", kind, traffic[kind])
        run.answers.append(answer)
        await router.serve(answer, ANSWER_SECONDS)


async def answered(run: Run, count: int) -> None:
    """Wait until so many requests have ended, or one never will."""
    while run.ended < count and not run.stuck:
        await asyncio.sleep(0.01)


async def unmixed(router: Router, traffic: Mapping[str, dict]) -> dict[str, Ending]:
    """How each kind of request ends on the router's present nodes, all of one release."""
    answers = [
        Answer(f"unmixed-{number}", kind, traffic[kind]) for number, kind in enumerate(traffic)
    ]
    for answer in answers:
        await router.serve(answer, ANSWER_SECONDS)
    return {answer.kind: ending(answer) for answer in answers}


def keep(run: Run, record: CaseRecord) -> None:
    """Leave the exchanges in the report, first those of requests that did not end well."""

    def bad(answer: Answer) -> bool:
        return bool(answer.problem) or any("error" in event for event in answer.events)

    for answer in sorted(run.answers, key=bad, reverse=True):
        for exchange in answer.exchanges:
            record.add(exchange)
    record.message = run.summary()
