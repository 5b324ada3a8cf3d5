# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's numbers and lines: its own tests' models, and where it counts wrongly."""

import gc
import re
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from steelyard import flops_profiler  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

BATCH = 1024


class LeNet5(torch.nn.Module):
    """As in DeepSpeed's tests/unit/profiling/flops_profiler."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.feature_extractor = torch.nn.Sequential(
            torch.nn.Conv2d(1, 6, 5),
            torch.nn.Tanh(),
            torch.nn.AvgPool2d(2),
            torch.nn.Conv2d(6, 16, 5),
            torch.nn.Tanh(),
            torch.nn.AvgPool2d(2),
            torch.nn.Conv2d(16, 120, 5),
            torch.nn.Tanh(),
        )
        self.classifier = torch.nn.Sequential(
            torch.nn.Linear(120, 84), torch.nn.Tanh(), torch.nn.Linear(84, classes)
        )

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.classifier(torch.flatten(self.feature_extractor(x), 1))
        return scores, torch.nn.functional.softmax(scores, dim=1)


class SimpleModel(torch.nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(hidden, hidden)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(self.linear(x), y)


# MACs of LeNet5 for one image: of its convolutions, and of its layers.
CONVOLUTIONS = 28 * 28 * 6 * 25 + 10 * 10 * 16 * 150 + 120 * 400
LAYERS = 120 * 84 + 84 * 10
# Biases of convolutions, and elements that pools and the softmax read.
BIASES = 6 * 28 * 28 + 16 * 10 * 10 + 120
READ = 6 * 28 * 28 + 16 * 10 * 10 + 10


def test_lenet5_is_exact() -> None:
    flops, macs, params = steelyard.get_model_profile(
        LeNet5(10), (BATCH, 1, 32, 32), print_profile=False, as_string=False
    )
    assert macs == BATCH * (CONVOLUTIONS + LAYERS) == 426_516_480
    assert flops == 2 * macs + BATCH * (BIASES + READ) == 866_076_672
    assert params == 61_706


def test_simple_model_is_exact() -> None:
    inputs = {"x": torch.randn(1, 10), "y": torch.zeros(1, dtype=torch.long)}
    flops, macs, params = steelyard.get_model_profile(
        SimpleModel(10), kwargs=inputs, print_profile=False, as_string=False
    )
    assert (flops, macs, params) == (2 * 10 * 10, 10 * 10, 10 * 10 + 10)
    told = steelyard.get_model_profile(SimpleModel(10), kwargs=inputs, print_profile=False)
    assert told == ("200 ", "100 MACs", "110")


# What DeepSpeed 0.19.8 prints for each, of 2 sequences of 5 steps of 16 numbers.
RECURRENT = {
    "LSTM": (torch.nn.LSTM(16, 24, 2, batch_first=True), 173_760),
    "LSTM, two ways and no biases": (
        torch.nn.LSTM(16, 24, 2, bias=False, bidirectional=True),
        432_000,
    ),
    "GRU": (torch.nn.GRU(16, 24), 59_280),
    "RNN": (torch.nn.RNN(16, 24, 3, nonlinearity="relu"), 66_000),
    "LSTMCell": (torch.nn.LSTMCell(16, 24), 15_840),
    "GRUCell, no biases": (torch.nn.GRUCell(16, 24, bias=False), 11_568),
    "RNNCell": (torch.nn.RNNCell(16, 24), 3_888),
}


@pytest.mark.parametrize(("model", "flops"), RECURRENT.values(), ids=RECURRENT.keys())
def test_recurrent_layers_are_exact(model: torch.nn.Module, flops: int) -> None:
    profiler = flops_profiler.FlopsProfiler(model)
    profiler.start_profile()
    model(torch.randn(2, 16) if isinstance(model, torch.nn.RNNCellBase) else torch.randn(2, 5, 16))
    profiler.stop_profile()
    assert profiler.get_total_flops() == flops
    assert profiler.get_total_macs() == 0


def test_other_rules_count_otherwise() -> None:
    model, x = LeNet5(10), torch.randn(2, 1, 32, 32)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(x)
    flops, _, _ = steelyard.get_model_profile(
        model, args=[x], print_profile=False, as_string=False, rules="torch"
    )
    assert flops == counter.get_total_flops()
    _, macs, _ = steelyard.get_model_profile(
        model, args=[x], print_profile=False, as_string=False, rules="deepspeed-2021"
    )
    # Biases, softmax and pools as MACs.
    assert macs == 2 * (CONVOLUTIONS + LAYERS + BIASES + READ)


class Attention(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(query=x, key=x, value=x)


def test_where_deepspeed_fails_the_count_is_right() -> None:
    x = torch.randn(1, 2, 8, 4)
    _, macs, _ = steelyard.get_model_profile(
        Attention(), args=[x], print_profile=False, as_string=False
    )
    assert macs == 2 * (2 * 8 * 8 * 4)


def test_counts_are_the_same_after_an_exception() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4))
    x = torch.randn(2, 3)

    def counted() -> Any:
        return steelyard.get_model_profile(model, args=[x], print_profile=False, as_string=False)

    before = counted()
    with pytest.raises(RuntimeError):
        steelyard.get_model_profile(model, args=[torch.randn(2, 5)], warm_up=0)
    assert counted() == before == (2 * 2 * 3 * 4, 2 * 3 * 4, 3 * 4 + 4)
    assert model.training


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    steelyard.get_model_profile(LeNet5(10), (2, 1, 32, 32))
    lines = capsys.readouterr().out.splitlines()
    heads = [
        "-------------------------- DeepSpeed Flops Profiler --------------------------",
        "Profile Summary at step 1:",
        "params per GPU: ",
        "params of model = params per GPU * mp_size: ",
        "fwd MACs per GPU: ",
        "fwd flops per GPU: ",
        "fwd flops of model = fwd flops per GPU * mp_size: ",
        "fwd latency: ",
        "fwd FLOPS per GPU = fwd flops per GPU / fwd latency: ",
        "----------------------------- Aggregated Profile per GPU -----------------------------",
        "depth 0:",
        "    params      - {'LeNet5': '61.71 K'}",
        "    MACs        - {'LeNet5': '833.04 KMACs'}",
        "------------------------------ Detailed Profile per GPU ------------------------------",
    ]
    places = [next(i for i, line in enumerate(lines) if line.startswith(head)) for head in heads]
    assert places == sorted(places)
    first = next(line for line in lines if "Conv2d(" in line)
    form = (
        r"    \(0\): Conv2d\(156 = 0\.25% Params, 235\.2 KMACs = 28\.23% MACs, "
        r"[\d.]+ \w*s = [\d.]+% latency, [\d.]+ \wFLOPS, "
        r"156 fp32, 624 B = 0\.25% Memory, 1, 6, kernel_size=\(5, 5\), .*\)"
    )
    assert re.fullmatch(form, first), first


def test_a_module_with_two_names_is_printed_at_each(capsys: pytest.CaptureFixture[str]) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4))
    model.append(model[0])
    steelyard.get_model_profile(model, (2, 4))
    told = capsys.readouterr().out
    assert re.findall(r"^  \((\d)\): Linear\(20 = 100% Params, 64 MACs = 100%", told, re.M) == [
        "0",
        "1",
    ]


def test_a_file_instead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "profile.txt"
    steelyard.get_model_profile(LeNet5(10), (2, 1, 32, 32), detailed=False, output_file=str(out))
    assert "fwd MACs per GPU:" in out.read_text()
    assert capsys.readouterr().out == ""


def test_a_backward_pass_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    model = torch.nn.Linear(8, 4)
    profiler = steelyard.FlopsProfiler(model)
    profiler.start_profile()
    model(torch.randn(2, 8)).sum().backward()
    profiler.stop_profile()
    profiler.print_model_profile()
    told = capsys.readouterr().out
    # The gradient of the weight alone: the input needs none.
    assert re.search(rf"measured bwd flops of products per GPU: +{2 * 2 * 8 * 4} ", told)
    assert profiler.get_total_macs(as_string=True) == f"{2 * 8 * 4} MACs"
    profiler.end_profile()
    assert profiler.get_total_macs() == 0


class Engine:
    """What DeepSpeed's tells of itself, with two experts of each rank."""

    world_size, mp_world_size, dp_world_size, has_moe_layers = 4, 2, 2, True
    expert_parallel_size = 2

    def train_micro_batch_size_per_gpu(self) -> int:
        return 2


