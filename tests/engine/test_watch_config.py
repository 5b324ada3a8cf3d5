# SPDX-License-Identifier: Apache-2.0
"""Programs that are watched as a DeepSpeed configuration says."""

import json
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

from steelyard import watch_command  # noqa: E402
from steelyard.watch_config import ProfilerConfig  # noqa: E402

PROGRAM = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    model(torch.randn(1 + step, 4)).sum().backward()
    optimizer.step()
"""


def watched(folder: Path, block: Any, steps: int = 4) -> int:
    (folder / "ds.json").write_text(json.dumps({"train_batch_size": 4, "flops_profiler": block}))
    (folder / "train.py").write_text(PROGRAM.replace("STEPS", str(steps)))
    return watch_command.main(["--config", str(folder / "ds.json"), str(folder / "train.py")])


@pytest.mark.parametrize("step", [0, 1, 3])
@pytest.mark.filterwarnings("ignore:without warm-up")
def test_the_step_that_it_names_is_profiled(tmp_path: Path, step: int) -> None:
    out = tmp_path / "profile.txt"
    block = {"enabled": True, "profile_step": step, "output_file": str(out), "detailed": False}
    assert watched(tmp_path, block) == 0
    text = out.read_text()
    assert f"Profile Summary at step {step}:" in text
    # Each step has a row more.
    macs = (1 + step) * (4 * 8 + 8 * 2)
    assert f"fwd MACs per GPU: {macs} MACs" in " ".join(text.split())
    assert "Detailed Profile" not in text


def test_without_a_file_it_goes_to_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watched(tmp_path, {"enabled": True}) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "Detailed Profile" in told.err
    assert watched(tmp_path, {"enabled": True, "profile_step": 9}) == 0
    assert "the program ended before" in capsys.readouterr().err


def test_one_that_is_not_enabled_has_the_usual_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watched(tmp_path, {"profile_step": 2}) == 0
    told = capsys.readouterr().err
    assert "not enabled" in told
    assert "4 steps" in told


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ({"enable": True}, "has no enable"),
        ({"enabled": "yes"}, 'enabled is "yes"'),
        ({"profile_step": True}, "profile_step is true"),
        ({"module_depth": 1.5}, "module_depth is 1.5"),
        ([], "is no object"),
    ],
)
def test_what_it_does_not_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], block: Any, says: str
) -> None:
    assert watched(tmp_path, block) == 1
    assert says in capsys.readouterr().err


def test_defaults_are_those_of_deepspeed(tmp_path: Path) -> None:
    path = tmp_path / "ds.json"
    path.write_text("{}")
    assert ProfilerConfig.read(path) == ProfilerConfig(False, 0.0, 1, -1, 1, True, None)
    path.write_text("[]")
    with pytest.raises(steelyard.UsageError, match="no DeepSpeed"):
        ProfilerConfig.read(path)


ENGINE = """
import torch
class DeepSpeedEngine(torch.nn.Module):
    world_size = dp_world_size = mp_world_size = 1
    def __init__(self, module):
        super().__init__()
        self.module = module
    def forward(self, x):
        return self.module(x)
    def train_micro_batch_size_per_gpu(self):
        return 4
engine = DeepSpeedEngine(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)))
optimizer = torch.optim.SGD(engine.parameters(), lr=0.1)
for step in range(3):
    for micro_step in range(2):
        engine(torch.randn(4, 4)).sum().backward()
    optimizer.step()
"""


def test_of_an_engine_it_tells_what_deepspeed_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ds.json").write_text(json.dumps({"flops_profiler": {"enabled": True}}))
    (tmp_path / "train.py").write_text(ENGINE)
    assert (
        watch_command.main(["--config", str(tmp_path / "ds.json"), str(tmp_path / "train.py")]) == 0
    )
    told = capsys.readouterr().err
    lines = {
        key: value.split() for key, _, value in (line.partition(": ") for line in told.splitlines())
    }
    assert lines["batch size per GPU"] == ["4"]
    assert lines["fwd MACs per GPU"] == [str(2 * 4 * (4 * 8 + 8 * 2)), "MACs"]
    assert "{'Sequential': '58'}" in told.split("depth 1")[0]
    assert told.splitlines()[-3].startswith("  (1): Linear(18 = ")
    # Both micro-steps are samples of the step.
    value, unit = lines["iter latency"]
    seconds = float(value) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]
    assert float(lines["samples/second"][0]) == pytest.approx(2 * 4 / seconds, rel=0.01)
