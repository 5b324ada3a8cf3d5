# SPDX-License-Identifier: Apache-2.0
"""What a report tells by category, operator and module is all that there is, and nothing twice."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEELYARD = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
MODELS = [
    "examples/bert-base-mlm-b4-s128.pt2",
    "tests/data/hf/mixtral-a/config.json",
    "tests/data/hf/convnext-a/config.json",
]
RUNS: list[list[str]] = [
    [],
    ["--train", "adamw"],
    ["--train", "adafactor", "--clip-norm", "1", "--accumulate", "3"],
    ["--train", "sgd", "--momentum", "0.9", "--first-step", "--recompute", "*.layer.*"],
    ["--train", "adamw", "--runtime", "graph"],
]


def weigh(model: str, run: list[str]) -> dict[str, Any]:
    command = [STEELYARD, "weigh", str(ROOT / model), *run, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and "no module is called" in done.stderr:
        pytest.skip("the model has no such modules")
    assert not done.returncode, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("run", RUNS, ids=" ".join)
@pytest.mark.parametrize("model", MODELS)
def test_parts_make_the_whole(model: str, run: list[str]) -> None:
    report = weigh(model, run)
    assert not report["unmodelled"]
    whole = {key: sum(report[key].values()) for key in ("flops_all", "traffic")}
    operators = report["operators"]
    assert sum(op["flops_all"] for op in operators) == whole["flops_all"]
    assert sum(op["read"] + op["written"] for op in operators) == whole["traffic"]
    assert sum(op["calls"] for op in operators) <= report["modelled"]["of"]
    peak = report["memory"]["at_peak"]
    assert sum(peak.values()) == report["memory"]["peak"]
    if run:
        assert any(op["op"].startswith("steelyard::") and op["flops_all"] for op in operators)
