# SPDX-License-Identifier: Apache-2.0
"""Modules of programs that are watched: which is which."""

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402

SIZE = 64 * 32 * 4  # bytes of a matrix


def test_a_module_that_several_have_is_told_in_each_place() -> None:
    class Half(torch.nn.Module):
        def __init__(self, shared: torch.nn.Module) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList([torch.nn.Sequential(shared, torch.nn.ReLU())])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.parts[0](x)
            return result

    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Linear(8, 8)
            self.first, self.second = Half(self.embed), Half(self.embed)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            once: torch.Tensor = self.second(self.first(self.first(x)))
            return once

    model = Both()
    with steelyard.watch(model, level="ops") as watch:
        model(torch.randn(2, 8)).sum().backward()
    rows = {row["path"]: row for row in watch.report.data["modules"]}
    one = 2 * 2 * 8 * 8
    flops = {path: row["flops"]["forward"] for path, row in rows.items()}
    assert flops["first"] == flops["first.parts.0.0"] == 2 * one
    assert flops["second"] == flops["second.parts.0.0"] == one
    assert flops["embed"] == 0
    assert rows["second.parts.0.0"]["flops"]["backward"] == 2 * one
    assert rows["first"]["flops"]["backward"] == 3 * one  # of the first input there is none
    assert rows["embed"]["parameters"] == rows[""]["parameters"] == 8 * 8 + 8
    assert [rows[path]["calls"] for path in ("embed", "first.parts.0.0")] == [0, 2]


def test_losses_that_are_made_for_each_call_are_one() -> None:
    model = torch.nn.Linear(8, 4)
    with steelyard.watch(model) as watch:
        for _ in range(4):
            x, y = torch.randn(2, 8), torch.tensor([0, 3])
            torch.nn.CrossEntropyLoss()(model(x), y).backward()
    rows = [row for row in watch.report.data["modules"] if row["class"] == "CrossEntropyLoss"]
    assert len(rows) == 1
    assert rows[0]["calls"] == 1


def test_parameters_that_lie_in_one_storage_count_each() -> None:
    """As DeepSpeed's ZeRO keeps them; what has two names counts once."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 2))
    model[2].weight = model[1].weight
    flat = torch.zeros(sum(parameter.numel() for parameter in model.parameters()))
    begin = 0
    for parameter in model.parameters():
        parameter.data = flat[begin : begin + parameter.numel()].view_as(parameter)
        begin += parameter.numel()
    with steelyard.watch(model) as watch:
        model[1](model[0](torch.randn(3, 8)))
    rows = {row["path"]: row for row in watch.report.data["modules"]}
    assert rows[""]["parameters"] == begin == 8 * 4 + 4 + 4 * 2 + 2 + 2
    assert [rows[path]["parameters"] for path in ("0", "1", "2")] == [36, 10, 2]
    assert watch.report.data["memory"]["at_peak"]["parameters"] == flat.nbytes


def test_of_a_parameter_that_deepspeed_keeps_in_parts_the_whole_counts() -> None:
    model = torch.nn.Linear(8, 4, bias=False)
    model.weight.ds_tensor = torch.zeros(16)  # what this rank of two has
    model.weight.ds_numel = 8 * 4
    model.weight.data = torch.empty(0)
    with steelyard.watch(model) as watch:
        torch.randn(2)
    assert watch.report.data["modules"][0]["parameters"] == 8 * 4
    assert watch.report.data["memory"]["at_peak"]["parameters"] == 16 * 4
    assert steelyard.FlopsProfiler(model).get_total_params() == 8 * 4


@pytest.mark.parametrize("anew", [False, True])
def test_parameters_that_lie_elsewhere_are_told_where_they_lie(anew: bool) -> None:
    def train() -> None:
        model = torch.nn.Linear(64, 32, bias=False)
        memory = torch.frombuffer(bytearray(SIZE), dtype=torch.float32)
        model.weight = torch.nn.Parameter(memory.view(32, 64))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(4):
            model(torch.randn(2, 64)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            if step == 0 and anew:
                model.load_state_dict({"weight": torch.randn(32, 64)}, assign=True)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            elif step == 0:
                model.weight.data = torch.randn(32, 64)

    with steelyard.watch() as watch:
        train()
    data = watch.report.data
    # Parameters and a gradient; of the step in which both are there one goes at once.
    assert data["memory"]["at_peak"]["parameters"] == SIZE
    peaks = [step["peak"] for step in data["steps"]]
    assert max(peaks) - min(peaks) < SIZE
