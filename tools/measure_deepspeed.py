#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what each of several processes does that trains a model of parallel_models.py in
DeepSpeed's engine with ZeRO, on the CPU and with --cuda on a device.

For each way of CASES it writes OUT/NAME.CASE.rankR.truth.json: every allocation and free as
[innermost operator, signed bytes], in a first and a third step with AdamW; and OUT/NAME-low.pt2 of
the models in bfloat16, exported on the meta device (structure only): those in float32 are in
tests/data/parallel. A step: forward, backward, step; the caller holds the outputs until it ends.
The ranks are processes of their own that talk through Gloo, each on one thread.

With --cuda, OUT/NAME.CASE.rankR.cuda-smXX.truth.json has of the first and the third step what
torch.cuda tells at its end: most bytes allocated, requested and reserved, and segments; and of a
fourth every allocation and free in signed bytes as asked for. There is one process, which believes
that there are others (torch's fake process group); it may run under tools/cuda_without_gpu/run.py,
whose numbers are no gradients: where a norm comes out invalid the engine leaves the step out, which
the tool says.

usage: measure_deepspeed.py [--cuda] OUT [NAME.CASE]...
needs: torch, deepspeed; for --cuda a CUDA build of torch
"""

import contextlib
import gc
import itertools
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["DS_ACCELERATOR"] = "cuda" if "--cuda" in sys.argv else "cpu"

import torch
import torch.distributed as dist
from parallel_models import MODELS, Model
from recording import (
    Events,
    cuda_events,
    cuda_peaks,
    events_of,
    peak_of,
    save_structure,
    save_truth,
    total_bytes,
)

CUDA = "--cuda"
DEVICE = os.environ["DS_ACCELERATOR"]
PAUSE = 3e-3  # seconds
GLOO = "gloo:"  # its own records, of what its threads do
# What stands where in DeepSpeed's JSON.
MICRO_STEPS = "gradient_accumulation_steps"
IN_ENGINE = ("gradient_clipping", MICRO_STEPS)
IN_BF16 = ("check_grad_overflow",)
SMALL = 150_000  # elements of a bucket: less than some parameters have
# Most parameters are partitioned; those are let go as soon as they can be, and none is gathered
# ahead, or what follows soon is kept.
FINE = {"reduce_bucket_size": SMALL, "stage3_param_persistence_threshold": 1_000}
AT_ONCE = {"stage3_prefetch_bucket_size": 0, "stage3_max_reuse_distance": 0}
NEAR = {"stage3_max_reuse_distance": 100_000}
# Biases have a group of their own in cases that end so, and the others three processes.
GROUPS, THREE = "-groups", "-three"
# Stage of ZeRO, and options as `--parallel-args` takes them.
CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "stage1": (1, {"reduce_bucket_size": 4_000_000}),
    "stage1-small": (1, {"reduce_bucket_size": SMALL}),
    "stage2": (2, {"reduce_bucket_size": 4_000_000}),
    "stage2-small": (2, {"reduce_bucket_size": SMALL}),
    "stage2-overlap": (2, {"reduce_bucket_size": SMALL, "overlap_comm": True}),
    "stage2-unclipped": (2, {"reduce_bucket_size": SMALL, "gradient_clipping": 0.0}),
    "stage2-unchecked": (2, {"reduce_bucket_size": SMALL, "check_grad_overflow": False}),
    "stage1-overlap": (1, {"reduce_bucket_size": SMALL, "overlap_comm": True}),
    "stage1-overlap-micro": (
        1,
        {"reduce_bucket_size": SMALL, "overlap_comm": True, MICRO_STEPS: 3},
    ),
    "stage1-apart": (1, {"reduce_bucket_size": SMALL, "contiguous_gradients": False}),
    "stage2-apart": (2, {"reduce_bucket_size": SMALL, "contiguous_gradients": False}),
    "stage1-micro": (1, {"reduce_bucket_size": SMALL, MICRO_STEPS: 3}),
    "stage2-micro": (2, {"reduce_bucket_size": SMALL, MICRO_STEPS: 3}),
    "stage2-groups": (2, {"reduce_bucket_size": SMALL}),
    "stage1-three": (1, {"reduce_bucket_size": SMALL}),
    "stage2-three": (2, {"reduce_bucket_size": SMALL}),
    "stage2-default": (2, {}),
    "stage3": (3, {"reduce_bucket_size": 4_000_000}),
    "stage3-small": (3, {**FINE, **AT_ONCE}),
    "stage3-ahead": (3, {**FINE, "stage3_prefetch_bucket_size": 200_000, **NEAR}),
    "stage3-live": (
        3,
        {
            **FINE,
            "stage3_prefetch_bucket_size": 900_000,
            "stage3_max_live_parameters": 500_000,
            **NEAR,
        },
    ),
    "stage3-apart": (3, {**FINE, **AT_ONCE, "contiguous_gradients": False}),
    "stage3-plain": (3, {**FINE, **AT_ONCE, "memory_efficient_linear": False}),
    "stage3-unclipped": (3, {**FINE, **AT_ONCE, "gradient_clipping": 0.0}),
    "stage3-parts": (3, {**FINE, **AT_ONCE, "sub_group_size": 200_000}),
    "stage3-micro": (3, {**FINE, **NEAR, MICRO_STEPS: 3}),
    "stage3-groups": (3, {**FINE, **NEAR}),
    "stage3-three": (3, {**FINE, **NEAR, "stage3_prefetch_bucket_size": 200_000}),
    "stage3-serial": (
        3,
        {**FINE, **NEAR, "stage3_prefetch_bucket_size": 200_000, "overlap_comm": False},
    ),
    "stage3-default": (3, {}),
}
LOW = "-low"
# PyTorch takes cuDNN's attention in bfloat16, which a stand-in for a device has not.
WITH_CUDNN_ATTENTION = (f"writer{LOW}",)
LINEAR = torch.nn.functional.linear
GATHERS = 3  # the stage that keeps parameters in parts


def lowered(model: Model) -> Model:
    def inputs() -> tuple[torch.Tensor, ...]:
        return tuple(x.bfloat16() if x.is_floating_point() else x for x in model.inputs())

    return replace(model, make=lambda: model.make().bfloat16(), inputs=inputs)


ALL = {name: model for name, model in MODELS.items() if not name.endswith("-double")}
ALL |= {f"{name}{LOW}": lowered(ALL[name]) for name in ("perceptron", "writer", "odd")}


def ranks_of(case: str) -> int:
    return 3 if case.endswith(THREE) else 2


def chosen(asked: list[str], ranks: int) -> list[tuple[str, str]]:
    return [
        (name, case)
        for name, case in itertools.product(ALL, CASES)
        if ranks_of(case) == ranks
        and (not asked or f"{name}.{case}" in asked)
        and (not case.endswith("-default") or name in ("perceptron", "odd-low"))
        and (case != "stage2-unchecked" or name.endswith(LOW))
    ]


def exported(model: Model, device: str) -> Any:
    with torch.device(device):
        return torch.export.export(model.make().train(), model.inputs(), strict=False)


def config_of(name: str, case: str) -> dict[str, Any]:
    stage, options = CASES[case]
    engine = {key: options[key] for key in IN_ENGINE if key in options}
    low = {key: options[key] for key in IN_BF16 if key in options}
    zero = {key: options[key] for key in options if key not in (*IN_ENGINE, *IN_BF16)}
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "zero_optimization": {"stage": stage, **zero},
        **engine,
    }
    return config | ({"bf16": {"enabled": True, **low}} if name.endswith(LOW) else {})


class Rank:
    """A process that trains."""

    def __init__(self, name: str, case: str) -> None:
        import deepspeed

        # A graph calls no modules, whose hooks gather parameters.
        # What takes its place stays there for good.
        torch.nn.functional.linear = LINEAR
        self.stage = CASES[case][0]
        live = self.stage == GATHERS
        with torch.device(DEVICE):
            made = ALL[name].make().train() if live else exported(ALL[name], DEVICE).module()
            self.inputs = ALL[name].inputs()
        self.plain = made
        trained = {n: p for n, p in self.plain.named_parameters() if p.requires_grad}
        self.trained = total_bytes(trained.values())
        self.whole = total_bytes(self.plain.parameters())
        groups: list[dict[str, Any]] = [{"params": list(trained.values())}]
        if case.endswith(GROUPS):
            biases = [p for n, p in trained.items() if n.endswith("bias")]
            others = [p for n, p in trained.items() if not n.endswith("bias")]
            groups = [{"params": others}, {"params": biases, "weight_decay": 0.0}]
        adamw = torch.optim.AdamW(groups, lr=1e-3, foreach=DEVICE == "cuda")
        gc.collect()
        torch.cuda.empty_cache()
        self.engine, *_ = deepspeed.initialize(
            model=self.plain, optimizer=adamw, config=config_of(name, case)
        )

    def step(self) -> None:
        for _ in range(self.engine.gradient_accumulation_steps()):
            outputs = self.engine(*self.inputs)
            loss = outputs[0]
            self.engine.backward(loss)
            self.engine.step()
            del outputs, loss

    def kept(self) -> int:
        """What a first step leaves: the optimizer's state and the norm of the gradients, and small
        parameters that are gathered from then on."""
        zero = self.engine.optimizer
        state = zero.optimizer.state
        kept = total_bytes(t for of in state.values() for t in of.values())
        kept += int(zero._global_grad_norm.nbytes)
        if self.stage == GATHERS:
            whole = zero.persistent_parameters
            kept += sum(int(p.aligned_size()) * p.element_size() for p in whole)
        return kept

    def flat(self) -> list[torch.Tensor]:
        """All processes' parameters, or what this one has of them."""
        zero = self.engine.optimizer
        if self.stage != GATHERS:
            return list(zero.bit16_groups_flat)
        frozen = [p.ds_tensor for p in self.plain.parameters() if not p.requires_grad]
        return [zero.lp_param_buffer, *frozen]

    def masters(self) -> list[torch.Tensor]:
        """What is stepped, unless it is the parameters themselves."""
        zero = self.engine.optimizer
        if self.stage != GATHERS:
            return list(zero.single_partition_of_fp32_groups)
        flat = zero.lp_param_buffer.untyped_storage().data_ptr()
        groups = zero.fp32_partitioned_groups_flat
        return [g for g in groups if g.untyped_storage().data_ptr() != flat]

    def gradients(self) -> list[torch.Tensor]:
        """What of gradients stays from step to step."""
        if self.stage != GATHERS:
            return []
        zero = self.engine.optimizer
        buckets = [bucket.buffer for bucket in zero.ipg_buckets.values()]
        return [zero.grad_partitions_flat_buffer, *(b for b in buckets if b is not None)]


def told_once(events: Events) -> Events:
    """What Gloo's thread frees while the operator waits for it is now in the operator, now not."""
    told: Events = []
    for label, size in events:
        is_copy = bool(told) and told[-1] == ["aten::empty", -size]
        told.append(["c10d::_allgather_base_" if is_copy else label, size])
    return told


def pausing(run: Callable[..., Any]) -> Callable[..., Any]:
    """Gloo's thread lets go of a tensor a moment after it is done with it: after a pause the caller
    is the last to hold it. What the thread is asked to do meanwhile, it does at once."""

    def paused(*args: Any, async_op: bool = False, **keywords: Any) -> Any:
        work = run(*args, async_op=True, **keywords)
        work.wait()
        time.sleep(PAUSE)
        return work if async_op else None

    return paused


def all_say(flag: bool) -> bool:
    told = torch.tensor([int(flag)])
    dist.all_reduce(told, dist.ReduceOp.MIN)
    return bool(told)


def options_of(case: str, rank: int) -> list[str]:
    stage, options = CASES[case]
    words = ["--parallel", f"deepspeed{stage}"]
    words += ["--ranks", str(ranks_of(case)), "--rank", str(rank)]
    if case.endswith(GROUPS):
        words += ["--group", "*bias:weight_decay=0"]
    for key, value in options.items():
        if key == MICRO_STEPS:
            words += ["--accumulate", str(value)]
        else:
            words += ["--parallel-args", f"{key}={value}"]
    return words


def agree_with_rank0() -> None:
    """The fake group tells nothing, where rank 0 would tell what each process has itself."""
    from deepspeed.runtime.zero import utils

    compare_lengths, told = utils.assert_lst_len_same_as_other_ranks, utils.get_lst_from_rank0

    def compared(own: list[int]) -> None:
        with contextlib.suppress(RuntimeError):
            compare_lengths(own)

    utils.assert_lst_len_same_as_other_ranks = compared
    utils.get_lst_from_rank0 = lambda own: (told(own), own)[1]


def measure_cuda(name: str, case: str, folder: Path, rank: int) -> None:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=ranks_of(case))
    torch.backends.cuda.enable_cudnn_sdp(False)
    import deepspeed

    logging.disable(logging.WARNING)
    deepspeed.init_distributed(dist_backend="fake", auto_mpi_discovery=False)
    agree_with_rank0()
    process = Rank(name, case)
    peaks = [cuda_peaks(process.step) for _ in range(3)]
    events = cuda_events(process.step)
    if process.engine.skipped_steps:
        print(name, case, "leaves steps out", flush=True)
        return
    major, minor = torch.cuda.get_device_capability()
    truth = {
        "name": f"{name}.{case}.rank{rank}.cuda-sm{major}{minor}",
        "torch": torch.__version__,
        "options": options_of(case, rank),
        "peaks": [peaks[0], peaks[2]],
        "events": events,
    }
    save_truth(truth, folder)
    print(truth["name"], peaks[-1], flush=True)


