"""Reports made for the page to show: every status, two sides, an upgrade grid, hostile words, many cases."""

import json
import random

from reports.compare import Comparison, compare
from reports.record import Report
from tests.unit.report_lines import case, exchange, header

OLD, NEW = "stock@0.32.0", "stock@0.33.0"
CURL = "curl -sS -X POST http://127.0.0.1:1/inference/v1/generate --data-raw '{\"n\": 3}'"
REPLAY = "pytest 't::failed' --impl stock --vllm 0.33.0"

RULES = {
    "generate.answers": ("must", ["generate"], "A node MUST answer."),
    "generate.counts": ("must", ["generate"], "A node MUST count its tokens."),
    "generate.words": ("should", ["generate"], "A refusal SHOULD say why."),
    "render.templates": ("must", ["render"], "A node MUST apply its template."),
    "derender.text": ("survey", ["derender"], "What a node makes of no token."),
    "upgrade.agrees": ("must", ["render", "generate"], "Two releases MUST agree."),
}

# Each sets window.hacked where it becomes markup or code.
HOSTILE = (
    "<img src=x onerror=\"window.hacked='image'\">",
    "</script><script>window.hacked='script'</script>",
    "<!--<script>window.hacked='comment'</script>",
    "\"'><svg onload=\"window.hacked='svg'\">",
    "\u2028window.hacked='line'\u2029\u202egnp.exe\ud800",
    "javascript:window.hacked='link'",
)


def rules(names=RULES):
    return {
        name: {
            "text": text,
            "level": level,
            "roles": roles,
            "since": "0.20.2",
            "references": ["vllm-project/vllm#9", "GEN-01"],
            "needs": [] if name == "generate.answers" else ["generate.answers"],
        }
        for name, (level, roles, text) in names.items()
    }


def report(target, *cases, names=None, **footer):
    counts = {}
    for line in cases:
        counts[line["status"]] = counts.get(line["status"], 0) + 1
    end = {"finished": "2026-01-01T00:01:00Z", "planned": len(cases), "reported": len(cases)}
    return Report(
        header(targets=[target], requirements=names or rules()),
        cases,
        {**end, "counts": counts, "exit_code": 0, "problems": [], **footer},
    )


def answer(count, **changes):
    body = json.dumps({"usage": {"completion_tokens": count}, "created": 1, "big": 2**70})
    return exchange(request={"n": count}, body=body.encode(), curl=CURL, **changes)


def cases(target, failed="failed", count=4):
    """One case of each status; `count` is what the failed one was answered."""

    def line(name, status, rule, *exchanges, **changes):
        return case(
            f"t.py::{name}", status, *exchanges, requirements=[rule], target=target, **changes
        )

    return (
        line("passed", "passed", "generate.answers", answer(3)),
        line("failed", failed, "generate.counts", answer(3), answer(count),
             message=f"AssertionError: {count} != 3", replay=REPLAY),
        line("known", "known_failing", "generate.words", answer(3), observed="failed",
             message="known failing since 0.20.2: It says nothing. (vllm-project/vllm#1)"),
        line("unsupported", "unsupported", "render.templates", answer(3), message="has no render"),
        line("error", "error", "derender.text", message="the node died"),
        *(line(f"passed-{number}", "passed", "generate.answers", answer(3)) for number in range(4)),
    )  # fmt: skip


def cell(render, generate, outcome, expected=None, exchange="chat[a]"):
    expected = expected or outcome
    mix = {"render": f"stock@{render}", "generate": f"stock@{generate}", "exchange": exchange}
    told = {"rule": f"it-{outcome}", "reason": "so it is", "reference": "EVOLUTION 3.2"}
    return case(
        f"u.py::{render}-{generate}-{exchange}", "passed" if expected == outcome else "failed",
        answer(3), requirements=["upgrade.agrees"], target=NEW,
        cell=mix | told | {"outcome": outcome, "expected": expected},
    )  # fmt: skip


def single() -> Report:
    """One side with every status and a grid of four cells."""
    cells = [
        cell("0.32.0", "0.32.0", "interoperates"),
        cell("0.32.0", "0.33.0", "degrades"),
        cell("0.33.0", "0.32.0", "breaks", "interoperates"),
        cell("0.33.0", "0.33.0", "interoperates"),
        cell("0.33.0", "0.33.0", "refuses_cleanly", exchange="stream"),
    ]
    return report(NEW, *cases(NEW), *cells, exit_code=1, problems=["lost: t::z."])


