# SPDX-License-Identifier: Apache-2.0
"""Forward passes of many kinds of models, against what PyTorch was measured to do with them.

tests/data/forward is made by tools/measure_forward.py.
"""

from __future__ import annotations

import json

import pytest
from conftest import ROOT, Weigh
from test_truth import compare_events

MODELS = ROOT / "tests/data/forward"
TRUTH = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted(MODELS.glob("*.truth.json"))
}


def test_models_are_there() -> None:
    assert len(TRUTH) >= 20


@pytest.mark.parametrize("name", TRUTH)
def test_everything_is_modelled(name: str, weigh: Weigh) -> None:
    assert weigh(MODELS / f"{name}.pt2", "--events")["unmodelled"] == []


@pytest.mark.parametrize("name", TRUTH)
def test_parameters(name: str, weigh: Weigh) -> None:
    report, truth = weigh(MODELS / f"{name}.pt2", "--events"), TRUTH[name]
    assert report["parameters"]["count"] == truth["params"]
    assert report["parameters"]["bytes"] == sum(truth["param_bytes"].values())
    assert report["buffers"]["bytes"] == truth["buffer_bytes"]


@pytest.mark.parametrize("name", TRUTH)
def test_flops(name: str, weigh: Weigh) -> None:
    flops = weigh(MODELS / f"{name}.pt2", "--events")["flops"]
    assert flops["forward"] == TRUTH[name]["flops_forward"]


@pytest.mark.parametrize("name", TRUTH)
def test_events(name: str, weigh: Weigh) -> None:
    report = weigh(MODELS / f"{name}.pt2", "--events")
    compare_events(report["memory"]["events"], TRUTH[name]["forward_no_grad"]["events"])


@pytest.mark.parametrize("name", TRUTH)
def test_peak(name: str, weigh: Weigh) -> None:
    peak = weigh(MODELS / f"{name}.pt2", "--events")["memory"]["peak_delta"]
    assert peak == TRUTH[name]["forward_no_grad"]["peak"]
