"""A pseudo-terminal to run something in, and what it would show at the end."""

import os
import pty
import re
import termios
import threading

_TOKEN = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|([\r\n])|([^\r\n\x1b]+)")


class Terminal:
    """`end` is the file descriptor that a process writes to; `output` is all that was written."""

    def __init__(self, columns: int = 400) -> None:
        self._ours, self.end = pty.openpty()
        termios.tcsetwinsize(self.end, (50, columns))
        self.output = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self) -> str:
        """Wait until no process has it any more; returns `output`."""
        os.close(self.end)
        self._reader.join(30)
        assert not self._reader.is_alive(), "a process still has the terminal"
        os.close(self._ours)
        return self.output

    def _read(self) -> None:
        while True:
            try:
                found = os.read(self._ours, 65536)
            except OSError:  # nobody has the other end
                return
            self.output += found.decode("utf-8", "replace")


def screen(output: str) -> list[str]:
    """The lines that stand after `output`, on a terminal that is wide and high enough; those that are
    empty at its end are left out.

    AssertionError for a control sequence that nobody should send.
    """
    lines, row, column = [""], 0, 0
    at = 0
    for token in _TOKEN.finditer(output):
        assert token.start() == at, f"not known: {output[at : at + 20]!r}"
        at = token.end()
        number, letter, control, text = token.groups()
        if control == "\r":
            column = 0
        elif control == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif text:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
        elif letter == "A":
            row -= int(number or 1)
            assert row >= 0
        elif letter == "K":
            assert number == "2"
            lines[row] = ""
        else:
            assert letter == "m" or number == "?25", token.group()
    return "\n".join(line.rstrip() for line in lines).rstrip().split("\n")


def plain(output: str) -> str:
    """`output` without its colors."""
    return re.sub(r"\x1b\[[\d;]*m", "", output)
