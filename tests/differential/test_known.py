# SPDX-License-Identifier: Apache-2.0
"""Every exception excuses something."""

from fnmatch import fnmatch

import known
import pytest
from compare import Extent, difference
from table import rows
from trials import Trial


def missing(trials: dict[str, list[Trial]]) -> bool:
    return not all(row.name in trials for row in rows() if row.example.startswith("aten::"))


def test_differences_are_there(trials: dict[str, list[Trial]]) -> None:
    if missing(trials):
        pytest.skip("only some rows are tested")
    by_name = {row.name: row for row in rows()}
    needed = {
        entry.why
        for entry in known.DIFFERENCES
        for name, of_row in trials.items()
        for trial in of_row
        if known.excuses(entry, by_name[name], trial.call)
        and "refused" not in trial.ours
        and difference(trial.ours, trial.theirs, Extent.ALL)
    }
    assert {entry.why for entry in known.DIFFERENCES} == needed


def test_refusals_are_there(trials: dict[str, list[Trial]]) -> None:
    if missing(trials):
        pytest.skip("only some rows are tested")
    refusals = [
        trial.ours["refused"]
        for of_row in trials.values()
        for trial in of_row
        if "refused" in trial.ours and "refused" not in trial.theirs
    ]
    idle = [p for p in known.REFUSALS if not any(fnmatch(text, p) for text in refusals)]
    assert not idle