def measure(name: str, case: str, folder: Path, rank: int) -> None:
    while True:
        process = Rank(name, case)
        steps = [told_once(events_of(process.step, GLOO)) for _ in range(3)]
        # A tensor that Gloo's thread is the last to hold dies there, where nothing is told of it.
        sums = [sum(size for _, size in events) for events in steps]
        if all_say(sums[0] == process.kept() and sums[2] == 0):
            break
    truth = {
        "name": f"{name}.{case}.rank{rank}",
        "torch": torch.__version__,
        "options": options_of(case, rank),
        "trained_bytes": process.trained,
        "parameter_bytes": process.whole,
        "flat_bytes": total_bytes(process.flat()),
        "master_bytes": total_bytes(process.masters()),
        "gradient_bytes": total_bytes(process.gradients()),
        "peaks": [peak_of(steps[0]), peak_of(steps[2])],
        "steps": [steps[0], steps[2]],
    }
    save_truth(truth, folder)
    print(truth["name"], truth["peaks"], flush=True)


def run_rank(rank: int, folder: Path, names: list[str]) -> None:
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    import deepspeed

    for name in ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor"):
        setattr(dist, name, pausing(getattr(dist, name)))
    logging.disable(logging.WARNING)
    ranks = int(os.environ["WORLD_SIZE"])
    store = dist.FileStore(os.environ["MEETING"], ranks)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False)
    for name, case in chosen(names, ranks):
        measure(name, case, folder, rank)
    dist.barrier()
    os._exit(0)  # threads of Gloo may wait for each other


