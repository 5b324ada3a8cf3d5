# SPDX-License-Identifier: Apache-2.0
"""The calls the tests compare, each made once by either side."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import known
import pytest
from answers import remembered
from calls import Call, parse
from compare import Seen
from recorder import judge, observe
from steps import Step, steps_of, try_steps
from table import Row, weigh
from variants import variants

HERE = Path(__file__).resolve().parent

# How many variants of each example PyTorch is asked; it accepts four of five.
VARIANTS = 60
# How many variants of each example are differentiated; PyTorch accepts two of three.
STEP_VARIANTS = 12

# By row: each step with what it is on our side and on PyTorch's.
Steps = dict[str, list[tuple[Step, Seen, Seen]]]


@dataclass(frozen=True)
class Trial:
    """One call and what came of it on either side."""

    call: Call
    ours: Seen
    theirs: Seen


def selected(request: pytest.FixtureRequest) -> list[Row]:
    """The rows of the tests that run."""
    chosen: dict[str, Row] = {}
    for item in request.session.items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            row = item.callspec.params.get("row")
            if isinstance(row, Row):
                chosen[row.name] = row
    return list(chosen.values())


def typical_calls(row: Row, file: str = "typical_calls.txt") -> list[Call]:
    """Those of the file that call the row's operator."""
    lines = (HERE / file).read_text().splitlines()
    return [parse(line) for line in lines if line.startswith(f"{row.name}(")]


def count_for(row: Row) -> int:
    return 0 if row.name in known.TRUSTING else VARIANTS


def try_rows(rows: Iterable[Row]) -> dict[str, list[Trial]]:
    """By row: the example, then other calls. Rows that PyTorch cannot be asked about have none."""
    calls = {
        row.name: [parse(row.example), *typical_calls(row), *variants(row, count_for(row))]
        for row in rows
        if row.example and not known.trial_reason(row.name)
    }
    flat = [call for of_row in calls.values() for call in of_row]
    ours = weigh([str(call) for call in flat])
    # What a row refuses PyTorch may take and write out of bounds: it is tried, but not in here.
    answers = [(call, "events" in seen) for call, seen in zip(flat, ours, strict=True)]
    observed = iter(remembered("call", observe, [call for call, answered in answers if answered]))
    judged = iter(
        remembered("judgement", judge, [call for call, answered in answers if not answered])
    )
    theirs = [next(observed if answered else judged) for _, answered in answers]
    found = (Trial(*trial) for trial in zip(flat, ours, theirs, strict=True))
    return {name: [next(found) for _ in of_row] for name, of_row in calls.items()}


def try_steps_of(rows: Iterable[Row]) -> Steps:
    """The training steps of rows that can be differentiated."""
    chosen = {
        row.name: steps_of_row(row)
        for row in rows
        if row.example and not known.step_reason(row.name)
    }
    tried = iter(try_steps([step for of_row in chosen.values() for step in of_row]))
    return {name: [next(tried) for _ in of_row] for name, of_row in chosen.items()}


def steps_of_row(row: Row) -> list[Step]:
    count = 0 if row.name in known.TRUSTING else STEP_VARIANTS
    calls = [parse(row.example), *typical_calls(row), *variants(row, count)]
    return [step for call in calls for step in steps_of(call)]
