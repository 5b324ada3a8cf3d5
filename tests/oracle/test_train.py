# SPDX-License-Identifier: Apache-2.0
"""Training steps of many kinds of models, against what PyTorch was measured to do with them.

tests/data/train is made by tools/measure_train.py.
"""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from conftest import ROOT, Weigh
from test_truth import compare_events

MODELS = ROOT / "tests/data/train"
TRUTH = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted(MODELS.glob("*.truth.json"))
}
OPTIMIZERS = ("sgd", "adamw")


def arguments(name: str, optimizer: str) -> list[str]:
    return ["--train", optimizer, *TRUTH[name]["options"]]


def test_models_are_there() -> None:
    assert len(TRUTH) >= 20


@pytest.mark.parametrize("name", TRUTH)
def test_parameters(name: str, weigh: Weigh) -> None:
    report, truth = weigh(MODELS / f"{name}.pt2", *arguments(name, "sgd")), TRUTH[name]
    assert report["unmodelled"] == []
    assert report["parameters"]["count"] == truth["params"]
    assert report["parameters"]["bytes"] == sum(truth["param_bytes"].values())


@pytest.mark.parametrize("name", TRUTH)
def test_events(name: str, weigh: Weigh) -> None:
    report = weigh(MODELS / f"{name}.pt2", *arguments(name, "sgd"), "--events")
    compare_events(report["memory"]["events"], TRUTH[name]["sgd"]["step2_events"])


@pytest.mark.parametrize(
    ("name", "optimizer"), [(name, o) for name in TRUTH for o in OPTIMIZERS if o in TRUTH[name]]
)
def test_peaks(name: str, optimizer: str, weigh: Weigh) -> None:
    model, truth = MODELS / f"{name}.pt2", TRUTH[name][optimizer]
    first = weigh(model, *arguments(name, optimizer), "--first-step")["memory"]
    steady = weigh(model, *arguments(name, optimizer))["memory"]
    assert first["peak_delta"] == truth["step1_peak"]
    assert steady["peak_delta"] == truth["step2_peak"]
    assert steady["training"]["optimizer_state"] == truth["state_bytes"]


@pytest.mark.parametrize("name", [name for name in TRUTH if "flops_forward" in TRUTH[name]])
def test_flops(name: str, weigh: Weigh) -> None:
    flops = weigh(MODELS / f"{name}.pt2", *arguments(name, "sgd"))["flops"]
    steps = int(dict(pairwise(TRUTH[name]["options"])).get("--accumulate", 1))
    assert flops["forward"] == TRUTH[name]["flops_forward"] * steps
    assert flops["forward"] + flops["backward"] == TRUTH[name]["flops_forward_backward"] * steps
