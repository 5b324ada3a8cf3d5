# SPDX-License-Identifier: Apache-2.0
"""A step in two processes, which torchrun starts and Gloo joins."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("steelyard")

import safetensors.torch
import torch
from test_engine import STEELYARD

RATE = 0.5
NETWORK = (
    'parameter %w: f32[6,5] "w"',
    'parameter %b: f32[5] "b"',
    "input %x: f32[4,6]",
    "%y = aten::addmm(%b, %x, %w)",
    "%z = aten::tanh(%y)",
    "%l = aten::mean(%z)",
    "return %l",
)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "network.syt"
    path.write_text("\n".join(NETWORK) + "\n")
    torch.manual_seed(0)
    weights = {"w": torch.randn(6, 5), "b": torch.randn(5)}
    safetensors.torch.save_file(weights, tmp_path / "weights")
    for rank in range(2):
        safetensors.torch.save_file({"x": torch.randn(4, 6)}, tmp_path / f"x-{rank}")
    return path


def torchrun(path: Path, *options: object) -> subprocess.CompletedProcess[str]:
    start = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    start += ["--standalone", "-m", "steelyard", "run", str(path)]
    return subprocess.run(
        [*start, *map(str, options)], capture_output=True, text=True, timeout=300, check=False
    )


def files(path: Path) -> list[object]:
    return ["--weights", path.parent / "weights", "--inputs", path.parent / "x-{rank}"]


def test_parameters_are_stepped_by_the_mean_of_all_gradients(network: Path) -> None:
    saved = network.parent / "saved-{rank}"
    step = ["--train", "sgd", "--optim-args", f"lr={RATE}", "--repeat", 0, "--save", saved]
    done = torchrun(network, *files(network), *step)
    assert done.returncode == 0, done.stderr
    weights = safetensors.torch.load_file(network.parent / "weights")
    gradients: dict[str, list[torch.Tensor]] = {name: [] for name in weights}
    for rank in range(2):
        tensors = {name: tensor.clone().requires_grad_() for name, tensor in weights.items()}
        x = safetensors.torch.load_file(network.parent / f"x-{rank}")["x"]
        torch.tanh(torch.addmm(tensors["b"], x, tensors["w"])).mean().backward()
        for name, tensor in tensors.items():
            assert tensor.grad is not None
            gradients[name].append(tensor.grad)
    for rank in range(2):
        stepped = safetensors.torch.load_file(network.parent / f"saved-{rank}")
        for name, (first, second) in gradients.items():
            mean = (first + second) / 2
            assert not torch.equal(first, second)
            torch.testing.assert_close(stepped[f"gradients.{name}"], mean)
            torch.testing.assert_close(stepped[f"parameters.{name}"], weights[name] - RATE * mean)


def test_reports_of_all_ranks_are_one(network: Path) -> None:
    often = ["--warmup", 1, "--number", 2, "--repeat", 3, "--peak-flops", "1T"]
    told = ["--format", "json", "-o", network.parent / "merged.json"]
    done = torchrun(network, *files(network), "--train", "adamw", *often, *told)
    assert done.returncode == 0, done.stderr
    report = json.loads((network.parent / "merged.json").read_text())
    assert (report["ranks"], len(report["reports"])) == (2, 2)
    assert report["straggler"] in (0, 1)
    assert report["samples"] == 2 * 4
    medians = [one["time"]["forward"]["median"] for one in report["reports"]]
    forward = report["time"]["forward"]
    assert (forward["lowest"], forward["highest"]) == (min(medians), max(medians))
    assert forward["slowest"] == medians.index(max(medians))
    assert report["waiting"]["lowest"] > 0
    for one in report["reports"]:
        assert one["memory"]["differences"] == [], "buckets are where they were predicted"
        assert one["memory"]["peak"] == one["memory"]["predicted_peak"]


def test_people_are_told_who_is_waited_for(network: Path) -> None:
    often = ["--warmup", 0, "--number", 1, "--repeat", 1, "--peak-flops", "1T"]
    done = torchrun(network, *files(network), "--train", "sgd", *often)
    assert done.returncode == 0, done.stderr
    for words in ("2 ranks", "lowest", "Straggler: rank ", "in sums of gradients", "samples/s"):
        assert words in done.stdout


def test_a_process_that_ends_is_told_by_itself_and_by_the_others(network: Path) -> None:
    (network.parent / "x-1").unlink()
    done = torchrun(network, *files(network), "--train", "sgd", "--repeat", 1)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("steelyard: ")]
    assert any("x-1" in line for line in said)
    others = [line for line in said if "x-1" not in line]
    # It may be ended by torchrun before it has noticed.
    assert len(others) <= 1
    assert all("process" in line for line in others)


def test_ranks_without_a_group_are_refused(network: Path) -> None:
    line = [STEELYARD, "run", str(network), "--train", "sgd", "--ranks", "2", "--repeat", "1"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 1
    assert "there is no group of processes" in done.stderr
    assert "torchrun" in done.stderr
