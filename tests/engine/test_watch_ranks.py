# SPDX-License-Identifier: Apache-2.0
"""Programs of several processes that are watched: their reports are made one."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from steelyard import watch_ranks  # noqa: E402

if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("this PyTorch has no Gloo", allow_module_level=True)

WIDTH, HIDDEN, CLASSES, FLOAT = 32, 64, 4, 4
PARAMETERS = WIDTH * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES

BEGIN = """
    import time, torch, torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(32, 64)
            self.second = torch.nn.Linear(64, 4)
        def forward(self, x):
            return self.second(torch.relu(self.first(x)))
    model = Model()
"""
TRAIN = """
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(5):
        if rank == 1:
            time.sleep(SLEEP)
        model(torch.randn(8, 32)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    END
    dist.destroy_process_group()
"""
DDP = "    model = torch.nn.parallel.DistributedDataParallel(model)\n"


def launched(
    folder: Path, middle: str, ranks: int, *options: str, sleep: float = 0, end: str = "pass"
) -> subprocess.CompletedProcess[str]:
    text = BEGIN + middle + TRAIN.replace("SLEEP", str(sleep)).replace("END", end)
    (folder / "train.py").write_text(textwrap.dedent(text))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    return subprocess.run(
        [*launcher, "--standalone", "-m", "steelyard", "watch", *options, "train.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=100,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
    )


def told(folder: Path, middle: str, ranks: int = 2, **more: Any) -> dict[str, Any]:
    done = launched(folder, middle, ranks, "--format", "json", "-o", "out.json", **more)
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return data


def test_what_a_straggler_does_is_told_from_what_others_wait(tmp_path: Path) -> None:
    data = told(tmp_path, DDP, sleep=0.2)
    slow, fast = data["by_rank"][1], data["by_rank"][0]
    # Their whole steps take alike: one works, the other waits.
    assert fast["step"] > 0.2
    assert slow["alone"] > 0.2 > fast["alone"]
    assert fast["to_optimizer"] > slow["to_optimizer"]
    assert [row["rank"] for row in data["stragglers"]] == [1]
    assert data["stragglers"][0]["where"] == "between"
    assert data["time"]["alone"]["slowest"] == 1
    assert data["distributed"] == {"ranks": 2, "data_parallel": 2}
    assert [report["distributed"]["rank"] for report in data["reports"]] == [0, 1]
    assert {row["path"] for row in data["modules"]} >= {"module.first", "module.second"}
    text = watch_ranks.told(data)
    assert "by 2 ranks: data parallel 2" in text
    assert "Straggler: rank 1" in text


def test_what_is_sharded_is_told_to_the_byte(tmp_path: Path) -> None:
    mesh = 'mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))\n'
    data = told(tmp_path, f"    {mesh}    fully_shard(model, mesh=mesh)\n")
    assert data["distributed"] == {"ranks": 2, "data_parallel": 2}
    assert data["parameters"]["lowest"] == data["parameters"]["highest"] == PARAMETERS
    at_peak = [report["memory"]["at_peak"] for report in data["reports"]]
    # All sizes are even.
    counters = 4 * FLOAT
    for each in at_peak:
        assert each["parameters"] == PARAMETERS * FLOAT // 2
        assert each["optimizer_state"] == PARAMETERS * FLOAT + counters


def test_a_mesh_of_two_dimensions_has_both_sizes(tmp_path: Path) -> None:
    middle = """
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, parallelize_module)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    plan = {"first": ColwiseParallel(), "second": RowwiseParallel()}
    parallelize_module(model, mesh["tp"], plan)
    fully_shard(model, mesh=mesh["dp"])
"""
    data = told(tmp_path, middle, ranks=4)
    assert data["distributed"] == {"ranks": 4, "data_parallel": 2, "tensor_parallel": 2}


def test_a_pipeline_has_its_size_and_no_straggler(tmp_path: Path) -> None:
    middle = """
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
    part = torch.nn.Linear(32, 32)
    stage = PipelineStage(part, rank, 2, torch.device("cpu"))
    run = ScheduleGPipe(stage, n_microbatches=2, loss_fn=lambda x, y: (x - y).pow(2).mean())
    for step in range(3):
        run.step(*((torch.randn(8, 32),) if rank == 0 else ()),
                 **({} if rank == 0 else {"target": torch.randn(8, 32)}))
