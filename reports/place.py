"""Where a command puts what it makes: never over what it reads, and the whole of it or nothing."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from reports.check import ReportProblem


def not_over(out: Path, *files: Path | None) -> None:
    """Raises ReportProblem where `out` is one of `files`, which are read; None is no file."""
    # realpath, since Path.resolve fails on links that lead in a circle
    if os.path.realpath(out) in {os.path.realpath(file) for file in files if file}:
        raise ReportProblem(f"{out}: it would stand in the place of a report that is read.")


def is_device(path: Path) -> bool:
    """Whether `path` is written to as it is, and not replaced: /dev/stdout, also where that is a
    file, or a pipe.
    """
    return path.parts[:2] in (("/", "dev"), ("/", "proc")) or (path.exists() and not path.is_file())


def put(data: bytes, out: Path) -> None:
    """Write a file; missing folders are made. Raises ReportProblem, and leaves what was there, where
    it cannot be written.
    """
    try:
        if is_device(out):
            out.write_bytes(data)
            return
        if not out.parent.exists():
            out.parent.mkdir(parents=True, exist_ok=True)
        with replacing(out) as file:
            file.write(data)
    except OSError as error:
        raise ReportProblem(f"{out} cannot be written: {error.strerror or error}.") from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place at the end of the block, or vanishes if the block
    raises. Of a link, what it leads to is replaced.
    """
    path = Path(os.path.realpath(path))
    number, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            os.fchmod(file.fileno(), _mode(path))  # mkstemp's own would shut other readers out
            yield file
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode(path: Path) -> int:
    """The permissions of the file, or of a new one."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
