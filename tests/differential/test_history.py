# SPDX-License-Identifier: Apache-2.0
"""Which results of an operator have a history, and which operators PyTorch refuses to
differentiate: for the example of every row, of each of its tensors."""

from collections.abc import Sequence

import known
import pytest
from answers import remembered
from calls import Call, parse
from compare import Seen
from recorder import in_child, isolated, refusal
from steps import MadeStep, Step, as_real, called, program_of, steps_of
from table import rows, weigh

# PyTorch refuses these examples for what else is in them.
OTHER_REFUSALS = {
    "aten::lift_fresh": "the tensor is a leaf, and its own result",
}
# At least this share of the results is compared; what is refused has none that could differ.
COMPARED = 0.75
NOT_IMPLEMENTED = "is not implemented"


def single_steps(call: Call) -> list[Step]:
    """A step for each tensor that may require a gradient."""
    steps = {step.leaves: step for step in steps_of(call)}
    return [step for leaves, step in steps.items() if len(leaves) == 1]


def asked() -> list[tuple[str, Step]]:
    return [
        (row.name, step)
        for row in rows()
        if row.example and not known.step_reason(row.name) and row.name not in OTHER_REFUSALS
        for step in single_steps(parse(row.example))
    ]


def history(step: Step) -> Seen:
    """Which results require a gradient; and whether a derivative is missing when it is asked."""
    try:
        outputs = MadeStep(step).forward()
    except Exception as error:  # whatever an operator raises
        return refusal(error)
    kept = [y for y in outputs if y is not None and y.requires_grad]
    seen: Seen = {
        "wanted": [y is not None and y.requires_grad for y in outputs],
        "is_complex": [y is not None and y.is_complex() for y in outputs],
        "missing": False,
    }
    try:
        if kept:
            sum((as_real(y).sum() for y in kept[1:]), as_real(kept[0]).sum()).backward()
    except Exception as error:  # whatever an operator raises
        seen["missing"] = NOT_IMPLEMENTED in refusal(error)["refused"]
    return seen


def ask(steps: Sequence[Step]) -> list[Seen]:
    return in_child(history, steps)


def answers_to(steps: Sequence[Step]) -> list[Seen]:
    return remembered("history", ask, steps)


def forward_of(step: Step, outputs: int) -> str:
    """A program in which something is differentiated, but nothing that the operator gives."""
    leaf = step.leaves[0]
    ends = [f"%own = aten::abs(%x{leaf})", "%loss = aten::sum(%own)"]
    ends += ["steelyard::backward(%loss) phase backward", "return %loss"]
    return "\t".join([*called(step, outputs), *ends])


@pytest.fixture(scope="module")
def tried() -> list[tuple[str, Step, Seen]]:
    steps = asked()
    answers = isolated(answers_to, [step for _, step in steps])
    return [
        (name, step, seen)
        for (name, step), seen in zip(steps, answers, strict=True)
        if seen.get("wanted")
    ]


def test_results_have_a_history(tried: list[tuple[str, Step, Seen]]) -> None:
    programs = [forward_of(step, len(seen["wanted"])) for _, step, seen in tried]
    wrong = []
    compared = 0
    for (_, step, seen), ours in zip(tried, weigh(programs, "--steps"), strict=True):
        theirs = {f"y{i}": wanted for i, wanted in enumerate(seen["wanted"])}
        found = ours.get("differentiable", {})  # a gradient that is not known is refused before
        compared += len(found)
        wrong += [f"{step}: {y}" for y, requires in found.items() if theirs[y] != requires]
    assert not wrong
    assert compared > COMPARED * sum(len(seen["wanted"]) for _, _, seen in tried)


def test_what_has_no_derivative_is_refused(tried: list[tuple[str, Step, Seen]]) -> None:
    missing = [(step, seen) for _, step, seen in tried if seen["missing"]]
    assert missing
    programs = [program_of(step, seen["wanted"], seen["is_complex"]) for step, seen in missing]
    taken = [
        str(step)
        for (step, _), ours in zip(missing, weigh(programs, "--steps"), strict=True)
        if "refused" not in ours
    ]
    assert not taken
