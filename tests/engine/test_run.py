# SPDX-License-Identifier: Apache-2.0
"""What `steelyard run` tells besides what is computed: precisions side by side, shares, faults."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import safetensors.torch
import torch
from test_engine import DATA, STEELYARD, steelyard

TRANSLATOR = DATA / "train/translator.pt2"
ONCE = ("--warmup", 0, "--number", 1)


def refusal(path: Path, *options: object) -> str:
    """What it says on standard error."""
    # A sanitizer would end the process where there is no memory.
    environment = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0"}
    line = [STEELYARD, "run", str(path), *map(str, options)]
    done = subprocess.run(line, capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stderr
    # A sanitizer says that it would not have given the memory either.
    return "\n".join(line for line in done.stderr.splitlines() if line.startswith("steelyard"))


def program(folder: Path, *lines: str) -> Path:
    path = folder / "program.syt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_two_precisions_run_in_turns() -> None:
    options = ("--train", "sgd", "--compare", "fp32,bf16", "--peak-flops", "1T,2T")
    report = steelyard("run", TRANSLATOR, *options, *ONCE, "--repeat", 6)
    step = report["ratios"]["step"]
    assert step["pairs"] == 6
    assert step["confidence"] == 1 - 2 / 2**6  # of the smallest and the largest of six
    assert step["lowest"] <= step["median"] <= step["highest"]
    runs = report["runs"]
    pairs = zip(
        runs["fp32"]["time"]["forward"]["repetitions"],
        runs["bf16"]["time"]["forward"]["repetitions"],
        strict=True,
    )
    ratios = sorted(after / before for before, after in pairs)
    assert report["ratios"]["forward"]["lowest"] == pytest.approx(ratios[0])
    # Under autocast there are casts, which allocate.
    assert runs["bf16"]["memory"]["events"] > runs["fp32"]["memory"]["events"]
    assert runs["fp32"]["device_peak"]["flops_per_second"] == 1e12
    assert runs["bf16"]["device_peak"] == {
        "flops_per_second": 2e12,
        "measured": False,
        "dtype": "bfloat16",
    }


def test_text_of_two_precisions() -> None:
    line = [STEELYARD, "run", str(TRANSLATOR), "--compare", "fp32,bf16", *map(str, ONCE)]
    line += ["--repeat", "2", "--peak-flops", "1T,1T"]
    text = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert re.search(r"bf16 takes [\d.]+x the time of fp32", text)
    assert "peak, predicted" in text


def test_the_peak_is_measured_and_speeds_are_shares_of_it() -> None:
    report = steelyard("run", TRANSLATOR, "--train", "sgd", *ONCE, "--repeat", 2)
    peak, share = report["device_peak"], report["share_of_peak"]
    assert peak["measured"]
    assert peak["dtype"] == "float32"
    assert 1e9 < peak["flops_per_second"] < 1e15
    seconds = report["time"]["step"]["median"]
    expected = share["model_flops"] / seconds / peak["flops_per_second"]
    assert share["model"] == pytest.approx(expected)
    assert share["executed_flops"] == report["time"]["step"]["flops"]


def test_what_is_computed_again_is_executed_and_not_the_models() -> None:
    options = ("--train", "sgd", *ONCE, "--repeat", 1, "--peak-flops", "1T", "--recompute", "*")
    share = steelyard("run", TRANSLATOR, *options)["share_of_peak"]
    assert share["executed_flops"] > share["model_flops"]
    assert share["executed"] > share["model"]


def test_ctrl_c_tells_what_there_is() -> None:
    line = [STEELYARD, "run", str(TRANSLATOR), "--compare", "fp32,bf16", "--format", "json"]
    line += ["--number", "1", "--repeat", "1000000"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        time.sleep(8)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    runs = json.loads(output)["runs"]
    assert runs["fp32"]["interrupted"]
    counts = [len(run["time"]["forward"]["repetitions"]) for run in runs.values()]
    assert max(counts) - min(counts) <= 1


def test_the_first_kernel_that_is_not_finite_is_named(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        'module "": Net',
        "module head: Head",
        'parameter %w: f32[8] "head.weight"',
        "input %x: f32[8]",
        "%a = aten::mul.Tensor(%x, %w) in head",
        "%b = aten::exp(%a) in head",
        "%c = aten::sub.Tensor(%b, %b)",
        "%l = aten::sum(%c)",
        "return %l",
    )
    weights, inputs = tmp_path / "weights", tmp_path / "inputs"
    safetensors.torch.save_file({"head.weight": torch.full((8,), 1000.0)}, weights)
    safetensors.torch.save_file({"x": torch.ones(8)}, inputs)
    said = refusal(path, "--train", "sgd", "--weights", weights, "--inputs", inputs)
    assert "the loss is nan" in said
    assert re.search(r"the NaN is first in kernel \d+ \(aten::sub.Tensor\)", said)
    assert re.search(r"infinity that is first in kernel \d+ \(aten::exp\) of head", said)


def test_a_kernel_that_is_missing_is_told_in_one_line(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        "input %x: f16[4,4]",
        "input %y: i64[4]",
        "%z = aten::multi_margin_loss(%x, %y)",
        "return %z",
    )
    said = refusal(path, *ONCE)
    assert "PyTorch has no kernel of aten::multi_margin_loss for float16, int64 on the CPU" in said
    assert "float32 or bfloat16" in said
    assert len(said.splitlines()) == 1


# A product of each number with each: 640 GB.
LARGE = (
    'parameter %w: f32[400000,1] "w"',
    "input %x: f32[1,400000]",
    "%a = aten::mul.Tensor(%w, %x)",
    "%b = aten::relu(%a)",
    "%l = aten::mean(%b)",
    "return %l",
)


def test_where_memory_ends(tmp_path: Path) -> None:
    said = refusal(program(tmp_path, *LARGE), *ONCE)
    assert "there is not memory enough" in said
    assert re.search(r"kernel \d+ \(aten::mul.Tensor\)", said)
    assert "Its peak was predicted to be 1.16 TiB" in said
    assert "--batch" in said


def test_where_memory_ends_a_step_is_advised_on(tmp_path: Path) -> None:
    said = refusal(program(tmp_path, *LARGE), *ONCE, "--train", "adamw")
    assert "Its peak was predicted to be" in said
    assert re.search(r"What lowers it, by weighing: --.* less\)", said)


def test_an_input_that_cannot_be_placed(tmp_path: Path) -> None:
    path = program(tmp_path, "input %x: f32[4000000,4000000]", "%y = aten::relu(%x)", "return %y")
    said = refusal(path, *ONCE)
    assert "there is not memory enough" in said
    assert ": x:" in said


def test_more_threads_than_there_can_be_are_refused() -> None:
    line = [STEELYARD, "run", str(TRANSLATOR), "--threads", "100000"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 2
    assert "100000 is more than 4096" in done.stderr


def test_an_engine_in_this_folder_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "engine.so").write_text("no library")
    line = [STEELYARD, "run", str(TRANSLATOR), "--engine", "engine.so"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert "./engine.so: the engine cannot be loaded" in done.stderr


def test_a_run_that_is_interrupted_at_once_has_no_differences() -> None:
    line = [STEELYARD, "run", str(TRANSLATOR), "--train", "sgd", "--format", "json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=60)
    memory = json.loads(output)["memory"]
    assert memory["events"] > 0 or not memory["differences"]
    assert memory["predicted_peak"] > 0


class Reading(torch.nn.Module):
    def __init__(self, is_whole: bool) -> None:
        super().__init__()
        self.is_whole = is_whole

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.is_whole:
            return x * x.max().item()
        count = x[0].int().item()
        torch._check(count >= 1)
        torch._check(count <= 4)
        return x[:count] * 2


@pytest.mark.parametrize("is_whole", [False, True])
def test_what_is_computed_with_a_number_of_the_data_is_not_written(
    is_whole: bool, tmp_path: Path
) -> None:
    path = tmp_path / "reading.pt2"
    torch.export.save(torch.export.export(Reading(is_whole), (torch.ones(4),)), path)
    assert "stand for any" in refusal(path, "--save", tmp_path / "saved", "--repeat", 0)
    assert steelyard("run", path, *ONCE, "--repeat", 1)["memory"]["differences"] == []


# Operators of a library that is no part of PyTorch.
TWICE = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <torch/library.h>
at::Tensor twice(const at::Tensor& x) { return at::add(x, x); }
TORCH_LIBRARY(mine, m) { m.def("twice(Tensor x) -> Tensor", &twice); }
"""


