"""Lines of a report, whole and small, for the tests of reports/ to change."""

from reports import record
from reports.evidence import evidence
from reports.record import Writer

TARGET = "reference@0.33.0"
RULE = {"text": "A node MUST answer.", "level": "must", "roles": ["generate"], "since": "0.22.1"}
NORMAL = {"planned": 1, "exit_code": 0, "problems": []}


def header(**changes):
    release = {"version": "0.33.0+cpu", "obtained": "CPU wheel", "packages": {"torch": "2.9.0"}}
    arguments = {
        "targets": [TARGET, "stock@0.32.0"],
        "releases": {"0.33.0": release},
        "engines": ["scripted", "cpu", "scripted"],
        "requirements": {"generate.a": RULE, "render.b": RULE},
        "seed": None,
        "command": ["pytest", "conformance/"],
    }
    return record.header(**arguments | changes)


def exchange(**changes):
    return {
        "method": "POST",
        "path": "/inference/v1/generate",
        "request_headers": {"Content-Type": "application/json"},
        "request": {"model": "tiny"},
        "status": 200,
        "headers": {},
        "body": b"{}",
        "seconds": 0.25,
        "node": "scripted-1",
        "curl": "curl -d '{}' http://127.0.0.1:1/",
    } | changes


def case(id="t::a", status="passed", *exchanges, **changes):
    line = {
        "id": id,
        "requirements": ["generate.a"],
        "target": TARGET,
        "engine": "scripted",
        "node": "scripted-1",
        "status": status,
        "seconds": 0.5,
    }
    return line | evidence(exchanges) | changes


# Whatever could steer a terminal, a page, a document or a command.
EVIL = (
    "\x1b[2J\x00\x0b\ufffe\ud800\u202e]]></failure><b>&amp; `` ``` ~~~ \\\\` | @team #12 GH-3\r"
    "::error::x\n::set-output name=x::y\n##[error]z\n```\n</details>\n<script>alert(1)</script>"
)


def write(path, *cases, resolved=None, head=None, **footer):
    writer = Writer(path, head or header())
    for line in cases:
        writer.case(line)
    writer.finish(
        cases if resolved is None else resolved,
        **{**NORMAL, "planned": len(cases), **footer},
    )
    return path
