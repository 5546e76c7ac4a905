"""Every fault that reports/FINDINGS.md tells is repeated by its shell lines alone, on a stock node."""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass

import pytest

from fixtures.nodes.lease import Lease
from fixtures.nodes.spec import NodeSpec
from fixtures.outcome import ROOT
from reports.findings import fenced

DOCUMENT = (ROOT / "reports" / "FINDINGS.md").read_text(encoding="utf-8")
CUT_VALUE = 40  # characters: a value that the excerpt cuts through is masked otherwise
MASKED = (
    (re.compile(r'"(id|request_id|system_fingerprint)":"[^"]*"'), r'"\1":""'),
    (re.compile(r'"created":\d+'), '"created":0'),
    (re.compile(r"-?\d+\.\d+(e-?\d+)?"), "0.0"),
    (re.compile(r"[0-9a-f]{16,}"), "0"),
)


@dataclass(frozen=True)
class Fault:
    """A section of the document: how its node starts, what is sent, and what came or must match."""

    title: str
    release: str
    role: str
    model: str
    words: tuple[str, ...]
    lines: str
    answer: str
    is_pattern: bool

    def __str__(self) -> str:
        return re.sub(r"\W+", "-", self.title)[:60]


def faults() -> list[Fault]:
    """The numbered sections of the document."""
    found = []
    for section in re.split(r"(?m)^## (?=\d+\. )", DOCUMENT)[1:]:
        blocks = re.findall(r"(?ms)^```\n(.*?)\n```$", section)
        node = re.search(r"(?m)^- node: `(.*?)` `(.*)`(?: with the model (\S+))?$", section)
        kind, words, model = node.groups()
        found.append(
            Fault(
                section.partition("\n")[0],
                re.search(r"(?m)^- on (.*?), since", section)[1].rpartition(" ")[2],
                "render" if kind == "vllm launch render" else "serve",
                model or "tiny",
                tuple(shlex.split(words)),
                blocks[0],
                blocks[1],
                "Actual, the output matches:" in section,
            )
        )
    return found


def spec(fault: Fault) -> NodeSpec:
    """The stock node that a fault's section describes."""
    assert fault.words[0] == "--dtype"
    flags = [word for word in fault.words[2:] if not re.fullmatch(r"[A-Z_]+=\S+", word)]
    env = [tuple(word.split("=", 1)) for word in fault.words[2:] if word not in flags]
    engine = "none" if fault.role == "render" else "cpu"
    return NodeSpec(
        fault.release,
        "stock",
        engine,
        role=fault.role,
        dtype=fault.words[1],
        model=fault.model,
        flags=tuple(flags),
        env=tuple(env),
    )


def masked(text: str) -> str:
    """`text` without what differs from run to run: ids, times, the last digits of numbers."""
    for pattern, replacement in MASKED:
        text = pattern.sub(replacement, text)
    return text


def test_the_document_tells_of_both_releases():
    assert {fault.release for fault in faults()} >= {"0.33.0", "0.32.0"}


@pytest.mark.parametrize("fault", faults(), ids=str)
def test_the_lines_repeat_the_fault(pool_address, fault):
    """The answer is the one that the document shows, or matches what it says."""
    lease = Lease(pool_address, spec(fault), exclusive=True)
    try:
        ran = subprocess.run(
            ["bash", "-c", fault.lines],
            env={**os.environ, "NODE": lease.url},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    finally:
        lease.close()
    if fault.is_pattern:
        assert re.search(fault.answer, ran.stdout)
        return
    answer = fault.answer.partition("\n")[2]  # its first line is the status
    here, shown = (masked("\n".join(fenced(text.strip()))) for text in (ran.stdout, answer))
    if shown.endswith(" …"):
        shown = shown[: -len(" …") - CUT_VALUE]
        here = here[: len(shown)]
    assert here == shown