def test_an_engine_adds_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Linear(4, 4).bfloat16())
    for parameter in model[1].parameters():
        parameter.allreduce = False
    optimizer = torch.optim.SGD(model.parameters())
    profiler = steelyard.FlopsProfiler(model, ds_engine=Engine(), recompute_fwd_factor=1.0)
    profiler.start_profile()
    model[1](model[0](torch.randn(2, 8)).bfloat16()).sum().backward()
    optimizer.step()
    profiler.stop_profile()
    profiler.print_model_profile()
    told = capsys.readouterr().out
    labels = [line.split(":")[0].strip() for line in told.splitlines() if re.search(r": +\S", line)]
    at = labels.index("params per GPU")
    assert labels[at - 2 : at + 4] == [
        "batch size per GPU",
        "expert tensor parallelism enabled",
        "params per GPU",
        "params of model",
        "non-expert params of model",
        "expert params of model",
    ]
    assert re.search(rf"non-expert params of model: +{(8 * 4 + 4) * 2} ", told)
    assert re.search(rf" expert params of model: +{(4 * 4 + 4) * 2} ", told)
    at = labels.index("bwd latency")
    assert labels[at : at + 7] == [
        "bwd latency",
        "bwd FLOPS per GPU = 3 * fwd flops per GPU / bwd latency",
        "fwd+bwd FLOPS per GPU = 4 * fwd flops per GPU / (fwd+bwd latency)",
        "step latency",
        "iter latency",
        "FLOPS per GPU = 4 * fwd flops per GPU / iter latency",
        "samples/second",
    ]
    assert re.search(r"\(1\): Linear\(.*, 20 bfp16, 40 B = .*% Memory, bwd ", told)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 "), (999, "999 "), (3139.93e9, "3.14 T"), (1e15, "1000 T"), (3e-7, "0.3 u")],
)
def test_numbers_as_deepspeed_writes_them(number: float, text: str) -> None:
    assert flops_profiler.number_to_string(number) == text


