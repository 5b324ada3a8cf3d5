# SPDX-License-Identifier: Apache-2.0
"""What begins to require a gradient while a module runs, and inputs that do, are weighed as PyTorch
runs them, to the byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import steelyard
import torch
from recording import counter, events_of, peak_of
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    """A frozen layer, and `run` with what that gives and with the module."""

    def __init__(self, run: Callable[[Net, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.first, self.run = nn.Linear(32, 48), run
        self.frozen, self.last = nn.Linear(48, 64), nn.Linear(64, 32)
        for layer in (self.first, self.frozen):
            layer.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(self, self.first(x)).square().mean()

    def rest(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.last(torch.tanh(self.frozen(x)))
        return y


def of_result(net: Net, x: torch.Tensor) -> torch.Tensor:
    return net.rest(x.requires_grad_())


def of_attribute(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y.requires_grad = True
    return net.rest(y.relu()) + net.rest(y)


def of_view(net: Net, x: torch.Tensor) -> torch.Tensor:
    half = x[:, :16]
    half.requires_grad_(True)
    return net.rest(torch.cat([half, half, half.sin()], 1))


def of_what_learns(net: Net, x: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = net.last(torch.tanh(net.frozen(x))).requires_grad_()  # it does already
    return y


def of_several(net: Net, x: torch.Tensor) -> torch.Tensor:
    a = torch.tanh(x).requires_grad_()
    y = net.rest(a).detach().requires_grad_()
    return y.exp().sum() + net.rest(a * 3).sum()


def unused(net: Net, x: torch.Tensor) -> torch.Tensor:
    (x + 1).requires_grad_()
    return net.rest(x)


def before_checkpoint(net: Net, x: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = checkpoint(net.rest, x.requires_grad_(), use_reentrant=False)
    return y


def before_reentrant_checkpoint(net: Net, x: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = checkpoint(net.rest, x.requires_grad_(), use_reentrant=True)
    return y


def given_more_than_is_used(net: Net, x: torch.Tensor) -> torch.Tensor:
    more = torch.tanh(x)
    y: torch.Tensor = checkpoint(
        lambda a, b: net.rest(a), x.requires_grad_(), {"mask": more}, use_reentrant=False
    )
    return y


def held_by_closure(net: Net, x: torch.Tensor) -> torch.Tensor:
    def body(a: torch.Tensor) -> torch.Tensor:
        return net.rest(a) if more is not None else a

    more = torch.tanh(x)
    y: torch.Tensor = checkpoint(body, x.requires_grad_(), use_reentrant=False)
    return y


def without_gradients(net: Net, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = torch.tanh(net.frozen(x))
        y.requires_grad_()
        more = y.sin()
    return net.last(y * more.cos()).exp()


def after_a_region_without_gradients(net: Net, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = torch.tanh(x)
        z = (y + 1).exp()
    return net.rest(z.requires_grad_()) + net.rest(y * 2)


RUNS = (
    of_result,
    without_gradients,
    after_a_region_without_gradients,
    of_attribute,
    of_view,
    of_what_learns,
    of_several,
    unused,
    before_checkpoint,
    before_reentrant_checkpoint,
    given_more_than_is_used,
    held_by_closure,
)


def hooked() -> nn.Module:
    net = nn.Sequential(nn.Linear(32, 48), nn.Tanh(), nn.Linear(48, 32), nn.Flatten(0))
    net[0].requires_grad_(False)
    net[0].register_forward_hook(lambda module, x, y: y.requires_grad_(True))
    return net


def measured(net: nn.Module, x: torch.Tensor) -> tuple[int, int]:
    """The peak and the work of a step of PyTorch's."""
    learned = [parameter for parameter in net.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(learned, foreach=False)

    def step() -> None:
        x.grad = None
        y = net(x)
        (y if y.dim() == 0 else y.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    with counter() as work:
        step()
    x.grad = None
    return peak_of(events_of(step)), work.get_total_flops()


def weighed(net: nn.Module, x: torch.Tensor) -> tuple[int, int]:
    data = steelyard.weigh(net, x, train="sgd", loss=None if isinstance(net, Net) else "sum").data
    return data["memory"]["peak"] - data["memory"]["resident"], sum(data["flops"].values())


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
@pytest.mark.parametrize("wanted", [False, True], ids=["input", "wanted input"])
def test_a_step_is_to_the_byte(
    run: Callable[[Net, torch.Tensor], torch.Tensor], wanted: bool
) -> None:
    if wanted and run in (of_view, of_attribute):
        pytest.skip("which PyTorch refuses, of what is computed from such an input")
    x = torch.randn(16, 32, requires_grad=wanted)
    assert weighed(Net(run), x) == measured(Net(run), x)


@pytest.mark.parametrize("wanted", [False, True], ids=["input", "wanted input"])
def test_hooks_may_require_them(wanted: bool) -> None:
    x = torch.randn(16, 32, requires_grad=wanted)
    assert weighed(hooked(), x) == measured(hooked(), x)


def test_gradients_of_inputs_are_said_to_go() -> None:
    x = torch.randn(16, 32, requires_grad=True)
    notes = steelyard.weigh(Net(of_result), x, train="sgd").data["notes"]
    assert any("gradients of inputs go with the step" in note["message"] for note in notes)


def test_hooks_on_gradients_are_said_not_to_run() -> None:
    def run(net: Net, x: torch.Tensor) -> torch.Tensor:
        y = net.rest(x)
        y.register_hook(lambda gradient: gradient * 2)
        return y

    notes = steelyard.weigh(Net(run), torch.randn(16, 32), train="sgd").data["notes"]
    assert any("register_hook" in note["message"] for note in notes)
