#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random requests to CUDA's caching allocator, and what PyTorch's own answers to them.

usage: allocator_streams.py --record FOLDER [NAME...]   writes FOLDER/NAME.txt, for all by default
       allocator_streams.py --transcript NAME           prints each answer, a line per request

Both need a CUDA build of PyTorch, on a device of the memory that the configuration names: one that
only seems to be there takes it from FAKE_MEM_MIB. Every
configuration runs in a process of its own, because PyTorch reads its settings once. The requests
of a configuration follow from its seed alone, so that tests/oracle/test_caching.py makes them
again; a record holds a digest of the answers to each thousand of them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20
GIB = 1 << 30
CONTEXT_MIB = 500  # what is gone of the device before the first request
STREAMS = 3
KEPT_SIZES = 64
STATISTICS_EVERY = 40
MAP_EVERY = 4000
CHUNK = 1000  # answers to a digest


@dataclass(frozen=True)
class Configuration:
    """How the allocator is set up, and what is asked of it."""

    settings: str
    memory_mib: int = 81079
    live_mib: int = 30000  # what the program holds at most, about
    largest_mib: int = 600
    late: bool = False  # events do not happen until somebody waits for them
    records: float = 0.02  # how often a block is used on another stream
    empties: float = 0.0005
    pools: float = 0.0
    steps: int = 100_000
    seed: int = 1


SMALL: dict[str, Any] = {"memory_mib": 4096, "live_mib": 4200, "largest_mib": 400}
CONFIGURATIONS = {
    "default": Configuration(""),
    "small_device": Configuration("", **SMALL, seed=2),
    "late_events": Configuration("", **SMALL, late=True, seed=3),
    "max_split": Configuration("max_split_size_mb:100", **SMALL, seed=4),
    "max_split_rounding": Configuration(
        "max_split_size_mb:64,max_non_split_rounding_mb:200", **SMALL, seed=5
    ),
    "divisions": Configuration("roundup_power2_divisions:8", **SMALL, seed=6),
    "division_list": Configuration("roundup_power2_divisions:[16:8,64:4,256:2,>:16]", seed=7),
    "large_segments": Configuration("large_segment_size_mb:64", **SMALL, seed=8),
    "fraction": Configuration(
        "per_process_memory_fraction:0.4", memory_mib=8192, live_mib=3500, largest_mib=400, seed=9
    ),
    "garbage": Configuration(
        "per_process_memory_fraction:0.5,garbage_collection_threshold:0.6",
        memory_mib=8192,
        live_mib=3600,
        largest_mib=400,
        seed=10,
    ),
    "garbage_early": Configuration(
        "garbage_collection_threshold:0.3,per_process_memory_fraction:0.9,"
        "max_split_size_mb:200,roundup_power2_divisions:[1:4,>:4]",
        **SMALL,
        seed=11,
    ),
    "refuse_early": Configuration(
        "throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.8", **SMALL, seed=12
    ),
    "expandable": Configuration("expandable_segments:True", seed=13),
    "expandable_small_device": Configuration("expandable_segments:True", **SMALL, seed=14),
    "expandable_large_pages": Configuration(
        "expandable_segments:True,large_segment_size_mb:64", **SMALL, late=True, seed=15
    ),
    "expandable_reserve": Configuration(
        "expandable_segments:True,expandable_segments_reserve:0.1", **SMALL, seed=16
    ),
    "expandable_fraction": Configuration(
        "expandable_segments:True,per_process_memory_fraction:0.6,garbage_collection_threshold:0.5",
        **SMALL,
        seed=17,
    ),
    "expandable_max_split": Configuration(
        "expandable_segments:True,max_split_size_mb:64", **SMALL, seed=20
    ),
    "pools": Configuration("", **SMALL, pools=0.002, seed=18),
    "expandable_pools": Configuration("expandable_segments:True", **SMALL, pools=0.002, seed=19),
}


class Sizes:
    """Sizes as a training step asks for them: many kinds, and some of them again and again."""

    def __init__(self, draw: random.Random, largest: int) -> None:
        self.draw = draw
        self.largest = largest
        self.kept = [self.fresh() for _ in range(KEPT_SIZES)]

    def between(self, low: int, high: int) -> int:
        return low + int(self.draw.random() * (high - low))

    def fresh(self) -> int:
        kind = self.draw.random()
        if kind < 0.3:
            return self.between(1, 5000)
        if kind < 0.5:
            return self.between(512, 2 * MIB)
        if kind < 0.75:
            return self.between(MIB, 12 * MIB)
        if kind < 0.85:
            return self.between(1, 64) * MIB
        if kind < 0.96:
            return self.between(10 * MIB, 100 * MIB)
        return self.between(60 * MIB, self.largest)

    def next(self) -> int:
        if self.draw.random() < 0.5:
            return self.kept[self.between(0, KEPT_SIZES)]
        return self.fresh()