def test_a_library_of_operators(tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no compiler")
    source, library = tmp_path / "twice.cc", tmp_path / "libtwice.so"
    source.write_text(TWICE)
    torch_folder = Path(torch.__file__).parent
    line = [compiler, "-std=c++20", "-O0", "-fPIC", "-shared", source, "-o", library]
    line += ["-isystem", torch_folder / "include", f"-L{torch_folder / 'lib'}"]
    subprocess.run([*map(str, line), "-ltorch_cpu", "-lc10"], check=True)
    path = program(tmp_path, "input %x: f32[4]", "%y: f32[4] = mine::twice(%x)", "return %y")
    assert "is named with --library" in refusal(path, *ONCE)
    inputs, saved = tmp_path / "inputs", tmp_path / "saved"
    x = torch.randn(4)
    safetensors.torch.save_file({"x": x}, inputs)
    files = ("--inputs", inputs, "--save", saved, "--repeat", 0)
    steelyard("run", path, *files, "--library", library)
    assert torch.equal(safetensors.torch.load_file(saved)["outputs.0"], x + x)


def test_what_is_no_library_of_operators_is_told(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    said = refusal(TRANSLATOR, "--library", tmp_path / "text.so")
    assert "the library of operators cannot be loaded" in said
    assert "TORCH_LIBRARY" in said
    assert "cannot open shared object file" in refusal(TRANSLATOR, "--library", "nothere.so")


TIMING = """
import steelyard, torch
print("it begins", flush=True)
try:
    steelyard.profile_model(torch.nn.Linear(8, 8), "cpu", [torch.ones(4, 8)], repeat=10**9)
except KeyboardInterrupt:
    print("it was interrupted")
"""


def test_ctrl_c_ends_what_python_runs() -> None:
    pytest.importorskip("steelyard")
    line = [sys.executable, "-c", TIMING]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "it begins\n"
        time.sleep(10)  # it exports the module first
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=60)
    assert output == "it was interrupted\n"
    assert running.returncode == 0


class Chosen(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[torch.tensor([2, 0])] * torch.tensor([0.5, 2.0])


def test_a_module_whose_code_makes_tensors_is_timed() -> None:
    steelyard_package = pytest.importorskip("steelyard")
    times = steelyard_package.profile_model(
        Chosen(), "cpu", [torch.ones(3)], warmup=0, number=1, repeat=2
    )
    assert len(times) == 2


def test_casts_of_what_is_compared() -> None:
    casts = ("--cast", "aten::linear=float32")
    report = steelyard("run", TRANSLATOR, "--compare", "fp32,bf16", "--repeat", 2, *ONCE, *casts)
    plain = steelyard("run", TRANSLATOR, "--compare", "fp32,bf16", "--repeat", 2, *ONCE)
    memory = [each["runs"]["bf16"]["memory"] for each in (report, plain)]
    assert memory[0] != memory[1]


def test_weights_may_be_overwritten_by_what_is_computed(tmp_path: Path) -> None:
    lines = ("input %x: f32[512,512]", "%y: f32[512,512] = aten::mul.Tensor(%x, %w)", "return %y")
    path = program(tmp_path, 'parameter %w: f32[512,512] "w"', *lines)
    weights = tmp_path / "w.safetensors"
    safetensors.torch.save_file({"w": torch.full((512, 512), 2.0)}, weights)
    steelyard("run", path, "--weights", weights, "--save", weights, "--repeat", 1, *ONCE)
    assert torch.equal(
        safetensors.torch.load_file(weights)["parameters.w"], torch.full((512, 512), 2.0)
    )
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(AssertionError, match="would overwrite what is read"):
        steelyard("run", path, "--save", path)


class Laid(torch.nn.Module):
    """Buffers that no state dict has, in other layouts than rows."""

    def __init__(self) -> None:
        super().__init__()
        numbers = torch.arange(24.0)
        for name, tensor in {
            "turned": numbers[:12].view(3, 4).t(),
            "moved": numbers[5:9],
            "every_second": numbers[1::2][:4],
            "expanded": numbers[2:5].expand(4, 3),
            "channels": numbers.view(1, 3, 2, 4).to(memory_format=torch.channels_last),
        }.items():
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sums = self.turned.sum(1) * self.moved + self.every_second + self.expanded[:, 1]
        return x * sums + self.channels[0, 1, 1]


def test_tensors_of_the_model_in_other_layouts(tmp_path: Path) -> None:
    model, path = Laid(), tmp_path / "laid.pt2"
    x = torch.randn(1).expand(4)
    torch.export.save(torch.export.export(model, (x,)), path)
    inputs, saved = tmp_path / "x.safetensors", tmp_path / "y.safetensors"
    safetensors.torch.save_file({"x": x.contiguous()}, inputs)
    steelyard("run", path, "--inputs", inputs, "--save", saved, "--repeat", 0)
    assert torch.equal(safetensors.torch.load_file(saved)["outputs.0"], model(x))
