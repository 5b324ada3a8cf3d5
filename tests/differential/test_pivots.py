# SPDX-License-Identifier: Apache-2.0
"""Training steps of systems that are factorized: pivots are places, of which the first is 1.

The other tests fill integers with zeros, which PyTorch refuses here.
"""

from collections.abc import Sequence
from unittest.mock import patch

import pytest
import steps
from calls import parse
from compare import Seen, step_difference
from recorder import isolated
from steps import MadeStep, Step, program_of, steps_of
from table import weigh

CALLS = (
    "aten::linalg_lu_solve(f32[3,3], i32[3], f32[3,4])",
    "aten::linalg_lu_solve(f32[3,3]{1,3}, i32[3], f32[3,4]{1,3}, adjoint=True)",
    "aten::linalg_lu_solve(f64[2,3,3], i32[2,3], f64[2,3,1], adjoint=True)",
    "aten::linalg_lu_solve(f32[2,3,3], i32[2,3], f32[2,4,3], left=False)",
    "aten::linalg_lu_solve(f32[3,3], i32[3], f32[4,3], left=False, adjoint=True)",
)


class Pivoted(MadeStep):
    """A step in which every row changes places with the first."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        for tensor in self.inputs:
            if not tensor.dtype.is_floating_point:
                tensor.fill_(1)


def observe(asked: Sequence[Step]) -> list[Seen]:
    with patch.object(steps, "MadeStep", Pivoted):
        return steps.observe_steps(asked)


@pytest.mark.parametrize("call", CALLS)
def test_pivots(call: str) -> None:
    asked = steps_of(parse(call))
    theirs = isolated(observe, asked)
    assert not any("refused" in seen for seen in theirs)
    programs = [
        program_of(step, seen["wanted"], seen["is_complex"])
        for step, seen in zip(asked, theirs, strict=True)
    ]
    found = [
        f"{step}\n{differing}"
        for step, ours, seen in zip(asked, weigh(programs, "--steps"), theirs, strict=True)
        if (differing := step_difference(ours, seen)) is not None
    ]
    if found:
        pytest.fail("\n\n".join(found), pytrace=False)