def test_units_that_are_given() -> None:
    assert flops_profiler.macs_to_string(3139.93e9, "GMACs") == "3139.93 GMACs"
    assert flops_profiler.params_to_string(1.294e9) == "1.29 B"


def test_what_there_is_not() -> None:
    with pytest.raises(steelyard.UsageError, match="guess"):
        steelyard.FlopsProfiler(torch.nn.Linear(1, 1), rules="guess")
    with pytest.raises(steelyard.UsageError, match="train"):
        steelyard.get_model_profile(torch.nn.Linear(1, 1), (1, 1), mode="train")


def test_a_reset_counts_from_there() -> None:
    model = torch.nn.Linear(8, 4)
    profiler = steelyard.FlopsProfiler(model)
    profiler.start_profile()
    for _ in range(3):
        model(torch.randn(2, 8))
    profiler.reset_profile()
    model(torch.randn(2, 8))
    profiler.stop_profile()
    assert profiler.get_total_macs() == 2 * 8 * 4
    profiler.end_profile()


def test_numbers_are_told_while_it_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    profiler = steelyard.FlopsProfiler(model)
    profiler.start_profile()
    assert profiler.get_total_macs() == 0
    one = 2 * (8 * 4 + 4 * 2)
    for steps in (1, 2, 3):
        model(torch.randn(2, 8)).sum().backward()
        optimizer.step()
        assert profiler.get_total_macs() == steps * one
        assert profiler.get_total_flops() == steps * (2 * one + 2 * 4)  # and the ReLU
        assert profiler.get_total_duration() > 0
        assert profiler.get_total_params() == 8 * 4 + 4 + 4 * 2 + 2
    profiler.print_model_profile(output_file=str(tmp_path / "new" / "profile.txt"))
    assert f"{3 * one} MACs" in (tmp_path / "new" / "profile.txt").read_text()
    profiler.print_model_profile(output_file="")
    assert f"{3 * one} MACs" in capsys.readouterr().out
    model(torch.randn(2, 8))
    profiler.stop_profile()
    assert profiler.get_total_macs() == 4 * one
    profiler.end_profile()


def test_a_profile_that_nobody_ends_is_in_nobodys_way() -> None:
    model = torch.nn.Linear(8, 4)
    profiler = steelyard.FlopsProfiler(model)
    profiler.start_profile()
    with pytest.warns(UserWarning, match="dropped without stop"):
        del profiler
        gc.collect()
    assert steelyard.get_model_profile(model, (2, 8), print_profile=False, as_string=False)[1] == 64
