# SPDX-License-Identifier: Apache-2.0
"""What is known of modules that are at hand, and what is said of what is not weighed."""

from __future__ import annotations

import concurrent.futures
import copy
import functools
import random
from typing import Any

import pytest
import steelyard
import torch
from recording import events_of, peak_of

X = torch.zeros(4, 8)


class Twins(torch.nn.Module):
    """Layers of one size that are not one: of the first three only one is called, of the last by
    its second name."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
        self.teacher = copy.deepcopy(self.used)
        self.first = torch.nn.Linear(8, 8)
        self.blocks = torch.nn.Sequential(self.used, self.first)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.blocks(x)
        return result


@pytest.mark.parametrize("exported", [False, True])
def test_layers_of_one_size_are_not_taken_for_one(exported: bool) -> None:
    x = torch.zeros(1, 8)
    weighing = (
        steelyard.weigh(torch.export.export(Twins(), (x,)))
        if exported
        else steelyard.weigh(Twins(), (x,))
    )
    assert weighing.totals.parameter_count == 4 * (8 * 8 + 8)
    assert not [note for note in weighing.data["notes"] if "tied" in note["message"]]


class Choosing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.cond(
            x.sum() > 0, lambda x: self.layer(x), lambda x: self.layer(x) * 2, (x,)
        )
        return result


class Repeating(Choosing):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = (torch.tensor(0), x)
        result: torch.Tensor = torch.while_loop(
            lambda i, h: i < 3, lambda i, h: (i + 1, torch.tanh(self.layer(h))), steps
        )[1]
        return result


@pytest.mark.parametrize("model", [Choosing, Repeating])
def test_operators_that_take_functions_are_met(model: type[torch.nn.Module]) -> None:
    x = torch.randn(4, 8)
    flops = [
        steelyard.weigh(model(), (x,), as_=as_).totals.forward_flops for as_ in (None, "exported")
    ]
    assert flops[0] == flops[1] == 2 * 4 * 8 * 8
    assert not torch.compiler.is_compiling()


def test_what_cannot_be_traced_as_it_runs_is_weighed_as_it_is_exported() -> None:
    class Mapped(Choosing):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = torch.vmap(lambda row: self.layer(row).sin())(x)
            return result

    x = torch.randn(4, 8)
    notes = [note["message"] for note in steelyard.weigh(Mapped(), (x,)).data["notes"]]
    assert any(note.startswith("it is weighed as torch.export traces it") for note in notes)
    with pytest.raises(steelyard.ExportError):
        steelyard.weigh(Mapped(), (x,), as_="module")


def test_random_numbers_stay_where_they_were() -> None:
    class Drawing(Choosing):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch.manual_seed(0)
            result: torch.Tensor = self.layer(x) if random.random() < 2 else x
            return result

    model, x = Drawing(), torch.zeros(4, 8)
    before = random.getstate(), torch.get_rng_state()
    steelyard.weigh(model, (x,))
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


def test_what_a_step_does_besides_is_said() -> None:
    model = torch.nn.Linear(8, 8)
    model.weight.register_hook(lambda gradient: gradient * 2)
    x = torch.zeros(4, 8, requires_grad=True)
    notes = [
        n["message"] for n in steelyard.weigh(model, (x,), train="sgd", loss="sum").data["notes"]
    ]
    assert any(note.startswith("hooks on gradients are not run, of weight") for note in notes)
    assert any(note.startswith("gradients of inputs go with the step") for note in notes)
    of_a_graph = steelyard.weigh(model, (x * 2,), train="sgd", loss="sum").data["notes"]
    assert any("the backward pass ends at them" in note["message"] for note in of_a_graph)
    exported = steelyard.weigh(model, (x,), train="sgd", loss="sum", as_="exported").data["notes"]
    assert any(note["message"].startswith("inputs require gradients") for note in exported)


def test_models_are_weighed_by_several_threads() -> None:
    x, models = torch.zeros(4, 8), [Twins() for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as workers:
        found = list(workers.map(lambda model: steelyard.weigh(model, (x,)), models))
    assert {weighing.totals.parameter_count for weighing in found} == {4 * (8 * 8 + 8)}


def test_what_is_compiled_in_part_is_weighed_as_it_was_written() -> None:
    whole, parts = (
        torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)) for _ in range(2)
    )
    parts[1] = torch.compile(parts[1])
    parts[0].compile()
    x = torch.zeros(4, 8)
    peaks = [steelyard.weigh(model, (x,)).totals.peak_bytes for model in (whole, parts)]
    assert peaks[0] == peaks[1]


class Casting(torch.nn.Module):
    """Calls one layer twice, and two others, under autocast of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for layer in (self.layers[0], *self.layers):
                x = layer(x)
        return x.float().sum()


