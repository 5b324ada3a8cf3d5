# SPDX-License-Identifier: Apache-2.0
"""Models that transformers shares with tp_plan="auto", against what one of two Gloo processes does.

tests/data/transformers_tp is made by tools/measure_transformers_tp.py.
"""

from __future__ import annotations

import json

import pytest
from conftest import ROOT, Weigh

FOLDER = ROOT / "tests/data/transformers_tp"
TRUTH = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted(FOLDER.glob("*.truth.json"))
}
SHARED = ("--batch", "2", "--seq", "16", "--as", "module", "--parallel", "tp", "--ranks", "2")
STEP = ("--mode", "train", "--train", "adamw")
KINDS = {"first": (*STEP, "--first-step"), "steady": STEP, "forward": ()}


def test_models_are_there() -> None:
    assert len(TRUTH) >= 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TRUTH)
def test_peak(name: str, kind: str, weigh: Weigh) -> None:
    report = weigh(FOLDER / name, *SHARED, "--tp-plan", "auto", *KINDS[kind])
    assert report["memory"]["peak_delta"] == TRUTH[name]["peaks"][kind]


@pytest.mark.parametrize("name", TRUTH)
def test_parts(name: str, weigh: Weigh) -> None:
    report = weigh(FOLDER / name, *SHARED, "--tp-plan", "auto", *STEP)
    assert report["parameters"]["bytes"] == TRUTH[name]["param_bytes"]
    assert report["memory"]["training"]["optimizer_state"] == TRUTH[name]["state_bytes"]
