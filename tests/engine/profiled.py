# SPDX-License-Identifier: Apache-2.0
"""A loop that profilers are put beside each other over, and what they tell of it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from torch.profiler import ProfilerActivity  # noqa: E402

ROWS, WIDTH, HIDDEN, CLASSES = 8, 16, 32, 4
FLOAT = 4
CPU = [ProfilerActivity.CPU]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(WIDTH, HIDDEN)
        self.attention = torch.nn.MultiheadAttention(HIDDEN, 2, batch_first=True)
        self.norm = torch.nn.LayerNorm(HIDDEN)
        self.head = torch.nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        x = self.norm(x + self.attention(x, x, x)[0])
        scores: torch.Tensor = self.head(torch.cat([x, x * 2], 1))
        return scores


def make_step() -> Callable[[], None]:
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters())

    def step() -> None:
        with steelyard.record_function("forward"):
            loss = model(torch.randn(ROWS, 3, WIDTH)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    return step


def run(make: Callable[..., Any], steps: int = 2, **options: Any) -> Any:
    step = make_step()
    with make(activities=CPU, **options) as prof:
        for _ in range(steps):
            step()
            prof.step()
    return prof


def written(prof: Any, path: Path) -> dict[str, Any]:
    prof.export_chrome_trace(str(path))
    content = path.read_bytes()
    trace: dict[str, Any] = json.loads(
        gzip.decompress(content) if path.suffix == ".gz" else content
    )
    return trace


def counts(prof: Any, **grouped: Any) -> dict[tuple[str, str, bool], int]:
    rows = prof.key_averages(**grouped)
    return {(r.key, str(r.input_shapes), r.is_user_annotation): r.count for r in rows}
