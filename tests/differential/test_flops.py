# SPDX-License-Identifier: Apache-2.0
"""Twice the multiply-adds of each row against torch.utils.flop_counter."""

import pytest
import torch
from answers import remembered
from calls import Call
from compare import Seen
from counted import counter
from recorder import attempt
from table import Row
from trials import Trial


def count(call: Call) -> Seen:
    """What the counter makes of the call; None where a decomposition of its own fails."""
    made, _ = attempt(call)
    assert made is not None
    counting = counter()
    try:
        with torch.no_grad(), counting:
            made.run()
    except (IndexError, RuntimeError):
        return {"flops": None}
    return {"flops": int(counting.get_total_flops())}


def test_flops(row: Row, trials: dict[str, list[Trial]]) -> None:
    told = [
        trial
        for trial in trials.get(row.name, ())
        if "macs" in trial.ours and "refused" not in trial.theirs
    ]
    counts = remembered("flops", lambda calls: list(map(count, calls)), [t.call for t in told])
    found = []
    for trial, seen in zip(told, counts, strict=True):
        ours, counted = 2 * trial.ours["macs"], seen["flops"]
        if counted != ours and (counted is not None or ours):
            found.append(f"{trial.call}: {ours} flops, PyTorch counts {counted}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)
