# SPDX-License-Identifier: Apache-2.0
"""Every exception excuses something."""

from collections.abc import Iterable
from fnmatch import fnmatch

import known
import known_cuda
import pytest
from compare import Extent, difference, step_difference
from table import ROOT, Row, rows
from trials import Steps, Trial


def missing(trials: dict[str, list[Trial]]) -> bool:
    return not all(row.name in trials for row in rows() if row.example.startswith("aten::"))


def some_missing(steps: Steps) -> bool:
    tried = (row for row in rows() if row.example and not known.step_reason(row.name))
    return not all(row.name in steps for row in tried)


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


def test_step_differences_are_there(steps: Steps) -> None:
    if some_missing(steps):
        pytest.skip("only some rows are tested")
    by_name = {row.name: row for row in rows()}
    needed = {
        entry
        for entry in known.STEP_DIFFERENCES
        for name, of_row in steps.items()
        for step, ours, theirs in of_row
        if known.excuses(entry, by_name[name], step.call)
        and "refused" not in ours
        and known.extent_of(by_name[name], step.call, "") == Extent.ALL
        and step_difference(ours, theirs, Extent.ALL)
    }
    assert not [entry.why for entry in known.STEP_DIFFERENCES if entry not in needed]


def test_step_refusals_are_there(steps: Steps) -> None:
    if some_missing(steps):
        pytest.skip("only some rows are tested")
    refusals = [
        ours["refused"]
        for of_row in steps.values()
        for _, ours, theirs in of_row
        if "refused" in ours and "refused" not in theirs
    ]
    assert not [p for p in known.STEP_REFUSALS if not any(fnmatch(text, p) for text in refusals)]


def test_the_page_of_devices_counts_rows() -> None:
    """What docs/devices.md says of how many rows are tried on CUDA."""

    def of_any(row: Row, patterns: Iterable[str]) -> bool:
        return any(fnmatch(row.name, pattern) for pattern in patterns)

    pytorchs = [row for row in rows() if row.example and not known.namespace_reason(row.name)]
    tried = [row for row in pytorchs if not known_cuda.reason(row)]
    excused = [row for row in tried if of_any(row, (e.ops for e in known_cuda.DIFFERENCES))]
    page = (ROOT / "docs/devices.md").read_text()
    assert f"Of the {len(tried):,} rows\nthat can be tried" in page
    assert f"calls of {len(excused)} of them" in page
    assert f"{len(pytorchs) - len(tried)} further rows cannot be tried" in page
    open_rows = [row.name for row in tried if of_any(row, known_cuda.OPEN)]
    assert not open_rows, "the page says that all tried rows are right"
