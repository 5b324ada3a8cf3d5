# SPDX-License-Identifier: Apache-2.0
"""CUDA devices under older releases of PyTorch, against what their own CUDA host code asked for.

tests/data/releases/RELEASE: exported by that release and measured with it over stand-ins for an
H100's driver, as tests/data/cuda was; its models stand in tools/release_models.py.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT, Weigh
from test_cuda import KEYS, PHASES

FOLDER = ROOT / "tests/data/releases"
TRUTH: dict[tuple[str, str], dict[str, Any]] = {
    (p.parent.name, p.name.removesuffix(".truth.json")): json.loads(p.read_text())
    for p in sorted(FOLDER.glob("*/*.truth.json"))
}
MEASURED = [
    (*which, phase) for which in TRUTH for phase in PHASES if "steady" in TRUTH[which][phase]
]


def weighed(weigh: Weigh, release: str, name: str, phase: str, *more: str) -> dict[str, Any]:
    loss = ["--loss", "cross-entropy"] if PHASES[phase] else []
    asked = ["--device", "h100", "--torch", release, *PHASES[phase], *loss]
    told = weigh(FOLDER / release / f"{name}.pt2", *asked, *more)
    assert told["run"]["torch"] == release
    memory: dict[str, Any] = told["memory"]
    return memory


def test_models_are_there() -> None:
    assert {release for release, _ in TRUTH} == {"2.4", "2.7", "2.9"}
    assert len(TRUTH) >= 20


@pytest.mark.parametrize(("release", "name", "phase"), MEASURED)
def test_peaks(release: str, name: str, phase: str, weigh: Weigh) -> None:
    for step in ["steady", "step1"] if PHASES[phase] else ["steady"]:
        more = ["--first-step"] if step == "step1" else []
        memory = weighed(weigh, release, name, phase, *more)
        truth = TRUTH[release, name][phase][step]
        assert {key: memory[key] for key in KEYS} == {key: truth[KEYS[key]] for key in KEYS}, step
        assert memory["segments"] == truth["segments"], step


@pytest.mark.parametrize("phase", ["forward_no_grad", "train_AdamW"])
@pytest.mark.parametrize(("release", "name"), TRUTH)
def test_events(release: str, name: str, phase: str, weigh: Weigh) -> None:
    """Every allocation and free of a steady step, in order, by size."""
    events = weighed(weigh, release, name, phase, "--events")["events"]
    truth = TRUTH[release, name][phase]["events"]
    assert [event[1] for event in events] == [event[1] for event in truth]
