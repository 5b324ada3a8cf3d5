# SPDX-License-Identifier: Apache-2.0
"""Modules run from Python, on their own tensors."""

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402


def perceptron() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))


def test_a_module_is_timed_and_stays_as_it_is() -> None:
    model, x = perceptron(), torch.randn(2, 16)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    times = steelyard.profile_model(model, "cpu", [x], warmup=1, number=2, repeat=3)
    assert len(times) == 3
    assert all(0 < time < 1000 for time in times)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_a_step_is_timed_whole() -> None:
    model, x = perceptron(), torch.randn(2, 16)
    step = steelyard.append_loss_n_optimizer(model, [x])
    assert len(steelyard.profile_model(step, warmup=0, number=1, repeat=2)) == 2


def test_weights_that_are_no_numbers_are_named() -> None:
    model, x = perceptron(), torch.randn(2, 16)
    with torch.no_grad():
        model[2].bias[1] = float("nan")
    with pytest.raises(steelyard.InvalidInputError, match=r"2\.bias \(1 of it\)"):
        steelyard.profile_model(model, "cpu", [x])


def test_other_devices_are_not_known_yet() -> None:
    with pytest.raises(steelyard.UnsupportedError, match="cuda"):
        steelyard.profile_model(perceptron(), "cuda", [torch.randn(2, 16)])


def test_precisions_run_in_turns() -> None:
    model, x = perceptron(), torch.randn(2, 16)
    compared = steelyard.compare_precisions(model, "cpu", [x], warmup=0, number=1, repeat=6)
    assert compared["precisions"] == ["fp32", "bf16"]
    forward = compared["ratios"]["forward"]
    assert forward["pairs"] == 6
    assert 0 < forward["lowest"] <= forward["median"] <= forward["highest"]
    assert len(compared["runs"]["bf16"]["time"]["forward"]["repetitions"]) == 6


def test_precisions_are_two_that_there_are() -> None:
    with pytest.raises(steelyard.UsageError, match="fp64"):
        steelyard.compare_precisions(perceptron(), "cpu", [torch.randn(2, 16)], ("fp32", "fp64"))
