# SPDX-License-Identifier: Apache-2.0
"""Training steps in low precisions, against what PyTorch was measured to do with them.

tests/data/precision is made by tools/measure_precision.py: autocast to float16 with a gradient
scaler, autocast to bfloat16, and models that are in bfloat16 altogether.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Weigh
from test_truth import compare_events, settled

MODELS = ROOT / "tests/data/precision"
TRUTH: dict[str, dict[str, Any]] = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted(MODELS.glob("*.truth.json"))
}
OPTIMIZERS = ("sgd", "adamw")
# A precision: which export it is of, and what says the same to `steelyard weigh`.
PRECISIONS: dict[str, tuple[str, list[str]]] = {
    "fp16": ("", ["--amp", "fp16"]),
    "bf16": ("", ["--amp", "bf16"]),
    "pure": ("-bf16", []),
}
CASES = [(name, precision) for name in TRUTH for precision in PRECISIONS]


def asked(name: str, precision: str, optimizer: str) -> tuple[Path, list[str]]:
    suffix, arguments = PRECISIONS[precision]
    return MODELS / f"{name}{suffix}.pt2", ["--train", optimizer, *arguments]


def test_models_are_there() -> None:
    assert len(TRUTH) >= 4


@pytest.mark.parametrize(("name", "precision"), CASES)
def test_parameters(name: str, precision: str, weigh: Weigh) -> None:
    model, arguments = asked(name, precision, "sgd")
    report = weigh(model, *arguments)
    assert report["unmodelled"] == []
    measured = TRUTH[name][precision]["param_bytes"]
    by_dtype = report["parameters"]["by_dtype"]
    assert {f"torch.{dtype}": row["bytes"] for dtype, row in by_dtype.items()} == measured


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("name", "precision"), CASES)
def test_events(name: str, precision: str, optimizer: str, weigh: Weigh) -> None:
    model, arguments = asked(name, precision, optimizer)
    events = weigh(model, *arguments, "--events")["memory"]["events"]
    measured = TRUTH[name][precision][optimizer]["step2_events"]
    compare_events(settled(events), settled(measured))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("name", "precision"), CASES)
def test_peaks(name: str, precision: str, optimizer: str, weigh: Weigh) -> None:
    model, arguments = asked(name, precision, optimizer)
    truth = TRUTH[name][precision][optimizer]
    first = weigh(model, *arguments, "--first-step")["memory"]
    steady = weigh(model, *arguments)["memory"]
    assert (first["peak_delta"], steady["peak_delta"]) == (truth["step1_peak"], truth["step2_peak"])
    # A scaler keeps its scale, float32, and since when it has not grown, int32.
    of_scaler = 4 + 4 if precision == "fp16" else 0
    assert steady["training"]["optimizer_state"] == truth["state_bytes"] + of_scaler
