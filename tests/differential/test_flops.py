# SPDX-License-Identifier: Apache-2.0
"""Twice the multiply-adds of each row against torch.utils.flop_counter."""

import pytest
import torch
from counted import counter
from recorder import attempt
from table import Row
from trials import Trial


def count(trial: Trial) -> int | None:
    """What the counter makes of the call; None where a decomposition of its own fails."""
    made, _ = attempt(trial.call)
    assert made is not None
    counting = counter()
    try:
        with torch.no_grad(), counting:
            made.run()
    except (IndexError, RuntimeError):
        return None
    return int(counting.get_total_flops())


def test_flops(row: Row, trials: dict[str, list[Trial]]) -> None:
    found = []
    for trial in trials.get(row.name, ()):
        if "macs" not in trial.ours or "refused" in trial.theirs:
            continue
        counted = count(trial)
        if counted is None and trial.ours["macs"] == 0:
            continue
        if counted != 2 * trial.ours["macs"]:
            found.append(f"{trial.call}: {2 * trial.ours['macs']} flops, PyTorch counts {counted}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)