"""
    data = told(tmp_path, middle, sleep=0.1)
    assert data["distributed"]["pipeline_parallel"] == 2
    assert data["stragglers"] == []


def test_records_of_ranks_are_merged_afterwards(tmp_path: Path) -> None:
    done = launched(tmp_path, DDP, 2, "--record", "run.{rank}", end="import os; os._exit(0)")
    assert done.returncode == 0, done.stderr
    words = ["--read", "run.1", "run.0", "--format", "json"]
    read = subprocess.run(
        [sys.executable, "-m", "steelyard", "watch", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    merged = json.loads(read.stdout)
    assert merged["distributed"]["data_parallel"] == 2
    assert [row["rank"] for row in merged["by_rank"]] == [0, 1]
    assert [row["steps"] for row in merged["by_rank"]] == [5, 5]


def test_a_rank_that_fails_ends_the_program_as_it_would_have(tmp_path: Path) -> None:
    done = launched(tmp_path, DDP, 2, end="assert rank != 1, 'on purpose'")
    assert done.returncode != 0
    assert "on purpose" in done.stderr


def report_of(rank: int, seconds: float, model: str = "Model") -> dict[str, Any]:
    step = {"forward": seconds, "backward": 1.0, "optimizer": 0.5, "to_optimizer": 9 - seconds}
    times = {"forward": seconds, "backward": 0.75, "recompute": 0.25}
    return {
        "model": model,
        "torch": "2.15.0",
        "distributed": {"rank": rank, "ranks": 3},
        "first_counted_step": 1,
        "steps": [step | {"seconds": 77.0}, step | {"seconds": 11.0}],
        "memory": {"peak": 100 + rank, "at_peak": {"parameters": 28, "gradients": 72 + rank}},
        "parameters": {"count": 7},
        "flops": {"forward": 40 * (1 + rank), "backward": 80},
        "modules": [
            {
                "path": "first",
                "class": "Linear",
                "depth": 1,
                "seconds": times,
                "at_peak": {"parameters": 28, "gradients": rank},
                "flops": {"forward": 40 * (1 + rank), "backward": 80},
            }
        ],
        "remarks": [],
    }


def test_merged_figures_are_of_the_ranks() -> None:
    reports = watch_ranks.in_order([report_of(2, 3.0), report_of(0, 2.0)])
    assert [report is None for report in reports] == [False, True, False]
    merged = watch_ranks.merged(reports)
    assert merged["silent"] == [1]
    assert merged["time"]["forward"] == {
        "lowest": 2.0,
        "median": 2.5,
        "highest": 3.0,
        "slowest": 2,
    }
    assert merged["modules"][0]["backward"]["median"] == 1.0
    # 11 - (9 - 3) is 5, 11 - (9 - 2) is 4: a quarter more.
    assert [row["rank"] for row in merged["stragglers"]] == [2]
    assert merged["stragglers"][0]["more"] == 1.0
    assert "Rank 1 has told nothing" in watch_ranks.told(merged)


def test_merged_work_and_categories_are_of_the_ranks() -> None:
    merged = watch_ranks.merged([report_of(0, 2.0), report_of(1, 2.0), report_of(2, 2.0)])
    forward = {"lowest": 40, "median": 80, "highest": 120, "most": 2}
    assert merged["work"] == {
        "forward": forward,
        "backward": {"lowest": 80, "median": 80, "highest": 80, "most": 0},
    }
    assert merged["memory"]["at_peak"]["gradients"] == {
        "lowest": 72,
        "median": 73,
        "highest": 74,
        "most": 2,
    }
    (module,) = merged["modules"]
    assert module["flops_forward"] == forward
    assert module["at_peak"] == {"lowest": 28, "median": 29, "highest": 30, "most": 2}
    text = watch_ranks.told(merged)
    assert re.search(r"flops forward +40 FLOP +80 FLOP +120 FLOP +2\n", text)
    assert re.search(r"  gradients +72 B +73 B +74 B +2\n", text)


def test_what_is_unknown_is_said() -> None:
    reports = [report_of(0, 2.0), report_of(1, 2.0)]
    reports[1]["unmodelled"] = [{"op": "mine::op", "calls": 2}]
    told = watch_ranks.told(watch_ranks.merged(reports))
    assert "Note: work is at least this: not modelled are mine::op\n" in told


def test_ranks_that_heard_no_operators_have_no_work() -> None:
    reports = [report_of(0, 2.0), report_of(1, 2.0)]
    del reports[1]["flops"]
    merged = watch_ranks.merged(reports)
    assert merged["work"] == {}
    assert "flops" not in watch_ranks.told(merged)


def test_ranks_that_take_alike_have_no_straggler() -> None:
    merged = watch_ranks.merged([report_of(0, 2.0), report_of(1, 2.2)])
    assert merged["stragglers"] == []
    assert "Straggler" not in watch_ranks.told(merged)