def peak_of_weighing(model: torch.nn.Module, x: torch.Tensor, **keywords: Any) -> int:
    memory = steelyard.weigh(model, (x,), **keywords).data["memory"]
    peak: int = memory["peak"] - memory["resident"]
    return peak


def test_casts_are_kept_while_a_region_of_autocast_lasts() -> None:
    model, x = Casting(), torch.randn(8, 64)
    optimizer = torch.optim.SGD(model.parameters(), foreach=False)

    def step() -> None:
        model(x).backward()
        optimizer.step()
        optimizer.zero_grad()

    def call() -> None:
        with torch.no_grad():
            model(x)

    step()
    assert peak_of_weighing(model, x) == peak_of(events_of(call))
    assert peak_of_weighing(model, x, train="sgd") == peak_of(events_of(step))
    assert torch.is_autocast_cache_enabled()


def test_micro_steps_hold_nothing_of_one_another() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 16))
    x = torch.randn(128, 16)
    optimizer = torch.optim.SGD(model.parameters(), foreach=False)

    def step(micro_steps: int) -> None:
        for _ in range(micro_steps):
            y = model(x)
            loss = y.sum() / micro_steps
            loss.backward()
            del y, loss
        optimizer.step()
        optimizer.zero_grad()

    for micro_steps in (2, 3, 8):
        weighed = peak_of_weighing(model, x, train="sgd", loss="sum", accumulate=micro_steps)
        step(micro_steps)
        assert weighed == peak_of(events_of(functools.partial(step, micro_steps)))


class Edges(torch.nn.Module):
    """Keeps the edges of a graph that are no loops, after something else was overwritten."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            kept = edges[:, edges[0] != edges[1]]
            x = torch.zeros_like(x).index_add_(0, kept[1], self.linear(x)[kept[0]])
        return x.square().mean()


@pytest.mark.parametrize("loops", [0, 3, 10])
def test_sizes_of_data_are_those_of_the_examples(loops: int) -> None:
    edges = torch.stack([torch.arange(10), (torch.arange(10) + 1) % 10])
    edges[1, :loops] = edges[0, :loops]
    x, model = torch.zeros(10, 8), Edges()

    def call() -> None:
        with torch.no_grad():
            model(x, edges)

    weighing = steelyard.weigh(model, (x, edges))
    memory = weighing.data["memory"]
    assert memory["peak"] - memory["resident"] == peak_of(events_of(call))
    notes = " ".join(note["message"] for note in weighing.data["notes"])
    assert f"u0 = {10 - loops} is the model's example size; bind it with --size u0=N" in notes
    most = steelyard.weigh(model, (x, edges), sizes={"u*": 10}).totals.peak_bytes
    assert most >= memory["peak"]


class Chosen(torch.nn.Module):
    """Goes on with rows that its own numbers choose, if there are any, one after the other where
    that is asked for."""

    def __init__(self, each: bool = False) -> None:
        super().__init__()
        self.linear, self.each = torch.nn.Linear(8, 8), each

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        rows = y[y.sum(1) > 0]
        if rows.numel() == 0:
            return x.sum()
        if self.each:
            return torch.stack([row.sin() for row in rows]).sum()
        return self.linear(rows).sum()


def test_branches_by_sizes_of_data_are_taken_for_the_largest() -> None:
    x, model = torch.ones(300, 8), Chosen()
    with torch.no_grad():
        model.linear.weight.fill_(1.0)
        model.linear.bias.fill_(1.0)

    def call() -> None:
        with torch.no_grad():
            model(x)

    weighing = steelyard.weigh(model, x)
    memory = weighing.data["memory"]
    assert memory["peak"] - memory["resident"] == peak_of(events_of(call))
    notes = " ".join(note["message"] for note in weighing.data["notes"])
    assert "taken as for the largest that these can be" in notes
    assert "u0 = 300 is assumed" in notes
    with pytest.raises(steelyard.ExportError, match="data-dependent"):
        steelyard.weigh(Chosen(each=True), x)


def test_what_is_settled_is_not_logged(capfd: pytest.CaptureFixture[str]) -> None:
    steelyard.weigh(Chosen(), torch.ones(300, 8))
    assert "propagate_real_tensors" not in "".join(capfd.readouterr())
