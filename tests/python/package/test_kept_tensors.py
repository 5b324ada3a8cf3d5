# SPDX-License-Identifier: Apache-2.0
"""Modules that keep tensors from one call to the next are weighed as they are called again and
again, to the byte."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import steelyard
import torch
from recording import events_of, peak_of
from torch import nn
from torch.nn.utils import prune

X = torch.randn(4, 16, 64)


class Net(nn.Module):
    """Calls `run` with itself, which may keep what it likes."""

    def __init__(self, run: Callable[[Net, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.run, self.a, self.b = run, nn.Linear(64, 96), nn.Linear(96, 64)
        self.kept: torch.Tensor | None = None
        self.several: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(self, x)


def scores(net: Net, x: torch.Tensor) -> torch.Tensor:
    net.kept = torch.softmax(x @ x.transpose(-1, -2), -1)
    y: torch.Tensor = net.b(net.a(net.kept @ x))
    return y


def last(net: Net, x: torch.Tensor) -> torch.Tensor:
    net.kept = net.b(torch.relu(net.a(x)))
    return net.kept


def table_made_once(net: Net, x: torch.Tensor) -> torch.Tensor:
    if net.kept is None:
        net.kept = torch.arange(x.shape[1] * 64.0).view(x.shape[1], 64).cos()
    y: torch.Tensor = net.b(net.a(x)) * net.kept
    return y


def state_that_goes_on(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = net.b(net.a(x))
    if net.kept is not None:
        y = y + net.kept
    net.kept = torch.tanh(y).detach()
    return y


def all_of_them(net: Net, x: torch.Tensor) -> torch.Tensor:
    net.several = []
    for _ in range(3):
        x = net.b(torch.relu(net.a(x)))
        net.several.append(x)
    return x


def part_of_one(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = net.a(x)
    net.kept = y[:, -1]
    z: torch.Tensor = net.b(torch.relu(y))
    return z


def loss_that_nobody_adds(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = net.a(x)
    net.kept = y.square().mean()
    z: torch.Tensor = net.b(y)
    return z


RUNS = (
    scores,
    last,
    table_made_once,
    state_that_goes_on,
    all_of_them,
    part_of_one,
    loss_that_nobody_adds,
)


def hooked() -> nn.Module:
    net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 64))
    kept: dict[str, torch.Tensor] = {}
    net[1].register_forward_hook(lambda module, x, y: kept.__setitem__("y", y.detach()))
    return net


def pruned() -> nn.Module:
    net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 64))
    prune.l1_unstructured(net[0], "weight", 0.5)
    prune.random_unstructured(net[2], "weight", 0.3)
    return net


def normed() -> nn.Module:
    return nn.Sequential(nn.utils.weight_norm(nn.Linear(64, 96)), nn.ReLU(), nn.Linear(96, 64))


MODELS: dict[str, Callable[[], nn.Module]] = {
    **{run.__name__: functools.partial(Net, run) for run in RUNS},
    **{make.__name__: make for make in (hooked, pruned, normed)},
}


def of_second_call(name: str, call_of: Callable[[nn.Module], Callable[[], None]]) -> int:
    """Its peak beyond what is there always."""
    models: list[nn.Module] = []
    # PyTorch tells of memory that goes only if it has told of it when it came.
    made = events_of(lambda: models.append(MODELS[name]()))
    call = call_of(models[0])
    left = sum(int(size) for _, size in [*made, *events_of(call)]) - always(models[0])
    return left + int(peak_of(events_of(call)))


def always(model: nn.Module) -> int:
    return sum(tensor.nbytes for tensor in [*model.parameters(), *model.buffers()])


def weighed(model: nn.Module, train: str | None) -> int:
    memory = steelyard.weigh(model, X, train=train, loss="sum" if train else None).data["memory"]
    peak: int = memory["peak"] - always(model) - X.nbytes
    return peak


@pytest.mark.filterwarnings("ignore:.*weight_norm")
@pytest.mark.parametrize("name", MODELS)
def test_the_second_forward_pass_is_to_the_byte(name: str) -> None:
    def call_of(model: nn.Module) -> Callable[[], None]:
        def call() -> None:
            with torch.no_grad():
                model.eval()(X)

        return call

    assert weighed(MODELS[name]().eval(), None) == of_second_call(name, call_of)


@pytest.mark.filterwarnings("ignore:.*weight_norm")
@pytest.mark.parametrize("name", MODELS)
def test_the_second_step_is_to_the_byte(name: str) -> None:
    def step_of(model: nn.Module) -> Callable[[], None]:
        optimizer = torch.optim.SGD(model.parameters(), foreach=False)

        def step() -> None:
            y = model(X)
            y.sum().backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    assert weighed(MODELS[name](), "sgd") == of_second_call(name, step_of)


@pytest.mark.filterwarnings("ignore:.*weight_norm")
@pytest.mark.parametrize("name", MODELS)
def test_on_a_device_each_step_finds_what_the_last_one_left(name: str) -> None:
    """The allocator, which runs steps one after the other, has all that the steady one asks for."""
    weighing = steelyard.weigh(MODELS[name](), X, train="adamw", loss="sum", device="h100")
    memory = weighing.data["memory"]
    assert sum(memory["at_peak"].values()) == memory["requested_peak"]


def test_the_first_step_keeps_and_has_kept_nothing() -> None:
    first = steelyard.weigh(Net(scores), X, train="sgd", loss="sum", first_step=True)
    model = Net(scores)
    optimizer = torch.optim.SGD(model.parameters(), foreach=False)

    def step() -> None:
        y = model(X)
        y.sum().backward()
        optimizer.step()

    memory = first.data["memory"]
    assert memory["peak"] - memory["resident"] == peak_of(events_of(step))


def test_it_says_so_where_it_cannot_tell() -> None:
    weighing = steelyard.weigh(Net(scores), X, train="sgd", loss="sum", accumulate=2)
    notes = [note["message"] for note in weighing.data["notes"]]
    assert any("from one call to the next" in note for note in notes), notes
