# SPDX-License-Identifier: Apache-2.0
"""A CUDA device, against what PyTorch's own CUDA host code asked of its own allocator.

tests/data/cuda: kernels did nothing there, cuDNN's plans had no workspace, and its attention was
switched off; all else that decides about memory ran as on an H100.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT, Weigh

TRUTH: dict[str, dict[str, Any]] = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted((ROOT / "tests/data/cuda").glob("*.truth.json"))
}
PHASES = {
    "forward_no_grad": [],
    "train_SGD": ["--train", "sgd"],
    "train_AdamW": ["--train", "adamw"],
    "train_AdamW_fused": ["--train", "adamw", "--fused"],
    "train_AdamW_autocast_bf16": ["--train", "adamw", "--amp", "bf16"],
    "train_SGD_autocast_fp16_scaler": ["--train", "sgd", "--amp", "fp16"],
}
DEVICE = ["--device", "h100", "--no-cudnn-attention"]
KEYS = {"peak": "allocated", "requested_peak": "requested", "reserved_peak": "reserved"}

# What tracing has lost, so that the module does otherwise: the phases of a model whose reserved
# peaks differ.
DTYPES = (
    "forward casts where autocast has changed a dtype; the file has the branch without the cast"
)
LOST = {
    ("t5-small-b2-s64", "train_AdamW_autocast_bf16"): DTYPES,
}


def arguments(name: str, phase: str) -> list[str]:
    """How a phase is weighed; where the file has no loss, with the one it was measured with."""
    if not PHASES[phase]:
        return DEVICE
    in_graph = TRUTH[name]["loss"] == "in the graph"
    return [*DEVICE, *PHASES[phase], *([] if in_graph else ["--loss", "cross-entropy"])]


def weighed(weigh: Weigh, name: str, phase: str, *more: str) -> dict[str, Any]:
    model = ROOT / f"tests/data/models/{name}.pt2"
    memory: dict[str, Any] = weigh(model, *arguments(name, phase), *more)["memory"]
    return memory


def test_models_are_there() -> None:
    assert len(TRUTH) >= 8


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", TRUTH)
def test_peaks(name: str, phase: str, weigh: Weigh) -> None:
    for step in ["steady", "step1"] if PHASES[phase] else ["steady"]:
        memory = weighed(weigh, name, phase, *(["--first-step"] if step == "step1" else []))
        truth = TRUTH[name][phase][step]
        assert {key: memory[key] for key in KEYS} == {key: truth[KEYS[key]] for key in KEYS}, step
        assert memory["segments"] == truth["segments"], step


@pytest.mark.parametrize("phase", ["forward_no_grad", "train_AdamW"])
@pytest.mark.parametrize("name", TRUTH)
def test_events(name: str, phase: str, weigh: Weigh) -> None:
    """Every allocation and free, in order; the innermost operators' names are not compared."""
    events = weighed(weigh, name, phase, "--events")["events"]
    assert [event[1] for event in events] == [event[1] for event in TRUTH[name][phase]["events"]]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", TRUTH)
def test_modules(name: str, phase: str, weigh: Weigh) -> None:
    """What the module does that the file was exported from."""
    for step in ["steady", "step1"] if PHASES[phase] else ["steady"]:
        first = ["--first-step"] if step == "step1" else []
        memory = weighed(weigh, name, phase, "--as", "module", *first)
        truth = TRUTH[name][f"{phase}_module"][step]
        differ = [key for key, of in KEYS.items() if memory[key] != truth[of]]
        assert differ == (["reserved_peak"] if (name, phase) in LOST else []), step


def test_categories_add_up(weigh: Weigh) -> None:
    memory = weighed(weigh, "bert-base-mlm-b4-s128", "train_AdamW")
    assert sum(memory["at_peak"].values()) == memory["requested_peak"] <= memory["peak"]
    assert memory["peak"] <= memory["reserved_peak"] <= memory["process"]["low"]
    assert memory["fits"] is True
