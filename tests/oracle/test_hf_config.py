# SPDX-License-Identifier: Apache-2.0
"""What is built from a config.json is what transformers exports: every figure, every event.

tests/data/hf holds configs and the programs that torch.export makes of their models
(tools/export_hf.py).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT, Weigh

DATA = ROOT / "tests/data/hf"
MODELS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir())
PHASES: dict[str, list[str]] = {"forward": [], "train": ["--train", "adamw"]}
# A model without a loss has no train.pt2.
CASES = [(m, p) for m in MODELS for p in PHASES if (DATA / m / f"{p}.pt2").exists()]


def figures(report: dict[str, Any]) -> dict[str, Any]:
    memory = report["memory"]
    return {
        "parameters": report["parameters"],
        "buffers": report["buffers"],
        "flops": report["flops"],
        "flops_all": report["flops_all"],
        "resident": memory["resident"],
        "peak": memory["peak"],
        "at_peak": memory["at_peak"],
    }


def events(report: dict[str, Any]) -> list[tuple[str, int]]:
    return [(op, size) for op, size, *_ in report["memory"]["events"]]


@pytest.mark.parametrize(("name", "phase"), CASES)
def test_a_config_is_weighed_as_its_export(name: str, phase: str, weigh: Weigh) -> None:
    folder = DATA / name
    sizes = json.loads((folder / "sizes.json").read_text())
    said: dict[str, Any] = {"data_sizes": [], "events": ""}
    if (folder / "export.json").exists():
        said = json.loads((folder / "export.json").read_text())
    asked = ["--events", *said.get("device", []), *PHASES[phase]]
    exported = weigh(folder / f"{phase}.pt2", *said["data_sizes"], *asked)
    built = weigh(folder, *sizes, *asked)
    assert figures(built) == figures(exported)
    assert (events(built) == events(exported)) == (said["events"] == "")
