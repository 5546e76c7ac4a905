"""The rules of the protocol as verdicts need them: what each asks, since when, and what must hold
first.

They are read and linted by fixtures/catalogue.py; a report's header holds them too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Self

from packaging.version import Version

NONE_YET = "none yet"


@dataclass(frozen=True)
class Requirement:
    """One rule of the protocol.

    `level`: must, should or survey. `since`: the release in which stock vLLM began to hold it, or
    "none yet". `references`: where the rule comes from. `needs`: rules that must hold first, or
    this one cannot be judged.
    """

    id: str
    text: str
    level: str
    roles: tuple[str, ...]
    since: str
    references: tuple[str, ...]
    needs: tuple[str, ...]
    chapter: str

    def began_after(self, release: str) -> bool:
        """Whether stock vLLM began to hold it only after `release`; False while there is none yet.

        Raises packaging.version.InvalidVersion where `release` is no version.
        """
        return self.since != NONE_YET and Version(release) < Version(self.since)


@dataclass(frozen=True)
class Catalogue(Mapping[str, Requirement]):
    """Every requirement by its id, in the order of the files."""

    requirements: Mapping[str, Requirement]

    def __getitem__(self, id: str) -> Requirement:
        return self.requirements[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.requirements)

    def __len__(self) -> int:
        return len(self.requirements)

    def needed(self, id: str) -> frozenset[str]:
        """The ids of all that `id` needs, directly or through another; empty for an unknown id."""
        return self._closures.get(id, frozenset())

    @cached_property
    def _closures(self) -> dict[str, frozenset[str]]:
        closures: dict[str, frozenset[str]] = {}
        for id in TopologicalSorter({id: r.needs for id, r in self.items()}).static_order():
            needs = self[id].needs
            closures[id] = frozenset(needs).union(*(closures[need] for need in needs))
        return closures

    @classmethod
    def from_described(cls, rules: Mapping[str, Mapping]) -> Self:
        """The rules of a report's header; needs that it does not hold are left out."""
        return cls(
            {
                id: Requirement(
                    id,
                    rule["text"],
                    rule["level"],
                    tuple(rule.get("roles", ())),
                    rule.get("since", NONE_YET),
                    tuple(rule.get("references", ())),
                    tuple(need for need in rule.get("needs", ()) if need in rules),
                    id.partition(".")[0],
                )
                for id, rule in rules.items()
            }
        )

    def described(self) -> dict[str, dict]:
        """What a report's header keeps of each rule: id to text, level, roles, since, references
        and needs.
        """
        return {
            id: {
                "text": r.text,
                "level": r.level,
                "roles": list(r.roles),
                "since": r.since,
                "references": list(r.references),
                "needs": list(r.needs),
            }
            for id, r in self.items()
        }
