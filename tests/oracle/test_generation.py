# SPDX-License-Identifier: Apache-2.0
"""Each call of a generation is what transformers does: every allocation and free, flops, the cache.

tests/data/generation holds what eager PyTorch did (tools/measure_generation.py), tests/data/hf the
configs of the models.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Weigh

TRUTHS = sorted((ROOT / "tests/data/generation").glob("*.truth.json"))
# The tokens that are written until the call of that name is the last.
TOKENS = {"prompt": 1, "first": 2}
CASES = [
    (path.name.removesuffix(".truth.json"), step)
    for path in TRUTHS
    for step in ("prompt", "first", "last")
]


def config_of(name: str) -> Path:
    """Some are measured with several beams, too."""
    return ROOT / "tests/data/hf" / name.removesuffix("-beams")


def weighed(name: str, step: str, weigh: Weigh) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was measured of a call, and the report of a generation that ends with it."""
    truth = json.loads((ROOT / f"tests/data/generation/{name}.truth.json").read_text())
    tokens = TOKENS.get(step, truth["tokens"])
    asked = ["--batch", str(truth["batch"]), "--generate", f"{truth['prompt']}+{tokens}"]
    if truth["beams"] > 1:
        asked += ["--beams", str(truth["beams"])]
    return truth["calls"][step], weigh(config_of(name), "--events", *asked)


def of_operators(events: list[list[Any]]) -> list[tuple[str, int]]:
    """As they are, but for the numbers that tensors are made of, of eight bytes.

    Python makes them before it calls an operator and lets them go after it, and so do we; an
    exported program, whose rows these are, lets them go inside of it. Nor is an autograd function
    an operator, whose name the profiler gives to what Python does in it.
    """
    number = -8
    return [
        ("" if size == number or "::" not in op else op.split(".")[0], size)
        for op, size, *_ in events
    ]


def test_there_are_truths() -> None:
    assert len(TRUTHS) >= 10


@pytest.mark.parametrize(("name", "step"), CASES)
def test_a_call_is_what_transformers_runs(name: str, step: str, weigh: Weigh) -> None:
    measured, report = weighed(name, step, weigh)
    assert of_operators(report["memory"]["events"]) == of_operators(measured["events"])
    call = report["generation"]["calls"][-1]
    assert call["cache"] == measured["held"]
    if "flops" in measured:
        assert call["flops"] == measured["flops"]


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_a_forward_pass_that_keeps_keys_and_values(name: str, weigh: Weigh) -> None:
    truth = json.loads((ROOT / f"tests/data/generation/{name}.truth.json").read_text())
    sizes = ("--batch", str(truth["batch"] * truth["beams"]), "--seq", str(truth["prompt"]))
    report = weigh(config_of(name), "--events", "--use-cache", *sizes)
    wanted = of_operators(truth["use_cache"]["events"])
    assert of_operators(report["memory"]["events"]) == wanted


CACHES = json.loads((ROOT / "tests/data/generation/caches.json").read_text())


@pytest.mark.parametrize(
    "row",
    CACHES["rows"],
    ids=lambda row: f"{row['model']}-{row['flags'][-1]}-{row.get('backend')}-{row['tokens']}",
)
def test_other_caches_hold_what_those_of_transformers_do(row: dict[str, Any], weigh: Weigh) -> None:
    model = ROOT / "tests/data/hf" / row["model"]
    lengths = f"{row['prompt']}+{row['tokens']}"
    asked = ["--batch", str(CACHES["batch"]), "--generate", lengths, *row["flags"]]
    if "refused" in row:
        binary = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
        command = [binary, "weigh", str(model), *asked]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "layers of this model look through a window" in done.stderr
        return
    calls = weigh(model, *asked)["generation"]["calls"]
    assert [call["cache"] for call in calls] == row["held"]
