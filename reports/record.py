"""The record of a run: JSON Lines with a header, a line per case and a footer; written as cases
end, read strictly. The shapes of answers are lines of their own, each written once.

What a line holds stands in schema/report.schema.json. A file without its footer is a run that did
not end.
"""

import contextlib
import fcntl
import hashlib
import json
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from reports.check import SCHEMA_VERSION, Check, ReportProblem, parse
from reports.evidence import HIDDEN, bounded_text, hide_in_text
from reports.place import replacing

# Twenty exchanges with bounded bodies, every character escaped, stay well below it.
LONGEST_LINE = 64 * 1024 * 1024


@dataclass(frozen=True)
class Report:
    """A whole report that holds together: its header, its cases in file order and its footer, as
    the schema has them.
    """

    header: dict
    cases: tuple[dict, ...]
    footer: dict


def header(
    *,
    targets: Sequence[str],
    releases: Mapping[str, Mapping],
    engines: Iterable[str],
    requirements: Mapping[str, Mapping],
    seed: int | None,
    command: Sequence[str] | None = None,
) -> dict:
    """A header line. `releases`: name to {"version", "obtained", "packages": {name: version}};
    `requirements`: id to {"text", "level", …}, for every rule a case will name; `command` defaults
    to this process's own command line.
    """
    return {
        "kind": "header",
        "schema": SCHEMA_VERSION,
        "started": _now(),
        "command": _hidden_words(sys.argv if command is None else command),
        "targets": list(targets),
        "releases": {name: dict(release) for name, release in releases.items()},
        "engines": sorted(set(engines)),
        "requirements": {id: dict(rule) for id, rule in requirements.items()},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "seed": seed,
    }


class Writer:
    """Writes one report. Each finished case is in the file at once; `finish` puts the whole report
    in its place.

    Every method raises ReportProblem when the file cannot be written or a line is not as the schema
    has it.
    """

    def __init__(self, path: Path, header: Mapping):
        """Begin the file at `path`, over an older one; missing folders are made."""
        self.path = path
        self._check = Check()
        line = self._check(dict(header), "the header")
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            try:
                # Held until the file is closed, also by a killed run.
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ReportProblem(f"another run is writing the report {path}.") from None
            self._file.truncate(0)
            _put(self._file, line)

    def case(self, line: Mapping) -> None:
        """Add a finished case: `Judged.line()`, `evidence(…)`, and engine, node, seconds, replay?,
        shapes?, measured?.
        """
        where = f"case {line.get('id')}"
        with self._writing():
            names = {}
            for route, shape in line.get("shapes", {}).items():
                names[route] = name = _name(shape)
                if name not in self._check.shapes:
                    told = {"kind": "shape", "name": name, "paths": shape}
                    _put(self._file, self._check(told, where))
            named = {"shapes": names} if "shapes" in line else {}
            _put(self._file, self._check(_tidied({**line, **named}), where))

    def finish(
        self,
        resolved: Iterable[Mapping],
        *,
        planned: int,
        exit_code: int,
        problems: Sequence[str],
        finished: str | None = None,
    ) -> dict:
        """Rewrite the file with final statuses and a footer, in one step: readers see the old file
        or the whole new one.

        `resolved`: for every case written, its id, target, status, observed?, message?; `finished`:
        when, of a run that is told again; now by default. Returns the footer.
        """
        verdicts = {(verdict["id"], verdict["target"]): verdict for verdict in resolved}
        if difference := verdicts.keys() ^ self._check.cases:
            raise ReportProblem(
                f"{self.path}: written and resolved cases differ, first in {min(difference)[0]}."
            )
        check = Check()
        with self._writing():
            self._file.close()
            with replacing(self.path) as file:
                with self.path.open("rb") as unresolved:
                    for number, raw in enumerate(unresolved, 1):
                        line = parse(raw, f"{self.path} line {number}")
                        if line["kind"] == "case":
                            line = _with_verdict(line, verdicts[line["id"], line["target"]])
                        _put(file, check(line, f"{self.path} line {number}"))
                footer = {
                    "kind": "footer",
                    "finished": finished or _now(),
                    "planned": planned,
                    "reported": len(check.cases),
                    "counts": dict(sorted(check.counts.items())),
                    "exit_code": exit_code,
                    "problems": [hide_in_text(problem) for problem in problems],
                }
                _put(file, check(footer, "the footer"))
        return footer

    def close(self) -> None:
        """Let go of the file as it stands; without `finish` it stays a run that did not end."""
        with contextlib.suppress(OSError):
            self._file.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if hasattr(self, "_file"):
                self.close()
            raise ReportProblem(
                f"the report {self.path} cannot be written: {error.strerror or error}."
            ) from error
        except (TypeError, ValueError) as error:  # no JSON value, or a file already closed
            raise ReportProblem(
                f"the report {self.path} cannot hold this line: {error}."
            ) from error


def read(path: Path) -> Report:
    """The report at `path`; raises ReportProblem, with the line's number, for anything but a whole
    and consistent one.
    """
    check = Check()
    lines = []
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
                where = f"{path} line {number}"
                if len(raw) == LONGEST_LINE:
                    raise ReportProblem(f"{where}: the line is longer than any this tool writes.")
                if not raw.endswith(b"\n"):
                    raise ReportProblem(
                        f"{where}: the line is cut off: the run that wrote it did not end."
                    )
                lines.append(check(parse(raw, where), where))
                if shapes := lines[-1].get("shapes"):
                    lines[-1]["shapes"] = {
                        route: check.shapes[name] for route, name in shapes.items()
                    }
    except OSError as error:
        raise ReportProblem(
            f"{path}: the report cannot be read: {error.strerror or error}."
        ) from error
    if not lines:
        raise ReportProblem(f"{path}: the file is empty.")
    if not check.ended:
        raise ReportProblem(
            f"{path} line {len(lines)}: the footer is missing: the run that wrote it did not end."
        )
    cases = tuple(line for line in lines if line["kind"] == "case")
    return Report(lines[0], cases, lines[-1])


def _put(file: BinaryIO, line: Mapping) -> None:
    # ASCII alone: a lone surrogate or a line separator that a server sent cannot break the file.
    file.write(
        json.dumps(line, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    )
    file.flush()


def _name(shape: Mapping) -> str:
    """A shape's name in the file: the same for the same shape."""
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]


def _tidied(line: Mapping) -> dict:
    tidied = {"kind": "case", **line}
    for key in ("message", "replay"):
        if key in tidied:
            tidied[key] = bounded_text(hide_in_text(tidied[key]))
    return tidied


def _with_verdict(line: dict, verdict: Mapping) -> dict:
    """`line` with the verdict's status; observed and message follow the verdict, gone where it has
    none.
    """
    kept = {
        key: value for key, value in line.items() if key not in ("status", "observed", "message")
    }
    return _tidied(
        kept | {key: verdict[key] for key in ("status", "observed", "message") if key in verdict}
    )


def _hidden_words(command: Sequence[str]) -> list[str]:
    before = ["", *command]
    return [
        HIDDEN if flag == "--api-key" else hide_in_text(word)
        for flag, word in zip(before, command, strict=False)
    ]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
