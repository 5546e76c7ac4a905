"""What a case raised decides its outcome, and its own sentence is what is told."""

import asyncio

import pytest

from fixtures import verdict
from fixtures.nodes.lease import NodeProblem
from fixtures.outcome import CaseRecord, Unsupported


async def fails(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "outcome", "message"),
    [
        (AssertionError("3 wait, not 2"), verdict.FAILED, "AssertionError: 3 wait, not 2"),
        (Unsupported("it has no LoRA"), verdict.UNSUPPORTED, "it has no LoRA"),
        (NodeProblem("it does not start"), verdict.ERROR, "it does not start"),
    ],
)
def test_one_error_of_a_task_group_is_told_as_itself(error, outcome, message):
    async def case():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fails(error))

    record = CaseRecord()
    record.saw(pytest.CallInfo.from_call(lambda: asyncio.run(case()), "call"), None)
    assert (record.outcome, record.message) == (outcome, message)


def test_of_several_each_is_told():
    def case():
        raise ExceptionGroup("two", [AssertionError("first"), ValueError("second")])

    record = CaseRecord()
    record.saw(pytest.CallInfo.from_call(case, "call"), None)
    told = "AssertionError: first\nValueError: second"
    assert (record.outcome, record.message) == (verdict.FAILED, told)
