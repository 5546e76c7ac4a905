"""What a case's id says: FILE::CLASS::FUNCTION[PARAMETERS], of which the class may be absent."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class CaseId:
    """The parts of an id; `names` are the classes and the function, `parameters` has its brackets."""

    file: str
    names: tuple[str, ...]
    parameters: str

    @classmethod
    def of(cls, id: str) -> Self:
        """Take an id apart; what has no `::` is all file."""
        # Parameters may hold any character, but the first bracket opens them.
        head, bracket, rest = id.partition("[")
        file, *names = head.split("::")
        return cls(file, tuple(names), bracket + rest)
