# SPDX-License-Identifier: Apache-2.0
"""Twice the multiply-adds of each row against torch.utils.flop_counter."""

import pytest
import torch
from answers import remembered
from calls import Call
from compare import Seen
from counted import counter
from recorder import attempt, in_child
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


def counted(trials: list[Trial]) -> list[Trial]:
    """Those that both sides have work for."""
    return [t for t in trials if "macs" in t.ours and "refused" not in t.theirs]


@pytest.fixture(scope="session")
def counts(trials: dict[str, list[Trial]]) -> dict[str, list[Seen]]:
    """By row, what the counter makes of its trials."""
    calls = [trial.call for of_row in trials.values() for trial in counted(of_row)]
    seen = iter(remembered("flops", lambda asked: in_child(count, asked), calls))
    return {name: [next(seen) for _ in counted(of_row)] for name, of_row in trials.items()}


def test_flops(row: Row, trials: dict[str, list[Trial]], counts: dict[str, list[Seen]]) -> None:
    found = []
    for trial, seen in zip(
        counted(trials.get(row.name, [])), counts.get(row.name, []), strict=True
    ):
        ours, theirs = 2 * trial.ours["macs"], seen.get("flops")
        if theirs != ours and (theirs is not None or ours):
            found.append(f"{trial.call}: {ours} flops, PyTorch counts {theirs}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)
