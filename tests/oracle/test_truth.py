# SPDX-License-Identifier: Apache-2.0
"""Predictions against what PyTorch was measured to do with real models (tests/data/README.md)."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Weigh

MODELS = ROOT / "tests/data/models"
TRUTH = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted(MODELS.glob("*.truth.json"))
}
MEASURED = [name for name, truth in TRUTH.items() if "forward_no_grad" in truth]


def binding(size: dict[str, int], symbolic: bool) -> list[str]:
    if not symbolic:
        return []
    shape = f"{size['batch']}x{size['seq']}"
    return ["--input", f"input_ids={shape}", "--input", f"labels={shape}"]


@pytest.mark.parametrize("name", TRUTH)
def test_parameters(name: str, weigh: Weigh) -> None:
    truth, sizes = TRUTH[name], TRUTH[name].get("sizes", [])
    report = weigh(MODELS / f"{name}.pt2", *(binding(sizes[0], len(sizes) > 1) if sizes else []))
    assert report["parameters"]["count"] == truth["params"]
    assert {f"torch.{k}": v["bytes"] for k, v in report["parameters"]["by_dtype"].items()} == truth[
        "param_bytes"
    ]
    assert report["buffers"]["bytes"] == truth["buffer_bytes"]


SIZED = [(name, i) for name, truth in TRUTH.items() for i in range(len(truth.get("sizes", [])))]


@pytest.mark.parametrize(("name", "index"), SIZED)
def test_flops_at_size(name: str, index: int, weigh: Weigh) -> None:
    sizes = TRUTH[name]["sizes"]
    report = weigh(MODELS / f"{name}.pt2", *binding(sizes[index], len(sizes) > 1))
    assert report["flops"]["forward"] == sizes[index]["flops_forward"]


@pytest.mark.parametrize("name", MEASURED)
def test_flops(name: str, weigh: Weigh) -> None:
    assert weigh(MODELS / f"{name}.pt2")["flops"]["forward"] == TRUTH[name]["flops_forward"]


@pytest.mark.parametrize("name", MEASURED)
def test_forward_peak(name: str, weigh: Weigh) -> None:
    peak = weigh(MODELS / f"{name}.pt2")["memory"]["peak_delta"]
    assert peak == TRUTH[name]["forward_no_grad"]["peak"]


def compare_events(predicted: list[list[Any]], measured: list[list[Any]]) -> None:
    """Every event in order: the innermost operator's name and the bytes, the tiny ones too."""
    predicted, measured = [e[:2] for e in predicted], [e[:2] for e in measured]
    first = next(
        (i for i, (a, b) in enumerate(zip(predicted, measured, strict=False)) if a != b), None
    )
    if first is not None:
        around = slice(max(0, first - 5), first + 5)
        pytest.fail(f"event {first}: predicted {predicted[around]}, measured {measured[around]}")
    assert len(predicted) == len(measured)


@pytest.mark.parametrize("name", MEASURED)
def test_forward_events(name: str, weigh: Weigh) -> None:
    report = weigh(MODELS / f"{name}.pt2", "--events")
    compare_events(report["memory"]["events"], TRUTH[name]["forward_no_grad"]["events"])


def training(name: str, optimizer: str) -> list[str]:
    """Arguments for a step; where the file has no loss, the one it was measured with."""
    in_graph = TRUTH[name]["loss"] == "in the graph"
    return ["--train", optimizer, *([] if in_graph else ["--loss", "cross-entropy"])]


def has_groups(truth: dict[str, Any]) -> bool:
    """PyTorch's counter takes the gradient of a grouped convolution for one of all channels."""
    return bool(truth["flops_forward_backward"] > 4 * truth["flops_forward"])


@pytest.mark.parametrize("name", MEASURED)
def test_training_events(name: str, weigh: Weigh) -> None:
    """A steady step with SGD: forward, loss, backward, zero_grad."""
    report = weigh(MODELS / f"{name}.pt2", *training(name, "sgd"), "--events")
    compare_events(report["memory"]["events"], TRUTH[name]["train_SGD"]["step2_events"])


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_training_peaks(name: str, optimizer: str, weigh: Weigh) -> None:
    model, truth = MODELS / f"{name}.pt2", TRUTH[name][f"train_{optimizer}"]
    arguments = training(name, optimizer.lower())
    steady = weigh(model, *arguments)["memory"]["peak_delta"]
    first = weigh(model, *arguments, "--first-step")["memory"]["peak_delta"]
    assert (first, steady) == (truth["step1_peak"], truth["step2_peak"])


FLASH_BACKWARD = "aten::_scaled_dot_product_flash_attention_for_cpu_backward"
AUTOCAST = [n for n in MEASURED if "step2_peak" in TRUTH[n].get("train_SGD_autocast_bf16", {})]


def settled(events: list[list[Any]]) -> list[list[Any]]:
    """Frees in a row are sorted: when a region of autocast ends, the casts of parameters go in the
    order of a hash table of addresses. What products within the gradient of attention allocate and
    free depends on the processor, and is left out."""
    kept: list[list[Any]] = []
    for label, size, *_ in events:
        if label == FLASH_BACKWARD and kept and kept[-1] == [label, -size] and size < 0:
            kept.pop()
        else:
            kept.append([label, size])
    out: list[list[Any]] = []
    for freed, group in groupby(kept, key=lambda event: event[1] < 0):
        run = list(group)
        out += sorted(run) if freed else run
    return out


@pytest.mark.parametrize("name", AUTOCAST)
def test_training_under_autocast(name: str, weigh: Weigh) -> None:
    """A steady step with SGD, forward and loss in torch.autocast("cpu", torch.bfloat16)."""
    model, truth = MODELS / f"{name}.pt2", TRUTH[name]["train_SGD_autocast_bf16"]
    memory = weigh(model, *training(name, "sgd"), "--amp", "bf16", "--events")["memory"]
    assert memory["peak_delta"] == truth["step2_peak"]
    compare_events(settled(memory["events"]), settled(truth["step2_events"]))


@pytest.mark.parametrize("name", [name for name in MEASURED if not has_groups(TRUTH[name])])
def test_training_flops(name: str, weigh: Weigh) -> None:
    flops = weigh(MODELS / f"{name}.pt2", *training(name, "sgd"))["flops"]
    assert flops["forward"] + flops["backward"] == TRUTH[name]["flops_forward_backward"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests/data/older_torch").glob("*.pt2")), ids=lambda p: Path(p).stem
)
def test_older_archives(path: Path, weigh: Weigh) -> None:
    assert (
        weigh(path)["parameters"]["count"]
        == json.loads(path.with_suffix(".json").read_text())["params"]
    )
    assert weigh(path)["unmodelled"] == []
