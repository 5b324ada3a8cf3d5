# SPDX-License-Identifier: Apache-2.0
"""What `--fit` tells a user to type for a model whose sizes are all fixed, typed."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn


class Base(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(10, 10)


class Plain(Base):
    def forward(self, x: Any, other: Any) -> Any:
        return self.fc(x) * other


class Optional(Base):
    def forward(self, x: Any, mask: Any = None, scale: float = 1.0) -> Any:
        return self.fc(x) * scale if mask is None else self.fc(x) * mask


class OfDict(Base):
    def forward(self, pair: Any) -> Any:
        return self.fc(pair["a"]) + pair["b"]


class OfList(Base):
    def forward(self, pair: Any) -> Any:
        return self.fc(pair[0]) + pair[1]


class OfMany(Base):
    def forward(self, *xs: Any) -> Any:
        return self.fc(xs[0]) + xs[1]


class Numbered(Base):
    def forward(self, x_0: Any, x_1: Any) -> Any:
        return self.fc(x_0) + x_1


class Added(Base):
    def forward(self, x: Any, position: Any) -> Any:
        return self.fc(x) + position


class AddedFirst(Base):
    def forward(self, position: Any, x: Any) -> Any:
        return self.fc(x) + position


class ByKeyword(Base):
    def forward(self, x: Any, *, y: Any) -> Any:
        return self.fc(x) + y


class ByAnyKeyword(Base):
    def forward(self, x: Any, **others: Any) -> Any:
        return self.fc(x) + others["z"]


def rows(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes or (4, 10))


CALLS: dict[str, tuple[nn.Module, tuple[Any, ...], dict[str, Any]]] = {
    "tensors": (Plain(), (rows(), rows()), {}),
    "number": (Plain(), (rows(), 3), {}),
    "scalar": (Plain(), (rows(), torch.tensor(2.0)), {}),
    "none": (Optional(), (rows(), None, 1.0), {}),
    "mask": (Optional(), (rows(), rows(4, 1)), {}),
    "dict": (OfDict(), ({"a": rows(), "b": rows()},), {}),
    "list": (OfList(), ([rows(), rows()],), {}),
    "tuple": (OfList(), ((rows(), rows()),), {}),
    "many": (OfMany(), (rows(), rows()), {}),
    "numbered": (Numbered(), (rows(), rows()), {}),
    "positions": (Added(), (rows(), rows(10)), {}),
    "positions_first": (AddedFirst(), (rows(10), rows()), {}),
    "table_first": (AddedFirst(), (rows(7, 10), rows(4, 7, 10)), {}),
    "keyword": (ByKeyword(), (rows(),), {"y": rows()}),
    "any_keyword": (ByAnyKeyword(), (rows(),), {"z": rows()}),
}


def fit(steelyard: str, program: torch.export.ExportedProgram, path: Path) -> Any:
    torch.export.save(program, path)
    command = [steelyard, "weigh", str(path), "--fit", "1MB", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr if done.returncode else json.loads(done.stdout)


@pytest.mark.parametrize("name", CALLS)
def test_the_remedy_works(name: str, steelyard: str, tmp_path: Path) -> None:
    model, args, kwargs = CALLS[name]
    told = fit(steelyard, torch.export.export(model, args, kwargs), tmp_path / "fixed.pt2")
    first, second = re.findall("`([^`]*)`", told)
    names = {"torch": torch, "model": model, "args": args, "kwargs": kwargs}
    exec(first, names)
    found = fit(steelyard, eval(second, names), tmp_path / "open.pt2")
    assert found["memory"]["fit"]["dimension"] == "batch", told
    assert found["memory"]["fit"]["size"] > 1
