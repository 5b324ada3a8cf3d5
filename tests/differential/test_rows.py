# SPDX-License-Identifier: Apache-2.0
"""Every row's example, and other calls like it: results, aliasing and all events as PyTorch's."""

import known
import processor
import pytest
from compare import difference
from table import Row
from trials import Trial

# Differing calls of one row that are spelled out.
SHOWN = 5


def differences(row: Row, trials: list[Trial]) -> list[str]:
    out = []
    for trial in trials:
        extent = known.extent_of(row, trial.call, trial.ours.get("refused", ""))
        extent = min(extent, processor.extent(row, trial.call))
        found = difference(trial.ours, trial.theirs, extent)
        if found is not None:
            out.append(f"compare.py {str(trial.call)!r}\n{found}")
    return out


def of_row(trials: dict[str, list[Trial]], row: Row) -> list[Trial]:
    if row.name not in trials:
        pytest.skip(known.trial_reason(row.name) or "no example")
    return trials[row.name]


def test_example(row: Row, trials: dict[str, list[Trial]]) -> None:
    example = of_row(trials, row)[0]
    assert "refused" not in example.theirs, f"PyTorch refuses the example: {example.theirs}"
    found = differences(row, [example])
    if found:
        pytest.fail(found[0], pytrace=False)
    if why := processor.obstacle(row, example.call):
        if processor.runs_other_kernels(row, example.call):
            pytest.skip(f"not compared: {why}")
        pytest.skip(f"equal but for private buffers, which were not compared: {why}")


def test_other_calls(row: Row, trials: dict[str, list[Trial]]) -> None:
    found = differences(row, of_row(trials, row)[1:])
    if found:
        shown = "\n\n".join(found[:SHOWN])
        pytest.fail(f"{len(found)} calls differ:\n\n{shown}", pytrace=False)
