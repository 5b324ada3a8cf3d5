# SPDX-License-Identifier: Apache-2.0
"""Training steps of every row's example and of calls like it.

Events, what autograd saves and gradients, as PyTorch's.
"""

import known
import processor
import pytest
from compare import Extent, step_difference
from steps import Step
from table import Row
from trials import Steps

# Differing steps of one row that are spelled out.
SHOWN = 3


def extent_of(row: Row, step: Step, refusal: str) -> Extent:
    extent = known.extent_of_step(row, step.call, refusal)
    return min(extent, processor.extent(row, step.call))


def test_steps(row: Row, steps: Steps) -> None:
    if row.name not in steps:
        pytest.skip(known.step_reason(row.name) or "no example")
    found = []
    for step, ours, theirs in steps[row.name]:
        extent = extent_of(row, step, ours.get("refused", ""))
        differing = step_difference(ours, theirs, extent)
        if differing is not None:
            found.append(f"{step}\n{differing}")
    if found:
        shown = "\n\n".join(found[:SHOWN])
        pytest.fail(f"{len(found)} steps differ:\n\n{shown}", pytrace=False)
