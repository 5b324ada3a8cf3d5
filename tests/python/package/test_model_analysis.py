# SPDX-License-Identifier: Apache-2.0
"""RAF's calls. Its own programs give the numbers that it printed (tests/oracle)."""

from pathlib import Path

import pytest
import steelyard
import torch
from programs import F32, INPUTS, OUTPUTS, ROWS, written
from steelyard import (
    append_loss_n_optimizer,
    calc_model_gflops,
    get_param_size,
    get_peak_memory,
    trace_memory,
)

RAF = Path(__file__).parents[2] / "data/published"
BERT, BERT_STEP = RAF / "raf-bert-base-b32-s128.syt", RAF / "raf-bert-base-b32-s128-sgd.syt"
MIB = 2**20


def test_what_raf_printed_of_bert() -> None:
    assert get_param_size(BERT) == 109_514_298.0
    assert get_param_size(BERT, mbs=True) == 417.7638931274414
    assert get_peak_memory(BERT) == 1371.611572265625
    assert get_peak_memory(BERT_STEP) == 5640.39990234375
    assert calc_model_gflops(BERT) == 914.1637796584982
    assert trace_memory(BERT, "cpu")[1] == ("layer_norm", 441.7990417480469)


def test_without_parameters(tmp_path: Path) -> None:
    path = written(tmp_path)
    held = F32 * ROWS * OUTPUTS / MIB
    assert get_peak_memory(path, include_param=False) == pytest.approx(held)
    assert trace_memory(path, include_param=False)[0][1] == pytest.approx(held)
    resident = F32 * (ROWS * INPUTS + INPUTS * OUTPUTS) / MIB
    assert get_peak_memory(path) == pytest.approx(resident + held)


def test_as_pytorch_runs_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    trace = trace_memory(path, runtime="eager")
    assert max(held for _, held in trace) == get_peak_memory(path, runtime="eager")
    assert {name for name, _ in trace} == {"aten::mm", ""}, (
        "what is left at the end goes with nobody"
    )


def test_a_live_module() -> None:
    model = torch.nn.Linear(INPUTS, OUTPUTS)
    x = torch.zeros(ROWS, INPUTS)
    assert get_param_size(model) == INPUTS * OUTPUTS + OUTPUTS
    assert get_param_size(model, mbs=True) == F32 * (INPUTS * OUTPUTS + OUTPUTS) / MIB
    assert calc_model_gflops(model, "cpu", [x]) > 2 * ROWS * INPUTS * OUTPUTS / 1e9
    assert get_peak_memory(model, "cpu", [x]) > get_param_size(model, mbs=True)
    alone = get_peak_memory(model, torch.device("cpu"), x)
    assert alone == get_peak_memory(model, "cpu", [x]), "a tensor alone is the input"
    step = append_loss_n_optimizer(model, x)
    assert calc_model_gflops(step) == calc_model_gflops(append_loss_n_optimizer(model, [x]))


def test_complex_numbers_are_learned() -> None:
    model = torch.nn.Linear(INPUTS, OUTPUTS, dtype=torch.complex64)
    assert get_param_size(model) == INPUTS * OUTPUTS + OUTPUTS
    assert get_param_size(model, mbs=True) == 2 * F32 * (INPUTS * OUTPUTS + OUTPUTS) / MIB


def test_frozen_and_whole_numbers_are_not_learned() -> None:
    model = torch.nn.Linear(INPUTS, OUTPUTS)
    model.bias.requires_grad_(False)
    model.register_buffer("positions", torch.arange(9))
    assert get_param_size(model) == INPUTS * OUTPUTS


def test_a_step() -> None:
    model, x = torch.nn.Linear(INPUTS, OUTPUTS), torch.zeros(ROWS, INPUTS)
    labels = torch.zeros(ROWS, dtype=torch.int64)
    step = append_loss_n_optimizer(model, [x], (ROWS, OUTPUTS), labels)
    assert get_param_size(step) == get_param_size(model)
    peak = get_peak_memory(step)
    assert get_peak_memory(step, "cpu", [torch.ones(()), x, labels]) == peak
    assert peak > get_peak_memory(model, "cpu", [x]) + get_param_size(model, mbs=True)
    with pytest.raises(steelyard.UsageError, match="takes 3 arguments"):
        get_peak_memory(step, "cpu", [x])


def test_refusals() -> None:
    with pytest.raises(steelyard.UsageError, match='there is no "tpu"'):
        get_peak_memory(BERT, "tpu")
    with pytest.raises(steelyard.UsageError, match="There are: sgd, lans"):
        append_loss_n_optimizer(BERT, optimizer="adamw")


def test_devices_are_those_of_pytorch_too() -> None:
    model, x = torch.nn.Linear(INPUTS, OUTPUTS), torch.zeros(ROWS, INPUTS)
    on_cpu = get_peak_memory(model, "cpu", [x], runtime="eager")
    assert get_peak_memory(model, torch.device("cpu"), [x], runtime="eager") == on_cpu
    assert get_peak_memory(model, "cpu:0", [x], runtime="eager") == on_cpu
    with pytest.warns(UserWarning, match="h100"):
        on_gpu = get_peak_memory(model, "cuda:0", [x], runtime="eager")
    assert on_gpu == get_peak_memory(model, "h100", [x], runtime="eager")
    with pytest.raises(steelyard.UsageError, match="tpu"):
        get_peak_memory(model, "tpu", [x])


def test_parameters_depend_on_no_open_size() -> None:
    model = Path(__file__).parents[2] / "data/onnx/bert.torchscript.onnx"
    with pytest.raises(steelyard.InvalidInputError, match="has no value"):
        steelyard.weigh(model)
    bound = steelyard.weigh(model, batch=2, seq=16).data["parameters"]["by_dtype"]["float32"]
    assert get_param_size(model) == bound["count"]
    assert get_param_size(model, mbs=True) == bound["bytes"] / MIB
