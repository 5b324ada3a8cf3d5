#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step of SGD in the engine beside the same step in eager PyTorch, from Python.

usage: bench.py [--large | MODEL.pt2...]

Both run the exported program on the same numbers, one thread, in turns; the ratio is that of the
medians. Small models are bound by what a call costs, large ones (--large) by their kernels. Writes
results.json beside this file when no model is named.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/engine"))
os.environ.setdefault("STEELYARD", str(ROOT / "build/release/steelyard"))

import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from exported import Exported, tensors_in  # noqa: E402
from test_engine import contiguous, load, steelyard  # noqa: E402

SMALL = ("translator", "tagger", "keywords", "transformer-network", "low-rank", "window")
LARGE = ROOT / "examples/bert-base-mlm-b4-s128.pt2"
TURNS = 5
# Of a turn, and of the steps in it.
SECONDS = 2.0
FEWEST, MOST = 2, 50


def eager(exported: Exported) -> tuple[float, int]:
    """Seconds of a step, the median, and of how many."""
    module = exported.module()
    stepper = torch.optim.SGD([p for p in module.parameters() if p.requires_grad], foreach=False)
    args, kwargs = exported.arguments()

    def step() -> float:
        start = time.perf_counter()
        outputs = list(tensors_in(module(*args, **kwargs)))
        outputs[0].backward()
        stepper.step()
        stepper.zero_grad()
        del outputs
        return time.perf_counter() - start

    first = step()
    runs = max(FEWEST, min(MOST, int(SECONDS / first)))
    return statistics.median(step() for _ in range(runs)), runs


def engine(path: Path, files: list[object], runs: int) -> float:
    """The same of the engine's."""
    options = ["--train", "sgd", "--warmup", 1, "--number", 1, "--repeat", runs]
    options += ["--peak-flops", "1T"]  # else one would be measured
    return float(steelyard("run", path, *files, *options)["time"]["step"]["median"])


def measured(path: Path, folder: Path) -> dict[str, Any]:
    exported = load(path)
    files: list[object] = []
    for name, tensors in (("weights", exported.weights), ("inputs", exported.inputs)):
        safetensors.torch.save_file(contiguous(tensors), folder / name)
        files += [f"--{name}", folder / name]
    ours, theirs = [], []
    for _ in range(TURNS):
        seconds, runs = eager(exported)
        theirs.append(seconds)
        ours.append(engine(path, files, runs))
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    return {
        "model": path.stem,
        "eager_seconds": statistics.median(theirs),
        "engine_seconds": statistics.median(ours),
        "ratio": statistics.median(ours) / statistics.median(theirs),
        "ratios_of_turns": [ratios[0], ratios[-1]],
    }


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return ""


def main() -> None:
    named = [LARGE if name == "--large" else Path(name) for name in sys.argv[1:]]
    paths = named or [ROOT / f"tests/data/train/{name}.pt2" for name in SMALL]
    print(f"{'model':24}{'eager':>10}{'engine':>10}{'ratio':>8}   milliseconds a step")
    rows = []
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            row = measured(path, Path(folder))
        rows.append(row)
        times = f"{1e3 * row['eager_seconds']:10.2f}{1e3 * row['engine_seconds']:10.2f}"
        print(f"{path.stem:24}{times}{row['ratio']:8.2f}", flush=True)
    if not named:
        report = {"cpu": cpu_name(), "torch": torch.__version__, "models": rows}
        Path(__file__).with_name("results.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
