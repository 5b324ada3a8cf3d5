# SPDX-License-Identifier: Apache-2.0
"""The values of gradients: what the kernels of a training step compute is what autograd does.

The program of kernels that a step becomes is run with PyTorch's kernels, on random numbers.
"""

import math

import known
import processor
import pytest
from calls import Call, Tensor, parse
from compare import Extent, Seen
from interpreter import kernels_of
from recorder import isolated
from steps import Step, overwrites, steps_of
from table import Row, rows
from trials import typical_calls
from values import compare_values, programs_of
from variants import variants

# How many variants of each example are differentiated.
VARIANTS = 3
# Differing steps of one row that are spelled out.
SHOWN = 3

Compared = dict[str, list[tuple[Step, Seen]]]


def tried(row: Row) -> bool:
    return bool(row.example) and not known.step_reason(row.name)


@pytest.fixture(scope="session")
def compared(request: pytest.FixtureRequest) -> Compared:
    """The steps of the rows that are selected, by name."""
    chosen: dict[str, list[Step]] = {}
    for item in request.session.items:
        row = item.callspec.params.get("row") if hasattr(item, "callspec") else None
        if isinstance(row, Row) and tried(row):
            chosen[row.name] = steps_of_row(row)
    found = iter(isolated(compare_values, [step for of_row in chosen.values() for step in of_row]))
    return {name: [(step, next(found)) for step in of_row] for name, of_row in chosen.items()}


def steps_of_row(row: Row) -> list[Step]:
    """Of the example each gradient alone, too; how the loss is reduced does not matter."""
    count = 0 if row.name in known.TRUSTING else VARIANTS
    calls = [*typical_calls(row), *variants(row, count)]
    together = [step for call in calls for step in steps_of(call)[:1]]
    alone = [step for step in steps_of(parse(row.example)) if step.reduction == "sum"]
    return [
        step
        for step in alone + together
        if not any(map(is_expanded, leaves_of(step)))
        and not (row.family == "convolution" and processor.runs_other_kernels(row, step.call))
    ]


def leaves_of(step: Step) -> list[Tensor]:
    tensors = list(step.call.tensors())
    return [tensors[i] for i in step.leaves]


def is_expanded(tensor: Tensor) -> bool:
    """The optimizer, which tells whose a gradient is, overwrites no such tensor."""
    return any(n > 1 and s == 0 for n, s in zip(tensor.sizes, tensor.strides, strict=True))


def differing(row: Row, step: Step, seen: Seen) -> list[str]:
    """What no entry excuses."""
    if "refused" in seen:
        return []
    if "unknown" in seen:
        excused = known.extent_of_step(row, step.call, seen["unknown"]) == Extent.NOTHING
        return [] if excused else [seen["unknown"]]
    return [
        f"{draw}: {text}"
        for draw, texts in seen["draws"].items()
        if not known.value_excuses(row, step.call, draw)
        for text in texts
    ]


def test_values(row: Row, compared: Compared) -> None:
    if row.name not in compared:
        pytest.skip(known.step_reason(row.name) or "no example")
    found = []
    for step, seen in compared[row.name]:
        texts = differing(row, step, seen)
        if texts:
            found.append("\n  ".join([str(step), *texts]))
    if found:
        shown = "\n\n".join(found[:SHOWN])
        pytest.fail(f"{len(found)} steps differ:\n\n{shown}", pytrace=False)
    if not any(seen.get("draws") for _, seen in compared[row.name]):
        pytest.skip("it has no gradient")


def test_differences_are_there(compared: Compared) -> None:
    if not all(row.name in compared for row in rows() if tried(row)):
        pytest.skip("only some rows are tested")
    by_name = {row.name: row for row in rows()}
    needed = {
        why
        for name, of_row in compared.items()
        for step, seen in of_row
        for draw, texts in seen.get("draws", {}).items()
        if texts
        for why in known.value_excuses(by_name[name], step.call, draw)
    }
    assert {entry.why for entry in known.VALUE_DIFFERENCES} == needed


@pytest.mark.parametrize("number", [0.5, 0.1, 1e-300, 3.0, math.inf, -math.inf, math.nan])
def test_numbers_survive(number: float) -> None:
    call = Call("aten::mul.Scalar", (Tensor.contiguous("f64", (2,)), number))
    (seen,) = isolated(programs_of, [Step(call, (0,), "sum", overwrites(call))])
    boxed = [
        kernel.arguments[0].value
        for kernel in kernels_of(seen["program"])
        if kernel.op == "steelyard::box"
    ]
    assert boxed
    assert all(repr(value) == repr(number) for value in boxed)
