#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What watching adds to a training step, beside torch.profiler, FlopCounterMode and DeepSpeed.

usage: bench.py [--rounds N] [--no-write]

Each way runs a few steps in turn with the others, round by round, on one thread; the ratio is the
median of what a way took of the processor to what the bare steps of its round took: time of the
processor, for a machine that others use. After the run: what it takes to make a report of all
events, and the bytes that one takes; then what 1,000 sessions leave behind in the process.
DeepSpeed is left out where it is not installed. Writes results.json beside this file.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import steelyard
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

HERE = Path(__file__).resolve().parent


class Block(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.wide = torch.nn.Linear(width, 4 * width)
        self.narrow = torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = torch.nn.functional.gelu(self.wide(self.norms[1](x)))
        result: torch.Tensor = x + self.narrow(y)
        return result


class Transformer(torch.nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(1000, width)
        self.layers = torch.nn.Sequential(*(Block(width) for _ in range(layers)))
        self.head = torch.nn.Linear(width, 1000)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.layers(self.embedding(tokens)))
        return scores


class Residual(torch.nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(channels),
            torch.nn.ReLU(),
            torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.body(x))


def convolutional() -> torch.nn.Module:
    blocks = [Residual(32) for _ in range(4)]
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1),
        *blocks,
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(32, 10),
    )


def tokens(rows: int, length: int) -> torch.Tensor:
    return torch.randint(0, 1000, (rows, length))


# The model, what it is given, and how many steps make a turn.
LOOPS: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[], torch.Tensor], int]] = {
    "tiny transformer": (lambda: Transformer(64, 6), lambda: tokens(2, 16), 20),
    "transformer": (lambda: Transformer(256, 6), lambda: tokens(8, 64), 2),
    "residual network": (convolutional, lambda: torch.randn(4, 3, 32, 32), 4),
}


def profiled(**options: Any) -> Callable[[], Any]:
    return lambda: profile(activities=[ProfilerActivity.CPU], acc_events=True, **options)


WAYS: dict[str, Callable[[], Any]] = {
    "bare": contextlib.nullcontext,
    "watch light": steelyard.watch,
    "watch ops": lambda: steelyard.watch(level="ops"),
    "torch.profiler": profiled(),
    "torch.profiler shapes": profiled(record_shapes=True),
    "torch.profiler everything": profiled(record_shapes=True, profile_memory=True, with_stack=True),
    "FlopCounterMode": lambda: FlopCounterMode(display=False),
}


OURS = ("bare", "watch light", "watch ops")
# Others take part in one round of so many: what they do after a turn takes long.
PEERS_EVERY = 3


@contextlib.contextmanager
def deepspeed(model: torch.nn.Module) -> Iterator[None]:
    """Its Flops Profiler, which hooks each module and patches PyTorch's functions."""
    from deepspeed.profiling.flops_profiler import FlopsProfiler

    profiler = FlopsProfiler(model)
    profiler.start_profile()
    try:
        yield
    finally:
        profiler.stop_profile()
        profiler.end_profile()


def has_deepspeed() -> bool:
    try:
        import deepspeed.profiling.flops_profiler  # noqa: F401
    except Exception:  # whatever its many imports raise
        return False
    return True


def seconds_of(begin: Callable[[], Any], step: Callable[[], None], steps: int) -> float:
    """Of a turn without what comes before and after it."""
    with begin():
        step()
        start = time.process_time()
        for _ in range(steps):
            step()
        return time.process_time() - start


def measured(name: str, rounds: int) -> dict[str, Any]:
    make, inputs, steps = LOOPS[name]
    torch.manual_seed(0)
    model, x = make(), inputs()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(3):
        step()
    ways = dict(WAYS)
    if has_deepspeed():
        ways["DeepSpeed"] = lambda: deepspeed(model)
    turns: dict[str, list[float]] = {way: [] for way in ways}
    bare: list[float] = []
    for number in range(rounds):
        for way, begin in ways.items():
            if way not in OURS and number % PEERS_EVERY:
                continue
            taken = seconds_of(begin, step, steps)
            if way == "bare":
                bare.append(taken)
            else:
                turns[way].append(taken / bare[-1])
    del turns["bare"]
    return {
        "step_ms": 1e3 * statistics.median(bare) / steps,
        "added_percent": {way: 100 * (statistics.median(of) - 1) for way, of in turns.items()},
        "spread_percent": {
            way: [100 * (min(of) - 1), 100 * (max(of) - 1)] for way, of in turns.items()
        },
    }


def afterwards() -> dict[str, Any]:
    """A report of some 134 thousand events, and torch.profiler's table of as many steps."""
    model, x = Transformer(64, 6), tokens(2, 16)

    def run(steps: int) -> None:
        for _ in range(steps):
            model(x).sum().backward()

    with steelyard.watch(level="ops") as watch:
        run(20)
    start = time.perf_counter()
    data = watch.report.data
    ours = time.perf_counter() - start
    with profiled(record_shapes=True)() as session:
        run(20)
    start = time.perf_counter()
    session.key_averages().table()
    theirs = time.perf_counter() - start
    return {
        "events": data["recorded_events"],
        "bytes_per_event": len(watch.record) / data["recorded_events"],
        "report_seconds": ours,
        "torch_profiler_table_seconds": theirs,
    }


def sessions(count: int) -> dict[str, Any]:
    """What the process has more of after so many."""
    model, x = Transformer(64, 1), tokens(1, 4)

    def run(times: int) -> None:
        for _ in range(times):
            with steelyard.watch(model):
                model(x)

    def resident() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    run(50)
    before, files = resident(), len(list(Path("/proc/self/fd").iterdir()))
    run(count)
    return {
        "sessions": count,
        "bytes_per_session": (resident() - before) / count,
        "more_open_files": len(list(Path("/proc/self/fd").iterdir())) - files,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-write", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    results: dict[str, Any] = {
        "torch": torch.__version__,
        "rounds": asked.rounds,
        "rounds_of_peers": (asked.rounds + PEERS_EVERY - 1) // PEERS_EVERY,
        "load_before": os.getloadavg()[0] / (os.cpu_count() or 1),
    }
    results["loops"] = {name: measured(name, asked.rounds) for name in LOOPS}
    results["afterwards"] = afterwards()
    results["leaks"] = sessions(1000)
    print(json.dumps(results, indent=2))
    if not asked.no_write:
        (HERE / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