class PoolsInUse:
    """Opens, closes and releases private pools, one open at a time."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.made = 0
        self.alive: list[int] = []
        self.open: int | None = None

    def next(self) -> Iterator[str]:
        if self.open is not None:
            yield f"end {self.open}"
            self.open = None
        elif len(self.alive) < 3 and self.draw.random() < 0.4:
            self.made += 1
            self.alive.append(self.made)
            yield f"pool {int(self.draw.random() < 0.4)} {int(self.draw.random() < 0.4)}"
        elif self.alive:
            pool = self.alive[int(self.draw.random() * len(self.alive))]
            if self.draw.random() < 0.15:
                self.alive.remove(pool)
                yield f"release {pool}"
            else:
                self.open = pool
                yield f"begin {pool}"


def requests(c: Configuration) -> Iterator[str]:
    """The words that tests/oracle/caching_probe.cc understands."""
    draw = random.Random(c.seed)
    sizes = Sizes(draw, c.largest_mib * MIB)
    pools = PoolsInUse(draw)
    live: list[tuple[int, int]] = []
    asked = held = 0
    target = float(c.live_mib * MIB)
    for step in range(c.steps):
        if step % 1500 == 0:
            target = c.live_mib * MIB * (0.1 + 0.95 * draw.random())
        kind = draw.random()
        if kind < c.empties:
            yield "empty"
        elif kind < 2 * c.empties:
            yield "reset"
        elif kind < 2 * c.empties + c.pools:
            yield from pools.next()
        elif live and kind < 2 * c.empties + c.pools + c.records:
            block = live[int(draw.random() * len(live))][0]
            yield f"record {block} {int(draw.random() * STREAMS)}"
        elif not live or draw.random() < (0.75 if held < target else 0.25):
            size = sizes.next()
            stream = max(0, int(draw.random() * (STREAMS + 3)) - 3)
            yield f"alloc {size} {stream}"
            live.append((asked, size))
            asked += 1
            held += size
        else:
            back = draw.random() ** 2  # the younger, the more likely
            block, size = live.pop(len(live) - 1 - int(back * len(live)))
            held -= size
            yield f"free {block}"
        if step % STATISTICS_EVERY == 0:
            yield "statistics"
        if step % MAP_EVERY == 0:
            yield "map"


def preamble(c: Configuration, torch_version: tuple[int, int] = (2, 15)) -> Iterator[str]:
    yield f"settings {c.settings}"
    yield f"torch {torch_version[0]} {torch_version[1]}"
    yield f"device {c.memory_mib * MIB} {CONTEXT_MIB * MIB} {int(c.late)}"


def in_words(size: int) -> str:
    """A number of bytes as PyTorch's messages write it."""
    if size <= 1024:
        return f"{size} bytes"
    for unit, bytes_ in (("KiB", 1024), ("MiB", MIB)):
        if size <= 1024 * bytes_:
            return f"{size / bytes_:.2f} {unit}"
    return f"{size / GIB:.2f} GiB"


def normalized(answer: str) -> str:
    """A line of the probe's with the numbers of an error as PyTorch's message writes them."""
    if not answer.startswith("oom "):
        return answer
    rejected, tried, total, free, allowed, allocated, private, rest = map(int, answer.split()[1:])
    if rejected:
        return f"rejected {in_words(tried)}"
    told = [tried, total, free] + [allowed] * (allowed >= 0) + [allocated + private]
    return "oom " + ", ".join(in_words(n) for n in told + [private] * (private > 0) + [rest])


STATISTICS = (
    "allocation",
    "segment",
    "active",
    "inactive_split",
    "allocated_bytes",
    "reserved_bytes",
    "active_bytes",
    "inactive_split_bytes",
    "requested_bytes",
)
COUNTS = (
    "num_alloc_retries",
    "num_ooms",
    "num_sync_all_streams",
    "num_device_alloc",
    "num_device_free",
    "num_oom_rejections",
)