def run_ranks(ranks: int) -> int:
    with tempfile.TemporaryDirectory() as meeting:
        said = {"WORLD_SIZE": str(ranks), "MEETING": f"{meeting}/store"}
        processes = [
            subprocess.Popen(
                [sys.executable, *sys.argv],
                env={**os.environ, **said, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            )
            for rank in range(ranks)
        ]
        return max(process.wait() for process in processes)


def run_on_cuda(folder: Path, asked: list[str]) -> int:
    """Each in a process of its own: what one leaves in the allocator the next does not find."""
    if "RANK" in os.environ:
        name, case = asked[0].split(".")
        measure_cuda(name, case, folder, int(os.environ["RANK"]))
        os._exit(0)
    codes = [0]
    for ranks in (2, 3):
        for (name, case), rank in itertools.product(chosen(asked, ranks), range(ranks)):
            if name in WITH_CUDNN_ATTENTION:
                continue
            said = {"WORLD_SIZE": str(ranks), "RANK": str(rank), "LOCAL_RANK": "0"}
            command = [sys.executable, sys.argv[0], CUDA, str(folder), f"{name}.{case}"]
            codes.append(subprocess.run(command, env={**os.environ, **said}).returncode)
    return max(codes)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == CUDA:
        sys.exit(run_on_cuda(Path(sys.argv[2]), sys.argv[3:]))
    folder, asked = Path(sys.argv[1]), sys.argv[2:]
    if "RANK" in os.environ:
        run_rank(int(os.environ["RANK"]), folder, asked)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ALL:
        if name.endswith(LOW):
            save_structure(exported(ALL[name], "meta"), folder / f"{name}.pt2")
    sys.exit(max(run_ranks(ranks) for ranks in (2, 3) if chosen(asked, ranks)))


if __name__ == "__main__":
    main()
