#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step of SGD in the engine beside the same step in eager PyTorch, from Python.

usage: bench.py [MODEL.pt2...]

Both run the exported program on the same numbers, one thread, in turns; the ratio is that of the
medians. Small models are bound by what a call costs, large ones by their kernels.
"""

import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/engine"))

import torch  # noqa: E402
from exported import Exported, tensors_in  # noqa: E402
from test_engine import load, steelyard  # noqa: E402

MODELS = ("translator", "tagger", "keywords", "transformer-network", "low-rank", "window")
TURNS = 5
RUNS = 20


def eager(exported: Exported) -> float:
    """Seconds of a step, the median."""
    module = exported.module()
    stepper = torch.optim.SGD([p for p in module.parameters() if p.requires_grad], foreach=False)
    args, kwargs = exported.arguments()
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        outputs = list(tensors_in(module(*args, **kwargs)))
        outputs[0].backward()
        stepper.step()
        stepper.zero_grad()
        del outputs
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def engine(path: Path) -> float:
    options = ["--train", "sgd", "--number", RUNS // 5, "--repeat", 5]
    times = steelyard("run", path, *options)["time"]
    return float(times["step"]["median"])


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]]
    paths = paths or [ROOT / f"tests/data/train/{name}.pt2" for name in MODELS]
    print(f"{'model':24}{'eager':>10}{'engine':>10}{'ratio':>8}   milliseconds a step")
    for path in paths:
        exported = load(path)
        pairs = [(eager(exported), engine(path)) for _ in range(TURNS)]
        ours = statistics.median(pair[1] for pair in pairs)
        theirs = statistics.median(pair[0] for pair in pairs)
        print(
            f"{path.stem:24}{1e3 * theirs:10.2f}{1e3 * ours:10.2f}{ours / theirs:8.2f}", flush=True
        )


if __name__ == "__main__":
    main()
