# SPDX-License-Identifier: Apache-2.0
"""Programs that are watched without the engine: what Python alone can tell, and that it says so."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from steelyard import _core, engine_library, watching  # noqa: E402
from steelyard.errors import InvalidInputError, UnsupportedError  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402


@pytest.fixture(autouse=True)
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Any:
        raise UnsupportedError("there is no C++ compiler", "the engine", "Install one.")

    monkeypatch.setattr(engine_library, "observer", none)


class Slow(torch.autograd.Function):
    """Takes its time, both ways."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, forward: float, backward: float) -> torch.Tensor:
        ctx.seconds = backward
        time.sleep(forward)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        time.sleep(ctx.seconds)
        return gradient * 2, None, None


class Sleeping(torch.nn.Module):
    def __init__(self, forward: float, backward: float) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
        self.seconds = forward, backward

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = Slow.apply(self.layer(x), *self.seconds)
        return result


class Model(torch.nn.Module):
    def __init__(self, again: bool = False) -> None:
        super().__init__()
        self.first, self.second = Sleeping(0.02, 0.05), Sleeping(0.04, 0.01)
        self.again = again

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        x = checkpoint(self.second, x, use_reentrant=False) if self.again else self.second(x)
        return x.sum()


def watched(model: torch.nn.Module, **options: Any) -> Any:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with steelyard.watch(**options) as watch:
        for _ in range(3):
            model(torch.randn(4, 8)).backward()
            optimizer.step()
            optimizer.zero_grad()
    return watch


def rows(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["path"]: row for row in data["modules"]}


def test_modules_and_the_backward_pass_are_timed() -> None:
    data = watched(Model()).report.data
    assert len(data["steps"]) == 3
    assert data["steps_end_with"] == "optimizer"
    assert data["parameters"]["count"] == 2 * (8 * 8 + 8)
    first, second = (rows(data)[name]["seconds"] for name in ("first", "second"))
    assert first["forward"] >= 0.02
    assert first["backward"] >= 0.05
    assert second["forward"] >= 0.04
    assert second["backward"] >= 0.01
    # However busy the machine: each is told what it took itself.
    assert first["forward"] < second["forward"]
    assert first["backward"] > second["backward"]
    step = data["steps"][1]
    assert step["forward"] >= 0.06
    assert step["backward"] >= 0.06
    assert "without the engine" in data["remarks"][0]
    assert "no C++ compiler" in data["remarks"][0]


def test_what_runs_again_is_no_call_of_the_program() -> None:
    row = rows(watched(Model(again=True)).report.data)["second"]
    assert row["calls"] == 1
    assert row["seconds"]["recompute"] > 0


def test_of_memory_nothing_is_told() -> None:
    text = watched(Model()).report.render()
    assert "Memory" not in text
    assert "without the engine" in text


def test_the_record_is_that_of_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "run.record"
    watch = watched(Model(), record=path)
    read = watching.WatchReport(path.read_bytes(), str(path))
    assert read.data["steps"] == watch.report.data["steps"]


def test_long_records_have_several_chunks() -> None:
    layers = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(300)))
    with steelyard.watch(layers) as watch:
        for _ in range(10):
            layers(torch.randn(2, 4)).sum().backward()
            watch.step()
    data = watch.report.data
    assert len(data["steps"]) == 10
    assert all(rows(data)[f"{i}"]["calls"] == 1 for i in range(300))


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="that can be written"):
        steelyard.watch(record=tmp_path / "none" / "run.record").__enter__()


@pytest.fixture
def in_the_record() -> Iterator[Any]:
    """Reads what a session has recorded."""
    yield lambda watch: _core.read_watch(watch.record, "the record")


def test_an_exception_ends_nothing(in_the_record: Any) -> None:
    class Failing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("its own")

    with steelyard.watch() as watch:
        with pytest.raises(RuntimeError, match="its own"):
            Failing()(torch.zeros(1))
        Model()(torch.randn(4, 8)).backward()
    assert in_the_record(watch) is not None
    assert rows(watch.report.data)["first"]["seconds"]["backward"] > 0.05
