# SPDX-License-Identifier: Apache-2.0
"""Steps of DeepSpeed's engine with ZeRO, against what each of its processes was measured to do.

tests/data/deepspeed is made by tools/measure_deepspeed.py. Of stages 1 and 2 every event is
compared with its label, in order. So it is of stage 3, up to this: it lets parameters go in the
order of a Python set, which is that of addresses, so that frees which follow each other directly
are compared without their order; and who frees what was allocated just before, now Gloo's thread
and now the operator that waits for it, is not compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Weigh
from test_truth import compare_events

FOLDER = ROOT / "tests/data/deepspeed"
TRUTH = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted(FOLDER.glob("*.truth.json"))
}
# What oneDNN packs for products in bfloat16 depends on the CPU, and dies before they end.
PRODUCTS = ("aten::addmm", "aten::mm", "aten::bmm")
# What was measured on CUDA: PyTorch's host code, on a stand-in for an H100.
ON_CUDA = [name for name in TRUTH if ".cuda" in name]
ON_CPU = [name for name in TRUTH if ".cuda" not in name]
STAGE3 = [name for name in ON_CPU if ".stage3" in name]
IN_FULL = [name for name in ON_CPU if "-low." not in name]


def model_of(name: str) -> Path:
    model = name.split(".")[0]
    return (FOLDER if model.endswith("-low") else ROOT / "tests/data/parallel") / f"{model}.pt2"


def without_packing(events: list[list[Any]]) -> list[list[Any]]:
    kept: list[list[Any]] = []
    for event in events:
        label, size = event[:2]
        if label in PRODUCTS and kept and kept[-1] == [label, -size]:
            kept.pop()
        else:
            kept.append([label, size])
    return kept


def without_order_of_frees(events: list[list[Any]]) -> list[list[Any]]:
    told: list[list[Any]] = []
    frees: list[list[Any]] = []
    for label, size in events:
        if size > 0:
            told += sorted(frees)
            frees = []
            told.append([label, size])
        elif not frees and told and told[-1][1] == -size:
            told.append(["", size])
        else:
            frees.append([label, size])
    return told + sorted(frees)


def memory_of(name: str, which: int, weigh: Weigh, *more: str) -> dict[str, Any]:
    first = ["--first-step"] if which == 0 else []
    options = ["--train", "adamw", *TRUTH[name]["options"], "--events", *first, *more]
    memory: dict[str, Any] = weigh(model_of(name), *options)["memory"]
    return memory


def test_measured_are_there() -> None:
    assert len({name.split(".")[0] for name in TRUTH}) >= 8
    assert len([name for name in TRUTH if ".stage1" in name]) >= 12
    assert len([name for name in TRUTH if ".stage2" in name]) >= 24
    assert len(STAGE3) >= 100
    assert len(ON_CUDA) >= 90


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", ON_CPU)
def test_events(name: str, which: int, weigh: Weigh) -> None:
    predicted = memory_of(name, which, weigh)["events"]
    measured = TRUTH[name]["steps"][which]
    if name not in IN_FULL:
        predicted, measured = without_packing(predicted), without_packing(measured)
    if name in STAGE3:
        predicted = without_order_of_frees([event[:2] for event in predicted])
        measured = without_order_of_frees(measured)
    compare_events(predicted, measured)


@pytest.mark.parametrize("name", [name for name in STAGE3 if name in IN_FULL])
def test_hooks_stand_in_calls(name: str, weigh: Weigh) -> None:
    """What a module was called with it holds until it returns, hooks or not."""
    predicted = memory_of(name, 1, weigh, "--as", "module")["events"]
    predicted = without_order_of_frees([event[:2] for event in predicted])
    compare_events(predicted, without_order_of_frees(TRUTH[name]["steps"][1]))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", IN_FULL)
def test_peaks(name: str, which: int, weigh: Weigh) -> None:
    assert memory_of(name, which, weigh)["peak_delta"] == TRUTH[name]["peaks"][which]


@pytest.mark.parametrize("name", [name for name in IN_FULL if "-micro." in name])
def test_micro_steps_are_alike(name: str, weigh: Weigh) -> None:
    """Further ones change no peak, written out or weighed as one."""
    options = TRUTH[name]["options"]
    where = options.index("--accumulate")
    rest = ["--train", "adamw", *options[:where], *options[where + 2 :]]
    for more in (["--accumulate", "7"], ["--accumulate", "7", "--events"]):
        memory = weigh(model_of(name), *rest, *more)["memory"]
        assert memory["peak_delta"] == TRUTH[name]["peaks"][1]


@pytest.mark.parametrize("name", ON_CPU)
def test_what_rests(name: str, weigh: Weigh) -> None:
    """Parameters in one piece, a part of them in float32, and what a first step leaves."""
    alone = weigh(model_of(name), "--train", "adamw")["memory"]
    before = memory_of(name, 0, weigh)["resident"]
    # In stage 3 the frozen ones are in parts, too.
    parameters = TRUTH[name]["parameter_bytes" if name in STAGE3 else "trained_bytes"]
    with_state = alone["resident"] - alone["training"]["optimizer_state"]
    flat, master = TRUTH[name]["flat_bytes"], TRUTH[name]["master_bytes"]
    gradients = TRUTH[name].get("gradient_bytes", 0)
    tracker = 1 if name in STAGE3 else 0  # of overflows
    assert before == with_state - parameters + flat + master + gradients + tracker
    left = sum(size for _, size in TRUTH[name]["steps"][0])
    assert memory_of(name, 1, weigh)["resident"] == before + left


def on_device(name: str, which: int, weigh: Weigh) -> dict[str, Any]:
    return memory_of(name, which, weigh, "--device", "h100")


@pytest.mark.parametrize("name", ON_CUDA)
def test_cuda_events(name: str, weigh: Weigh) -> None:
    events = on_device(name, 1, weigh)["events"]
    assert [event[1] for event in events] == TRUTH[name]["events"]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", ON_CUDA)
def test_cuda_requests(name: str, which: int, weigh: Weigh) -> None:
    assert (
        on_device(name, which, weigh)["requested_peak"] == TRUTH[name]["peaks"][which]["requested"]
    )


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", ON_CUDA)
def test_cuda_blocks(name: str, which: int, weigh: Weigh) -> None:
    """Streams, and what the making of the engine has left, decide where blocks lie."""
    memory, truth = on_device(name, which, weigh), TRUTH[name]["peaks"][which]
    assert memory["peak"] == truth["allocated"]
    assert memory["reserved_peak"] == truth["reserved"]
    assert memory["segments"] == truth["segments"]


def test_what_a_file_does_not_tell(weigh: Weigh) -> None:
    """Of a model that is built from its config no sizes are told, and none is made up."""
    options = ["--mode", "train", "--train", "adamw", "--parallel", "deepspeed3", "--ranks", "4"]
    notes = weigh(ROOT / "tests/data/hf/llama-a/config.json", *options)["notes"]
    assert not [note for note in notes if "the file says" in note["message"]]
