# SPDX-License-Identifier: Apache-2.0
"""Modules that checkpoint are weighed as the live module runs: its memory and its work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import steelyard
import torch
from recording import counter, events_of, peak_of
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

X = torch.randn(16, 32)
MIXED = "use_reentrant=True beside such with use_reentrant=False"


def layers() -> nn.Sequential:
    return nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))


class Net(nn.Module):
    """Calls `run` with itself; its first layer makes what a checkpoint needs a gradient of."""

    def __init__(self, run: Callable[[Any, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.first, self.run = nn.Linear(32, 32), run
        self.blocks = nn.ModuleList([layers() for _ in range(3)])
        self.deep = layers()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(self, self.first(x)).square().mean()

    def body(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.deep(x) * self.blocks[0](x)
        return y


def of_modules(reentrant: bool) -> Callable[[Any, torch.Tensor], torch.Tensor]:
    def run(net: Net, x: torch.Tensor) -> torch.Tensor:
        for block in net.blocks:
            x = x + checkpoint(block, x, use_reentrant=reentrant)
        return x

    return run


def of_method(net: Net, x: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = checkpoint(net.body, x, use_reentrant=False)
    return y


def of_some_calls(net: Net, x: torch.Tensor) -> torch.Tensor:
    x = checkpoint(net.deep, x, use_reentrant=False)
    y: torch.Tensor = checkpoint(net.deep, net.deep(x), use_reentrant=False)
    return y


def of_segments(net: Net, x: torch.Tensor) -> torch.Tensor:
    segments = nn.Sequential(*net.blocks)
    y: torch.Tensor = checkpoint_sequential(segments, 3, x, use_reentrant=True)
    return y


def without_gradients(net: Net, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = checkpoint(net.deep, x, use_reentrant=False)
    z: torch.Tensor = checkpoint(net.blocks[0], x + y, use_reentrant=False)
    return z


def measured(net: nn.Module) -> tuple[int, int]:
    """The peak and the work of a step of PyTorch's."""
    optimizer = torch.optim.SGD(net.parameters(), foreach=False)

    def step() -> None:
        net(X).backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    with counter() as work:
        step()
    return peak_of(events_of(step)), work.get_total_flops()


def weighed(net: nn.Module, **keywords: Any) -> tuple[int, int]:
    data = steelyard.weigh(net, X, train="sgd", **keywords).data
    return data["memory"]["peak"] - data["memory"]["resident"], sum(data["flops"].values())


RUNS = {
    "modules": of_modules(False),
    "modules, reentrant": of_modules(True),
    "method": of_method,
    "some calls": of_some_calls,
    "segments": of_segments,
    "without gradients": without_gradients,
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())
def test_checkpoints_are_weighed_as_they_run(run: Any) -> None:
    net = Net(run).train()
    assert weighed(net) == measured(net)


def test_without_a_step_nothing_runs_again() -> None:
    net = Net(of_modules(True)).train()
    weighing = steelyard.weigh(net, X)
    assert weighing.data["flops"] == steelyard.weigh(net.eval(), X).data["flops"]
    assert "recompute" not in weighing.data["flops"]


def test_regions_are_named_by_their_modules() -> None:
    net = Net(of_modules(False)).train()
    paths = {row["path"] for row in steelyard.weigh(net, X, train="sgd").to_dicts()}
    net.run = lambda net, x: of_method(net, of_modules(False)(net, x))
    more = {row["path"] for row in steelyard.weigh(net, X, train="sgd").to_dicts()}
    assert "blocks.0" in paths
    assert more - paths == {"checkpoint", "deep", "deep.0", "deep.1", "deep.2"}


def test_what_a_user_has_recomputed_is_joined() -> None:
    def run(net: Net, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = net.deep(checkpoint(net.blocks[0], x, use_reentrant=False))
        return y

    def both(net: Net, x: torch.Tensor) -> torch.Tensor:
        x = checkpoint(net.blocks[0], x, use_reentrant=False)
        y: torch.Tensor = checkpoint(net.deep, x, use_reentrant=False)
        return y

    assert weighed(Net(run).train(), recompute=["deep"]) == measured(Net(both).train())


def notes_of(run: Any, **keywords: Any) -> str:
    data = steelyard.weigh(Net(run).train(), X, train="sgd", **keywords).data
    return " ".join(note["message"] for note in data["notes"])


def test_what_is_not_modelled_is_told() -> None:
    def with_(**options: Any) -> Any:
        return lambda net, x: checkpoint(net.deep, x, use_reentrant=False, **options)

    def nested(net: Net, x: torch.Tensor) -> torch.Tensor:
        inner = lambda y: checkpoint(net.deep, y, use_reentrant=False)  # noqa: E731
        y: torch.Tensor = checkpoint(inner, x, use_reentrant=False)
        return y

    plain = notes_of(with_())
    for options in ({"early_stop": False}, {"preserve_rng_state": False}):
        assert next(iter(options)) not in plain
        assert f"{next(iter(options))}=False" in notes_of(with_(**options))
    assert "context_fn" in notes_of(with_(context_fn=lambda: checkpoint_contexts()))
    assert "checkpoints within" in notes_of(nested)
    mixed = lambda net, x: of_modules(True)(net, of_modules(False)(net, x))  # noqa: E731
    assert MIXED in notes_of(mixed)
    assert MIXED in notes_of(with_(), recompute=["first"], recompute_reentrant=True)
    assert MIXED not in notes_of(of_modules(True))


def checkpoint_contexts() -> Any:
    saved = [torch.ops.aten.addmm.default]
    return torch.utils.checkpoint.create_selective_checkpoint_contexts(saved)


class AsksForGradients(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.linear(x)
        if torch.is_grad_enabled():
            y = self.linear(y)
        return y.mean()


def test_the_path_is_that_with_or_without_gradients() -> None:
    """As the step and the forward pass are run, whatever holds where `weigh` is called."""
    model, each = AsksForGradients(), 2 * 16 * 32 * 32
    for enabled in (True, False):
        with torch.set_grad_enabled(enabled):
            assert steelyard.weigh(model, X).totals.forward_flops == each
            step = steelyard.weigh(model, X, train="sgd")
            assert step.totals.forward_flops == 2 * each
            assert torch.is_grad_enabled() == enabled
            assert steelyard.weigh(model, X, as_="exported").totals.forward_flops == each * (
                2 if enabled else 1
            )
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("train", [None, "sgd"])
def test_the_state_of_random_numbers_is_the_hosts(reentrant: bool, train: str | None) -> None:
    """torch.get_rng_state() and torch.cuda.get_rng_state() give tensors on the CPU."""
    state = torch.get_rng_state().nbytes
    for device, there in (("cpu", True), ("h100", False)):
        net = Net(of_modules(reentrant))
        events = steelyard.weigh(net, X, train=train, device=device).events
        assert (state in [size for _, size, _ in events]) is there
