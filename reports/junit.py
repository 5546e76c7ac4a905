"""A report as JUnit XML, for what shows test results: Jenkins, GitLab, Buildkite, Azure.

The form is that of schema/junit.xsd. What the node did wrong is a failure; what could not be judged is
an error; a known failure and a missing capability are skipped, and say why.
"""

import xml.etree.ElementTree as tree
from collections.abc import Mapping, Sequence

from reports.case_id import CaseId
from reports.record import Report
from reports.summary import KNOWN_SINCE, by_chapter, cut, details, printable, words

ELEMENTS = {
    "failed": "failure",
    "error": "error",
    "not_judged": "error",
    "known_failing": "skipped",
    "unsupported": "skipped",
}
RUN = "the run itself"


def document(report: Report) -> str:
    """The whole document; a suite per chapter, and one of the run's own problems where it has any."""
    rules = report.header["requirements"]
    started = report.header["started"].rstrip("Z\n")
    root = tree.Element("testsuites")
    for key, cases in by_chapter(report).items():
        suite = tree.SubElement(root, "testsuite", _attributes(" on ".join(key), cases))
        suite.set("timestamp", started)
        for case in cases:
            suite.append(_case(case, rules))
    if problems := _problems(report):
        suite = tree.SubElement(root, "testsuite", _counts(len(problems), 0, len(problems)))
        suite.set("name", RUN)
        for number, problem in enumerate(problems, 1):
            case = tree.SubElement(suite, "testcase", name=f"problem {number}", classname=RUN)
            tree.SubElement(case, "error", message=cut(problem), type="problem").text = printable(
                problem
            )
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key)) for suite in root)))
    root.set("name", printable(f"tokenwire {', '.join(report.header['targets'])}"))
    root.set("time", _seconds(report.cases))
    tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tree.tostring(root, "unicode") + "\n"


def _problems(report: Report) -> list[str]:
    """What keeps the exit code from 0 beside the cases."""
    footer = report.footer
    problems = list(footer["problems"])
    if footer["exit_code"] and not problems and not footer["counts"].keys() & _BAD:
        problems.append(f"the run ended with exit code {footer['exit_code']}.")
    return problems


_BAD = {status for status, element in ELEMENTS.items() if element != "skipped"}


def _attributes(name: str, cases: Sequence[Mapping]) -> dict[str, str]:
    found = [ELEMENTS.get(case["status"]) for case in cases]
    counts = _counts(len(cases), found.count("failure"), found.count("error"))
    return {
        "name": printable(name),
        **counts,
        "skipped": str(found.count("skipped")),
        "time": _seconds(cases),
    }


def _counts(tests: int, failures: int, errors: int) -> dict[str, str]:
    return {"tests": str(tests), "failures": str(failures), "errors": str(errors)}


def _seconds(cases: Sequence[Mapping]) -> str:
    return f"{sum(case['seconds'] for case in cases):.3f}"


def _case(case: Mapping, rules: Mapping[str, Mapping]) -> tree.Element:
    id = CaseId.of(case["id"])
    path = id.file.removesuffix(".py").replace("/", ".")
    element = tree.Element(
        "testcase",
        # What has no function is named by its file.
        name=printable((id.names[-1] if id.names else path) + id.parameters),
        classname=printable(".".join([path, *id.names[:-1]])),
        time=_seconds([case]),
    )
    if kind := ELEMENTS.get(case["status"]):
        first = case.get("message", "").partition("\n")[0]
        if kind == "skipped":
            first = f"{words(case['status'])}: {KNOWN_SINCE.sub('', first)}"
        told = tree.SubElement(element, kind, type=case["status"], message=cut(first))
        told.text = "\n".join(["", *details(case, rules), ""])
    return element
