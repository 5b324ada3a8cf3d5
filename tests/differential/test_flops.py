# SPDX-License-Identifier: Apache-2.0
"""Twice the multiply-adds of each row against torch.utils.flop_counter, told of what it does not
know; and as it prints them itself."""

import re

import pytest
import torch
from answers import remembered
from calls import Call
from compare import Seen
from counted import counter
from recorder import attempt, in_child
from table import Row
from torch.utils.flop_counter import FlopCounterMode
from trials import Trial

# What the counter prints of these is not told: an LSTM of float16 takes another path where a mode
# sees it; groups that run one after the other are no kernel with groups, of which the counter's
# formula for gradients is wrong.
NOT_TOLD = re.compile(r"aten::lstm.input\(f16|aten::convolution_backward\((f64|f16).*, [2-9], \[")


def count(call: Call) -> Seen:
    """What the counter makes of the call, told of what it does not know and as it is; None where a
    decomposition or a formula of its own fails."""
    return {
        "flops": _flops(call, counter()),
        "printed": _flops(call, FlopCounterMode(display=False)),
    }


def _flops(call: Call, counting: FlopCounterMode) -> int | None:
    made, _ = attempt(call)
    assert made is not None
    try:
        with torch.no_grad(), counting:
            made.run()
    except (AssertionError, IndexError, RuntimeError, TypeError, ValueError):
        return None
    return int(counting.get_total_flops())


def counted(trials: list[Trial]) -> list[Trial]:
    """Those that both sides have work for."""
    return [t for t in trials if "macs" in t.ours and "refused" not in t.theirs]


@pytest.fixture(scope="session")
def counts(trials: dict[str, list[Trial]]) -> dict[str, list[Seen]]:
    """By row, what the counter makes of its trials."""
    calls = [trial.call for of_row in trials.values() for trial in counted(of_row)]
    seen = iter(remembered("flops, printed", lambda asked: in_child(count, asked), calls))
    return {name: [next(seen) for _ in counted(of_row)] for name, of_row in trials.items()}


def test_flops(row: Row, trials: dict[str, list[Trial]], counts: dict[str, list[Seen]]) -> None:
    found = []
    for trial, seen in zip(
        counted(trials.get(row.name, [])), counts.get(row.name, []), strict=True
    ):
        ours, theirs = 2 * trial.ours["macs"], seen.get("flops")
        if theirs != ours and (theirs is not None or ours):
            found.append(f"{trial.call}: {ours} flops, PyTorch counts {theirs}")
        ours, theirs = 2 * trial.ours["printed"], seen.get("printed")
        if theirs not in (None, ours) and not NOT_TOLD.match(str(trial.call)):
            found.append(f"{trial.call}: PyTorch would print {ours} flops, and prints {theirs}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)
