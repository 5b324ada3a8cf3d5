# SPDX-License-Identifier: Apache-2.0
"""Steps that several processes make together, against what one of them was measured to do.

tests/data/parallel is made by tools/measure_parallel.py.
"""

from __future__ import annotations

import json

import pytest
from conftest import ROOT, Weigh
from test_truth import compare_events

FOLDER = ROOT / "tests/data/parallel"
TRUTH = {
    p.name.removesuffix(".truth.json"): json.loads(p.read_text())
    for p in sorted(FOLDER.glob("*.truth.json"))
}
# What was measured on CUDA: PyTorch's host code, on a stand-in for an H100.
ON_CUDA = [name for name in TRUTH if ".cuda" in name]
ON_CPU = [name for name in TRUTH if ".cuda" not in name]
WITH_BUCKETS = [name for name in ON_CPU if ".fsdp" not in name]
SHARDED = [name for name in ON_CPU if ".fsdp" in name]
DEVICE = ("--device", "h100", "--no-cudnn-attention")
# The allocator is not told that the second step frees the first step's bucket: a later one may lie
# in what it leaves, too small a rest of which is split off.
IN_OLD_BUCKET = {("convolutions.views.cuda-sm90", 2)}


def arguments(name: str) -> list[str]:
    return ["--train", "adamw", *TRUTH[name]["options"], "--events"]


def test_models_are_there() -> None:
    assert len(WITH_BUCKETS) >= 12
    assert len(SHARDED) >= 10
    assert len(ON_CUDA) == len(ON_CPU)


@pytest.mark.parametrize("name", ON_CPU)
def test_first_step(name: str, weigh: Weigh) -> None:
    model = FOLDER / f"{name.split('.')[0]}.pt2"
    memory = weigh(model, *arguments(name), "--first-step")["memory"]
    compare_events(memory["events"], TRUTH[name]["steps"][0])
    assert memory["peak_delta"] == TRUTH[name]["peaks"][0]


@pytest.mark.parametrize("name", ON_CPU)
def test_steady_step(name: str, weigh: Weigh) -> None:
    model = FOLDER / f"{name.split('.')[0]}.pt2"
    memory = weigh(model, *arguments(name))["memory"]
    compare_events(memory["events"], TRUTH[name]["steps"][2])
    assert memory["peak_delta"] == TRUTH[name]["peaks"][2]


@pytest.mark.parametrize("name", WITH_BUCKETS)
def test_buckets_stay(name: str, weigh: Weigh) -> None:
    """They are there before the step: beside what the same step has in one process."""
    model = FOLDER / f"{name.split('.')[0]}.pt2"
    alone = weigh(model, "--train", "adamw")["memory"]
    together = weigh(model, *arguments(name))["memory"]
    assert together["resident"] - alone["resident"] == TRUTH[name]["trained_bytes"]
    assert TRUTH[name]["wrap"][-1] == ["aten::empty", TRUTH[name]["trained_bytes"]]


@pytest.mark.parametrize("name", WITH_BUCKETS)
def test_second_step_makes_buckets_anew(name: str) -> None:
    """And is otherwise as every later one, for which alone it is weighed."""
    second, third = TRUTH[name]["steps"][1:]
    made = len(second) - len(third)
    sizes = [size for _, size in second]
    assert second[made:] == third
    assert sum(sizes[:made]) == 0
    assert -TRUTH[name]["trained_bytes"] in sizes[:made]


@pytest.mark.parametrize("name", SHARDED)
def test_parts_stay(name: str, weigh: Weigh) -> None:
    """Of parameters and the optimizer's state, half and what makes parts equal."""
    model = FOLDER / f"{name.split('.')[0]}.pt2"
    alone = weigh(model, "--train", "adamw")["memory"]
    together = weigh(model, *arguments(name))["memory"]
    whole = TRUTH[name]["param_bytes"] + 2 * TRUTH[name]["trained_bytes"]
    assert 0 <= together["resident"] - (alone["resident"] - whole // 2) <= whole // 100


@pytest.mark.parametrize("which", [0, 2])
@pytest.mark.parametrize("name", ON_CUDA)
def test_cuda_peaks(name: str, which: int, weigh: Weigh, request: pytest.FixtureRequest) -> None:
    if (name, which) in IN_OLD_BUCKET:
        request.applymarker(pytest.mark.xfail(strict=True, reason="lies in the first bucket"))
    model, first = FOLDER / f"{name.split('.')[0]}.pt2", ["--first-step"] if which == 0 else []
    memory = weigh(model, *arguments(name), *DEVICE, *first)["memory"]
    truth = TRUTH[name]["peaks"][which]
    assert memory["peak"] == truth["allocated"]
    assert memory["requested_peak"] == truth["requested"]
    assert memory["reserved_peak"] == truth["reserved"]
    assert memory["segments"] == truth["segments"]


@pytest.mark.parametrize("name", ON_CUDA)
def test_cuda_events(name: str, weigh: Weigh) -> None:
    model = FOLDER / f"{name.split('.')[0]}.pt2"
    events = weigh(model, *arguments(name), *DEVICE)["memory"]["events"]
    assert [event[1] for event in events] == TRUTH[name]["events"]
