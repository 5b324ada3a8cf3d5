# SPDX-License-Identifier: Apache-2.0
"""Twice the multiply-adds of each row against torch.utils.flop_counter."""

from math import prod
from typing import Any

import pytest
import torch
from recorder import attempt
from table import Row
from torch.utils.flop_counter import FlopCounterMode
from trials import Trial

aten = torch.ops.aten


def matrix_vector(matrix: tuple[int, ...], *_: Any, **__: Any) -> int:
    """One multiplication and one addition for each element of the matrix."""
    return 2 * prod(matrix)


def added_matrix_vector(_: tuple[int, ...], matrix: tuple[int, ...], *__: Any, **___: Any) -> int:
    return 2 * prod(matrix)


# Contractions that torch's counter does not know and counts as nothing.
NOT_COUNTED_BY_TORCH = {
    aten.mv: matrix_vector,
    aten.addmv: added_matrix_vector,
    aten.dot: matrix_vector,  # a matrix of one row
}


def count(trial: Trial) -> int:
    made, _ = attempt(trial.call)
    assert made is not None
    counter = FlopCounterMode(display=False, custom_mapping=NOT_COUNTED_BY_TORCH)
    with torch.no_grad(), counter:
        made.run()
    return int(counter.get_total_flops())


def test_flops(row: Row, trials: dict[str, list[Trial]]) -> None:
    found = []
    for trial in trials.get(row.name, ()):
        if "macs" not in trial.ours or "refused" in trial.theirs:
            continue
        counted = count(trial)
        if counted != 2 * trial.ours["macs"]:
            found.append(f"{trial.call}: {2 * trial.ours['macs']} flops, PyTorch counts {counted}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)
