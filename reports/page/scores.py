"""The part of the page's data that says how well the suite tells right from wrong."""

import shlex

from reports.mutants import ENDS
from reports.scores import Scores, chapter_of, in_words, percent


def scores_part(scores: Scores | None) -> dict | None:
    """Chapters, servers that do nothing, and lies; None where there are no scores.

    A chapter is [name, musts, guarded, mutants, caught], a server [name, what it does, share in words,
    how its cases ended, in the order of `ends`], a lie [chapter, name, lie, caught, cases], and a case
    of it [id, failed, rules].
    """
    if scores is None:
        return None
    shares = scores.shares()
    return {
        "sentence": in_words(scores),
        "runs": [[run["made"], shlex.join(run["command"]), run["release"]] for run in scores.document["runs"]],
        "musts": scores.musts,
        "chapters": [
            [name, row.musts, row.guarded, row.mutants, row.caught]
            for name, row in scores.chapters().items()
        ],
        "ends": list(ENDS),
        "nulls": [
            [name, null["does"], percent(shares[name]), [null["counts"].get(end, 0) for end in ENDS]]
            for name, null in scores.nulls.items()
        ],
        "lies": [
            [chapter_of(mutant), name, mutant["lie"], mutant["caught"],
             [[id, case["failed"], case["rules"]] for id, case in mutant["cases"].items()]]
            for name, mutant in scores.mutants.items()
        ],
    }  # fmt: skip