def both() -> tuple[Report, Report, Comparison]:
    """The new side, the old one and their comparison: one case fails anew, a key was removed."""
    shape = {"(body)": ["object"], "usage": ["object"]}
    route = "POST /inference/v1/generate 200"
    new, old = list(cases(NEW)), list(cases(OLD, "passed", 3))
    new[0] = new[0] | {"shapes": {route: shape}}
    old[0] = old[0] | {"shapes": {route: shape | {"usage.gone": ["integer"]}}}
    sides = report(NEW, *new, exit_code=1), report(OLD, *old)
    return *sides, compare(sides[1], sides[0], ())


def measuring(target=NEW) -> Report:
    """Cases that measured: log probabilities within and beyond their limit and under load, aborts."""

    def line(name, rule, *measures, status="passed"):
        keys = ("name", "value", "limit", "unit")
        told = [dict(zip(keys, measure, strict=True)) for measure in measures]
        return case(
            f"m.py::{name}", status, answer(3), requirements=[rule], target=target, measured=told
        )

    difference, abort = "logprob difference", "abort"
    return report(
        target,
        line("agrees", "generate.answers", (difference, 3.1e-4, 1e-3, "nats")),
        line("same", "generate.answers", (difference, 0.0, 1e-3, "nats")),
        line("drifts", "generate.answers", ("logprob drift under load", 0.015, None, "nats")),
        line("differs", "generate.counts", (difference, 0.02, 1e-3, "nats"), status="failed"),
        line(
            "stops", "generate.words",
            (abort, 0.31, 5.0, "seconds"), (abort, 130, 4072.0, "tokens"),
        ),
        line("stops-late", "generate.words", (abort, 2.01, 2.0, "seconds"), status="failed"),
        exit_code=1,
    )  # fmt: skip


def hostile() -> Report:
    """Every word that a server, a rule or a case may say is one of HOSTILE."""
    names = {
        f"generate.{number}{word}": ("must", [word], word) for number, word in enumerate(HOSTILE)
    }
    told = rules(names)
    lines = []
    for number, (word, name) in enumerate(zip(HOSTILE, names, strict=True)):
        told[name] |= {"since": word, "references": [word]}
        lines.append(
            case(
                f"{word}.py::{word}{number}", "failed",
                exchange(path=f"/{word}", body=word, error=word, node=word, curl=word,
                         headers={"x": word}, request=word, method=word),
                requirements=[name], target=NEW, node=word, message=word, replay=word,
                measured=[{"name": word, "value": 1.0, "limit": None, "unit": "nats"}],
                cell={"render": NEW, "generate": NEW, "exchange": word, "rule": word, "reason": word},
            )
        )  # fmt: skip
    return report(NEW, *lines, names=told, exit_code=1, problems=list(HOSTILE))


def large(count=10_000) -> Report:
    """`count` cases of a thousand rules; every tenth fails, with what a stream answers; each
    measured something."""
    words = "the answer of a node must hold every token that the engine made and no other"
    chapters = ("derender", "generate", "logprobs", "override", "render", "upgrade")
    names = {
        f"{chapters[number % 6]}.rule-{number}": (
            "must", ["generate"], words[: 30 + number % 50].capitalize() + "."
        )
        for number in range(1000)
    }  # fmt: skip
    ids = list(names)

    def difference(value):
        return {"name": "logprob difference", "value": value, "limit": 1e-3, "unit": "nats"}

    lines, chance = [], random.Random(1)
    for number in range(count):
        rule = ids[number % 1000]
        chunks = (
            {"choices": [{"token_ids": [chance.randrange(32_000)], "logprob": -chance.random()}]}
            for _ in range(30)
        )
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        name = f"conformance/{rule.split('.')[0]}/test_{number % 200}.py::test_case_{number}[a-b]"
        status = "failed" if number % 10 == 0 else "passed"
        lines.append(
            case(name, status, answer(number), exchange(body=body.encode()), requirements=[rule],
                 target=NEW, message=f"AssertionError: {number} != 3", replay=REPLAY,
                 measured=[difference(chance.choice([0.0, 10 ** -chance.uniform(2, 7)]))])
        )  # fmt: skip
    return report(NEW, *lines, names=rules(names), exit_code=1)
