"""What the cases of a report measured: as lines of the summary, and as plots of the page."""

from collections.abc import Iterator, Mapping, Sequence

from reports.record import Report

LOGPROBS, ABORTS = "Log probabilities", "Aborts"
# A measure's name -> the family that it is plotted with; any other name is a family of its own.
FAMILIES = {
    "logprob difference": LOGPROBS,
    "logprob drift under load": LOGPROBS,
    "abort": ABORTS,
}
UNITS = {"nats": "nats", "seconds": "s", "tokens": "tokens"}


def summary_lines(report: Report) -> Iterator[str]:
    """At most a line for log probabilities and one for aborts; each value with its limit and case.

    What a known failure measures is known.
    """
    cases = [case for case in report.cases if case["status"] != "known_failing"]
    found = [(case, measure) for case in cases for measure in case.get("measured", ())]
    several = len(report.header["targets"]) > 1
    for family, parts in SENTENCES.items():
        told = []
        for words, name, unit in parts:
            own = [one for one in found if (one[1]["name"], one[1]["unit"]) == (name, unit)]
            if own:
                told.append(f"{words} {_told(*max(own, key=_rank), several)}")
        if told:
            yield f"{family}: {'; '.join(told)}"


# Beginning of a line -> its parts: words, name and unit of what they tell.
SENTENCES = {
    "log probabilities": (
        ("largest difference", "logprob difference", "nats"),
        ("under load", "logprob drift under load", "nats"),
    ),
    "aborts": (("slowest", "abort", "seconds"), ("most tokens", "abort", "tokens")),
}


def _rank(found: tuple[Mapping, Mapping]) -> tuple[bool, float]:
    """What is beyond its limit comes first, and then the largest."""
    measure = found[1]
    return measure["limit"] is not None and measure["value"] > measure["limit"], measure["value"]


def _told(case: Mapping, measure: Mapping, several: bool) -> str:
    value, limit, unit = number(measure["value"]), measure["limit"], UNITS[measure["unit"]]
    if measure["unit"] != "tokens":
        value = f"{value} {unit}"
    bound = ""
    if limit is not None:
        bound = f" of {number(limit)} {unit}" if unit == "s" else f" of {number(limit)} allowed"
    where = f" ({case['id']}{' on ' + case['target'] if several else ''})"
    # Where all is 0, none of the cases is the largest.
    return f"{value}{bound}{where if measure['value'] else ''}"


def number(value: float) -> str:
    """Two or three digits, and all of a whole number: such as 0, 3.1e-4, 0.31, 2.01 and 4072."""
    if value >= 100:
        return f"{value:.0f}"
    if value == 0 or value >= 0.01:
        return f"{value:.3g}" if value >= 1 else f"{value:.2g}"
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


def plots(rows: Mapping[str, Sequence[Mapping | None]]) -> list[dict]:
    """The plots of a page whose columns are those of `rows`: case id to its line in each column.

    A plot: {"family", "unit", "rows"}; a row: [rule, dots]; a dot: [place of the case in `rows`,
    column, value, limit or None, name].
    """
    found: dict[tuple[str, str], dict[str, list]] = {}
    for place, row in enumerate(rows.values()):
        for column, case in enumerate(row):
            for measure in (case or {}).get("measured", ()):
                family = FAMILIES.get(measure["name"], measure["name"])
                rules = found.setdefault((family, measure["unit"]), {})
                dot = [place, column, *(measure[key] for key in ("value", "limit", "name"))]
                rules.setdefault(case["requirements"][0], []).append(dot)
    order = {key: at for at, key in enumerate((LOGPROBS, ABORTS))}
    return [
        {"family": family, "unit": unit, "rows": [list(row) for row in sorted(rules.items())]}
        for (family, unit), rules in sorted(
            found.items(),
            key=lambda one: (order.get(one[0][0], 2), list(UNITS).index(one[0][1]), one[0]),
        )
    ]
