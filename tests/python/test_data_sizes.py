# SPDX-License-Identifier: Apache-2.0
"""Models whose sizes only the data tell, exported and run here: every event as PyTorch's.

They return tuples, lists, dictionaries and nests of them, which die in different orders.
"""

import gc
import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from recorder import record
from torch import nn


class Positions(nn.Module):
    """Positions of what is large, and the rows they are in."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> Any:
        h = self.linear(x)
        i = (h > 0).nonzero()
        return i, h[i[:, 0]]


class Masks(nn.Module):
    """Elements and rows that masks choose, and some that are overwritten."""

    def forward(self, x: torch.Tensor) -> Any:
        rows = x[x.sum(1) > 0]
        return {
            "elements": x.masked_select(x > 0) * 2,
            "rows": (rows, rows.sum(1)),
            "written": torch.index_put(x, [x > 1], -x.masked_select(x > 1)),
        }


class Experts(nn.Module):
    """Experts that each compute the rows that are routed to them."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: torch.Tensor) -> Any:
        weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
        out = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            row, place = torch.where(chosen == k)
            out.index_add_(0, row, expert(x[row]) * weights[row, place, None])
        return out


class Lengths(nn.Module):
    """Distinct lengths, and each row as often as it says."""

    def forward(self, x: torch.Tensor) -> Any:
        lengths = x[:, 0].abs().long() + 1
        values, inverse, counts = torch.unique(lengths, return_inverse=True, return_counts=True)
        return [torch.repeat_interleave(x, lengths, dim=0), [values, counts], inverse]


class Number(nn.Module):
    """As many rows as a number says."""

    def forward(self, x: torch.Tensor) -> Any:
        n = x.abs().sum().long().item() % 4
        torch._check(n >= 0)
        torch._check(n < 5)
        return torch.ones(n, 3) * 2, torch.zeros(n, 2)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "positions": Positions,
    "masks": Masks,
    "experts": Experts,
    "lengths": Lengths,
    "number": Number,
}


def parts(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (tuple, list)) else (value,)


class Sizes(torch.fx.Interpreter):
    """Runs a program and notes the number that each of its symbols has."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.found: dict[str, int] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        result = super().run_node(n)
        for fake, real in zip(parts(n.meta.get("val")), parts(result), strict=False):
            if isinstance(fake, torch.Tensor):
                for symbol, number in zip(fake.shape, real.shape, strict=True):
                    self.note(symbol, number)
            else:
                self.note(fake, real)
        return result

    def note(self, symbol: Any, number: Any) -> None:
        if isinstance(symbol, torch.SymInt) and symbol.node.expr.is_Symbol:
            self.found[str(symbol.node.expr)] = int(number)


@pytest.mark.parametrize("name", MODELS)
def test_every_event(steelyard: str, tmp_path: Path, name: str) -> None:
    torch.manual_seed(3)
    model, x = MODELS[name]().eval(), torch.randn(6, 8)
    program = torch.export.export(model, (x,))
    path = tmp_path / f"{name}.pt2"
    torch.export.save(program, path)
    module = program.module()
    with torch.no_grad():
        sizes = Sizes(module)
        sizes.run(x)
        gc.disable()
        theirs = record([lambda: module(x)])[0]
        gc.enable()
    assert sizes.found, "the model has no such size"

    command = [steelyard, "weigh", str(path), "--events", "--format", "json", "--strict"]
    for symbol, number in sizes.found.items():
        command += ["--size", f"{symbol}={number}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ours = [event[:2] for event in json.loads(done.stdout)["memory"]["events"]]
    assert ours == [list(event) for event in theirs]
    # Without the data it is as much at least, wherever somebody knows a limit.
    least = subprocess.run(command[:7], capture_output=True, text=True)
    if least.returncode == 0:
        report = json.loads(least.stdout)
        highest = max(sum(size for _, size in ours[: i + 1]) for i in range(len(ours)))
        assert report["memory"]["peak_delta"] >= highest
        assert any(
            "is assumed" in n["message"] or "are assumed" in n["message"] for n in report["notes"]
        )
    else:
        assert "--size" in least.stderr
