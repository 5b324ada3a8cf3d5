#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What real models ask of CUDA's caching allocator, and what PyTorch's own makes of it.

usage: record_steps.py FOLDER NAME     NAME of measure_truth.MODELS

Writes FOLDER/NAME.requests.gz, the requests in the words of tests/oracle/caching_probe.cc, and
FOLDER/NAME.txt: the statistics after each phase, and a digest of all addresses. The phases are of a
program that was exported on the device: the resident tensors, a forward pass without gradients, and
three training steps with AdamW. Needs a CUDA build of PyTorch, transformers and torchvision; a
device that only seems to be there will do.
"""

from __future__ import annotations

import gc
import gzip
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import allocator_streams as streams
import torch

# Kept as it measured the truth, without types.
measure_truth: Any = importlib.import_module("measure_truth")
CUDA = torch.device("cuda")
Run = Callable[[], None]


class Recorder:
    """The requests since the process began, with what is noted between them."""

    def __init__(self) -> None:
        torch.cuda.init()
        torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=10**7)
        self.notes: list[tuple[int, str]] = []  # after how many entries, and what
        self.statistics: list[str] = []

    def entries(self) -> list[dict[str, Any]]:
        trace: list[dict[str, Any]] = torch.cuda.memory._snapshot()["device_traces"][0]
        return [e for e in trace if e["action"] in ("alloc", "free_requested", "segment_alloc")]

    def note(self, word: str) -> None:
        self.notes.append((len(self.entries()), word))

    def release(self) -> None:
        gc.collect()
        self.note("empty")
        torch.cuda.empty_cache()

    def phase(self, name: str, run: Run) -> None:
        self.note("reset")
        torch.cuda.reset_peak_memory_stats()
        run()
        self.note("statistics")
        self.statistics.append(f"{name}: {streams.Torch.told(torch)}")

    def requests(self) -> tuple[list[str], list[str]]:
        """The words, and the addresses that PyTorch gave."""
        entries = self.entries()
        base = min(e["addr"] for e in entries if e["action"] == "segment_alloc")
        words: list[str] = []
        addresses: list[str] = []
        block: dict[int, int] = {}
        notes = iter([*self.notes, (len(entries) + 1, "")])
        place, word = next(notes)
        for i, e in enumerate(entries):
            while place <= i:
                words.append(word)
                place, word = next(notes)
            if e["action"] == "alloc":
                block[e["addr"]] = len(addresses)
                addresses.append(str(e["addr"] - base))
                words.append(f"alloc {e['size']} {0 if e['stream'] == 0 else 1}")
            elif e["action"] == "free_requested":
                words.append(f"free {block.pop(e['addr'])}")
        words += [w for p, w in self.notes if p >= len(entries)]
        return words, addresses


def moved(example: Any) -> Any:
    if isinstance(example, dict):
        return {name: tensor.to(CUDA) for name, tensor in example.items()}
    return tuple(tensor.to(CUDA) for tensor in example)


def loss_of(output: Any) -> Any:
    if not torch.is_tensor(output):
        return output.loss
    labels = torch.zeros(output.shape[0], dtype=torch.long, device=CUDA)
    return torch.nn.functional.cross_entropy(output, labels)


def forward(module: Any, example: Any) -> Run:
    def run() -> None:
        with torch.no_grad():
            measure_truth.call(module, example)

    return run


def train(module: Any, example: Any, optimizer: Any) -> Run:
    def run() -> None:
        output = measure_truth.call(module, example)
        loss = loss_of(output)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return run


def record(name: str, folder: Path) -> None:
    make, inputs = measure_truth.MODELS[name]
    torch.backends.cuda.enable_cudnn_sdp(False)
    recorder = Recorder()
    original = make().train().to(CUDA)
    example = moved(inputs())
    args, kwargs = ((), example) if isinstance(example, dict) else (example, {})
    module = torch.export.export(original, args, kwargs, strict=False).module()
    recorder.release()
    recorder.phase("resident", lambda: None)
    recorder.phase("forward_no_grad", forward(module, example))
    recorder.release()
    step = train(module, example, torch.optim.AdamW(module.parameters(), lr=1e-3))
    for i in range(1, 4):
        recorder.phase(f"train_AdamW step {i}", step)
    words, addresses = recorder.requests()
    text = "\n".join(words) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(text.encode(), mtime=0)
    (folder / f"{name}.requests.gz").write_bytes(packed)
    lines = [*recorder.statistics, f"addresses {streams.digest(addresses)}"]
    (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    print(f"{name}: {len(words)} requests, {len(packed)} bytes")


def main() -> None:
    if len(sys.argv) != 3:  # one in a process: what came before would be part of the requests
        sys.exit(__doc__)
    record(sys.argv[2], Path(sys.argv[1]))


if __name__ == "__main__":
    main()