class Torch:
    """PyTorch's allocator behind the same words."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        torch.cuda.init()
        # Where several streams are waited for, the allocator looks at them in the order of a hash
        # table. It is this one, which peaks of `inactive_split` depend on.
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        self.streams = [torch.cuda.default_stream(), second, first]
        self.index = {stream.cuda_stream: i for i, stream in enumerate(self.streams)}
        self.blocks: dict[int, Any] = {}
        self.asked = 0
        self.base = -1
        self.pools: list[Any] = [None]
        self.pool_index = {(0, 0): 0}
        self.scope: Any = None

    def alloc(self, size: int, stream: int) -> str:
        number = self.asked
        self.asked += 1
        try:
            with self.torch.cuda.stream(self.streams[stream]):
                block = self.torch.empty(size, dtype=self.torch.uint8, device="cuda")
        except self.torch.OutOfMemoryError as error:
            return self.told_by(str(error))
        self.blocks[number] = block
        address: int = block.data_ptr()
        if self.base < 0:
            self.base = min(s["address"] for s in self.segments())
        return str(address - self.base)

    def told_by(self, message: str) -> str:
        size = r"[\d.]+ (?:bytes|KiB|MiB|GiB)"
        text = message.split("If reserved")[0]
        if "preemptively" in text:
            return f"rejected {re.findall(size, text)[0]}"
        return "oom " + ", ".join(re.findall(size, text))

    def segments(self) -> list[Any]:
        result: list[Any] = self.torch.cuda.memory._snapshot()["segments"]
        return result

    @staticmethod
    def told(torch: Any) -> str:
        """All statistics, in the order of the probe's."""
        s = torch._C._cuda_memoryStats(0)
        told = [
            s[name][pool] for name in STATISTICS for pool in ("all", "small_pool", "large_pool")
        ]
        told += [s["oversize_allocations"], s["oversize_segments"]]
        numbers = [n[k] for n in told for k in ("current", "peak", "allocated", "freed")]
        numbers += [s.get(name, 0) for name in COUNTS]
        return "statistics " + " ".join(map(str, numbers))

    def map(self) -> Iterator[str]:
        for s in sorted(self.segments(), key=lambda s: s["address"]):
            active = [b for b in s["blocks"] if b["state"] != "inactive"]
            requested = sum(b["requested_size"] for b in active)
            pool = self.pool_index[tuple(s["segment_pool_id"])]
            yield (
                f"segment {s['address'] - self.base} {s['total_size']} {s['allocated_size']} "
                f"{s['active_size']} {requested} {self.index[s['stream']]} {pool} "
                f"{int(s['segment_type'] == 'small')} {int(s['is_expandable'])}"
            )
            for b in s["blocks"]:
                state = "active_awaiting_free" if "free" in b["state"] else b["state"]
                size = 0 if state == "inactive" else b["requested_size"]
                yield f"block {b['address'] - s['address']} {b['size']} {size} {state}"

    def answer(self, line: str) -> Iterator[str]:
        word, *rest = line.split()
        numbers = [int(n) for n in rest]
        if word == "alloc":
            yield self.alloc(*numbers)
        elif word == "free":
            self.blocks.pop(numbers[0], None)
        elif word == "record":
            if numbers[0] in self.blocks:
                self.blocks[numbers[0]].record_stream(self.streams[numbers[1]])
        elif word == "empty":
            self.torch.cuda.empty_cache()
        elif word == "reset":
            self.torch.cuda.reset_peak_memory_stats()
        elif word == "pool":
            pool = self.torch.cuda.MemPool(use_on_oom=bool(numbers[0]), no_split=bool(numbers[1]))
            self.pools.append(pool)
            self.pool_index[tuple(pool.id)] = len(self.pools) - 1
        elif word == "begin":
            self.scope = self.torch.cuda.use_mem_pool(self.pools[numbers[0]])
            self.scope.__enter__()
        elif word == "end":
            self.scope.__exit__(None, None, None)
        elif word == "release":
            self.pools[numbers[0]] = None
        elif word == "statistics":
            yield self.told(self.torch)
        elif word == "map":
            yield from self.map()


def transcript(c: Configuration) -> Iterator[str]:
    """What PyTorch answers; only in a process that was started by `run_torch`."""
    torch = Torch()
    for line in requests(c):
        yield from torch.answer(line)


def run_torch(name: str, python: Sequence[str] = (sys.executable,)) -> list[str]:
    """What PyTorch answers, in a process that `python` starts."""
    c = CONFIGURATIONS[name]
    environment = {
        **os.environ,
        "PYTORCH_CUDA_ALLOC_CONF": c.settings,
        "FAKE_MEM_MIB": str(c.memory_mib),
        "FAKE_CTX_MIB": str(CONTEXT_MIB),
    }
    if c.late:
        environment["FAKE_EVENT_NOTREADY"] = "1"
    command = [*python, __file__, "--transcript", name]
    done = subprocess.run(
        command,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=3000,
    )
    return done.stdout.splitlines()


def digest(answers: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(answers).encode()).hexdigest()[:16]


def digests(answers: Sequence[str]) -> Iterator[str]:
    """One for each chunk of answers."""
    for first in range(0, len(answers), CHUNK):
        yield digest(answers[first : first + CHUNK])


def record(folder: Path, names: Iterable[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        answers = run_torch(name)
        failed = sum(1 for a in answers if a.startswith(("oom", "rejected")))
        last = next(a for a in reversed(answers) if a.startswith("statistics"))
        head = [f"answers {len(answers)}", f"failed {failed}", last]
        (folder / f"{name}.txt").write_text("\n".join([*head, *digests(answers)]) + "\n")
        print(f"{name}: {len(answers)} answers, {failed} requests that failed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", metavar="FOLDER", type=Path)
    parser.add_argument("--transcript", metavar="NAME", choices=list(CONFIGURATIONS))
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.transcript:
        for line in transcript(CONFIGURATIONS[arguments.transcript]):
            print(line)
    elif arguments.record:
        record(arguments.record, arguments.names or CONFIGURATIONS)
    else:
        parser.error("give --record or --transcript")


if __name__ == "__main__":
    main()
