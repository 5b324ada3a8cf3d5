# SPDX-License-Identifier: Apache-2.0
"""Training steps of every row's example and of calls like it.

Events, what autograd saves and gradients, as PyTorch's.
"""

import known
import processor
import pytest
from calls import parse
from compare import Extent, Seen, step_difference
from steps import Step, steps_of, try_steps
from table import Row
from trials import typical_calls
from variants import variants

# Differing steps of one row that are spelled out.
SHOWN = 3
# How many variants of each example are differentiated; PyTorch accepts two of three.
VARIANTS = 12

Steps = dict[str, list[tuple[Step, Seen, Seen]]]


@pytest.fixture(scope="session")
def steps(request: pytest.FixtureRequest) -> Steps:
    """The steps of the rows that are selected, by name."""
    chosen: dict[str, list[Step]] = {}
    for item in request.session.items:
        row = item.callspec.params.get("row") if hasattr(item, "callspec") else None
        if isinstance(row, Row) and row.example and not known.step_reason(row.name):
            chosen[row.name] = steps_of_row(row)
    tried = iter(try_steps([step for of_row in chosen.values() for step in of_row]))
    return {name: [next(tried) for _ in of_row] for name, of_row in chosen.items()}


def steps_of_row(row: Row) -> list[Step]:
    count = 0 if row.name in known.TRUSTING else VARIANTS
    calls = [parse(row.example), *typical_calls(row), *variants(row, count)]
    return [step for call in calls for step in steps_of(call)]


def extent_of(row: Row, step: Step, refusal: str) -> Extent:
    extent = known.extent_of_step(row, step.call, refusal)
    return min(extent, Extent.PUBLIC) if processor.obstacle(row, step.call) else extent


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
