#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models of parallel_models.py and measures what one of several processes does that
trains them together, wrapped in DistributedDataParallel, without or with ZeroRedundancyOptimizer
(ZeRO-1), by fully_shard (FSDP2), or with layers that parallelize_module shares, on the CPU and with
--cuda on a device.

For each NAME it writes OUT/NAME.pt2, exported on the meta device (structure only), and for each way
of wrapping, of those that CASES has, OUT/NAME.CASE.truth.json: every allocation and free of rank
0, as [innermost operator, signed bytes], while the wrapper is made ("wrap"), in a first, a second
(the third of a static graph), which makes the buckets anew, and a last step with AdamW. A step:
forward, backward, the optimizer, zero_grad; the caller holds the output until it ends. Of models
that hold no tensor longer than their graph does there is a forward pass without gradients, too
("forward"). The ranks are processes of their own that talk through Gloo, each on one thread. Where
they keep state of different parameters or parts, there is a file of each rank,
OUT/NAME.CASE.rank1.truth.json.

With --cuda, OUT/NAME.CASE.cuda-smXX.truth.json has of the first, the second and the third step what
torch.cuda tells at its end: most bytes allocated, requested and reserved, and segments; and of the
third every allocation and free in signed bytes as asked for. There is one process, which believes
that there are others (torch's fake process group); it may run under tools/cuda_without_gpu/run.py.

usage: measure_parallel.py [--cuda] OUT [NAME[.CASE]...]
needs: torch; for --cuda a CUDA build of it
"""

import contextlib
import gc
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
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
from torch import nn
from torch.distributed import tensor as distributed_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor, Replicate, init_device_mesh, parallel
from torch.distributed.tensor.parallel import parallelize_module
from torch.nn.parallel import DistributedDataParallel

RANKS = 2
SETTLES = 0.01  # seconds in which a thread has gone on
MICRO_STEPS = 3  # of a step, of which all but the last are in no_sync()
# Its own records, of what its threads do.
GLOO = "gloo:"
# What its threads copy: in which operator, by what it is allocated, and where it may be let go.
WAITS = r"_c10d_functional::\w+|(Nested)?Redistribute"
COPIES = [
    ("c10d::_allgather_base_", "aten::empty", re.compile(r"FSDP::all_gather( \(.*\))?")),
    ("c10d::allgather_into_tensor_coalesced_", "aten::empty", re.compile(WAITS)),
    ("c10d::reduce_scatter_tensor_coalesced_", "aten::empty_strided", re.compile(WAITS)),
]
# How a model is wrapped, and what says the same to `steelyard weigh`.
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "ddp": ({}, []),
    "views": ({"gradient_as_bucket_view": True}, ["--bucket-views"]),
    "small": ({"bucket_cap_mb": 2}, ["--bucket-cap-mb", "2"]),
    "unused": ({"find_unused_parameters": True}, ["--find-unused-parameters"]),
    "unused-views": (
        {"find_unused_parameters": True, "gradient_as_bucket_view": True},
        ["--find-unused-parameters", "--bucket-views"],
    ),
    "unused-micro": (
        {"find_unused_parameters": True, "bucket_cap_mb": 2},
        [
            "--find-unused-parameters",
            "--bucket-cap-mb",
            "2",
            "--accumulate",
            str(MICRO_STEPS),
        ],
    ),
    "static": ({"static_graph": True}, ["--static-graph"]),
    "micro": ({}, ["--accumulate", str(MICRO_STEPS)]),
    "micro-views": (
        {"gradient_as_bucket_view": True},
        ["--bucket-views", "--accumulate", str(MICRO_STEPS)],
    ),
    "zero": ({}, []),
    "zero-micro": ({}, ["--accumulate", str(MICRO_STEPS)]),
    "zero-views": ({"parameters_as_bucket_view": True}, ["--parameter-views"]),
    "fsdp": ({}, []),
    "fsdp-kept": ({"reshard_after_forward": False}, ["--keep-gathered"]),
    # Of a model in float64 on the CPU and in float32 on a device, which are "high".
    "fsdp-low": ({"param_dtype": "low"}, []),
    "fsdp-low-reduced": (
        {"param_dtype": "low", "reduce_dtype": "low", "output_dtype": "high"},
        [],
    ),
    "tp": ({}, []),
    "tp-micro": ({}, ["--accumulate", str(MICRO_STEPS)]),
    "tp-amp": ({}, ["--amp", "bf16"]),  # on a device: kernels of CPUs differ in it
}
# What a plan says in one word.
STYLES: dict[str, Callable[..., parallel.ParallelStyle]] = {
    "colwise": parallel.ColwiseParallel,
    "colwise_gather": partial(parallel.ColwiseParallel, output_layouts=Replicate()),
    "rowwise": parallel.RowwiseParallel,
}
DTYPES = {
    "cpu": {"low": torch.float32, "high": torch.float64},
    "cuda": {"low": torch.bfloat16, "high": torch.float32},
}


def is_sharded(case: str) -> bool:
    return case.startswith("fsdp")


def is_partitioned(case: str) -> bool:
    return case.startswith("zero")


def is_shared(case: str) -> bool:
    return case.startswith("tp")


def tells_ranks_apart(case: str) -> bool:
    return is_partitioned(case) or is_shared(case)


def is_accumulated(case: str) -> bool:
    return "micro" in case


def is_cast(case: str) -> bool:
    return "amp" in case


def has_policy(case: str) -> bool:
    return case.startswith("fsdp-low")


def style_of(text: str) -> parallel.ParallelStyle:
    """Of a plan's words: those of PyTorch, or shorter ones."""
    call = text if text.endswith(")") else f"{text}()"
    style: parallel.ParallelStyle = eval(
        call, {**vars(parallel), **vars(distributed_tensor), **STYLES}
    )
    return style


def count_of(case: str) -> int:
    """Steps until there are buckets that stay: the last step but one makes them."""
    return 4 if case == "static" else 3


def takes_unused(case: str) -> bool:
    return case.startswith(("unused", "static"))


def wrapping_of(case: str, device: str) -> dict[str, Any]:
    wrapping, _ = CASES[case]
    if not has_policy(case):
        return wrapping
    dtypes = {key: DTYPES[device][dtype] for key, dtype in wrapping.items()}
    return {"mp_policy": MixedPrecisionPolicy(**dtypes)}


def without_output_dtype(wrapping: dict[str, Any]) -> dict[str, Any]:
    """Of the modules within a model, whose results others take as they are."""
    if "mp_policy" not in wrapping:
        return wrapping
    return {"mp_policy": replace(wrapping["mp_policy"], output_dtype=None)}


def wrapper_of(case: str) -> str:
    wrappers = {"fsdp": is_sharded, "zero1": is_partitioned, "tp": is_shared}
    return next((name for name, is_it in wrappers.items() if is_it(case)), "ddp")


def options_of(name: str, case: str, rank: int, device: str) -> list[str]:
    wrapper = wrapper_of(case)
    which = ["--rank", str(rank)] if tells_ranks_apart(case) else []
    more = CASES[case][1]
    if is_shared(case):
        plan = ",".join(f"{layers}={style}" for layers, style in MODELS[name].plan.items())
        more = ["--tp-plan", plan, *more]
    if has_policy(case):
        policy = wrapping_of(case, device)["mp_policy"]
        given = {key: str(getattr(policy, key)).removeprefix("torch.") for key in CASES[case][0]}
        more = ["--mp-policy", ",".join(f"{key}={dtype}" for key, dtype in given.items())]
    return ["--parallel", wrapper, "--ranks", str(RANKS), *which, *more]


def chosen(asked: list[str], device: str) -> list[tuple[str, str]]:
    """Models and cases: all of those, or those of "NAME" and "NAME.CASE"."""
    pairs = [
        (name, case)
        for name, case in itertools.product(MODELS, CASES)
        if name.endswith("-double") == (has_policy(case) and device == "cpu")
        and (MODELS[name].uses_all or takes_unused(case))
        and bool(MODELS[name].plan) == is_shared(case)
        and (device == "cuda" or not is_cast(case))
    ]
    return [
        (name, case) for name, case in pairs if not asked or {name, f"{name}.{case}"} & set(asked)
    ]


def exported(model: Model, device: str) -> Any:
    with torch.device(device):
        return torch.export.export(model.make().train(), model.inputs(), strict=False)


def summed(_: None, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """In place of an all-reduce, which the fake process group does not answer."""
    future: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def materialize(module: nn.Module, made: dict[torch.Tensor, torch.Tensor]) -> None:
    """As `to_empty`, but for a parameter of two names, to which that gives memory twice."""
    for child in module.children():
        materialize(child, made)
    for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
        if tensor is None:
            continue
        if tensor not in made:
            made[tensor] = torch.empty_like(tensor, device="cuda")
        if name in module._buffers:
            module._buffers[name] = made[tensor]
        else:
            if not isinstance(made[tensor], nn.Parameter):
                made[tensor] = nn.Parameter(made[tensor], tensor.requires_grad)
            module._parameters[name] = made[tensor]


class Rank:
    """A process that trains."""

    def __init__(self, model: Model, case: str, device: str = "cpu") -> None:
        # What is sharded on a device takes memory there only once it is sharded.
        keeps_parts = is_sharded(case) or is_shared(case)
        first = "meta" if keeps_parts and device == "cuda" else device
        with torch.device(first):
            # A graph has no modules to shard.
            has_modules = (is_sharded(case) and model.units) or is_shared(case)
            live = model.make().train() if has_modules else None
        self.plain = live or exported(model, first).module()
        self.inputs_of = model.inputs
        self.case, self.units, self.plan = case, model.units, model.plan
        self.module: nn.Module = self.plain
        self.device = device

    def wrap(self) -> None:
        wrapping = wrapping_of(self.case, self.device)
        if is_shared(self.case):
            mesh = init_device_mesh(self.device, (RANKS,))
            styles = {layers: style_of(style) for layers, style in self.plan.items()}
            parallelize_module(self.plain, mesh, styles)
        elif is_sharded(self.case):
            for name, part in self.plain.named_modules():
                if any(fnmatch(name, unit) for unit in self.units):
                    fully_shard(part, **without_output_dtype(wrapping))
            fully_shard(self.plain, **wrapping)
        else:
            of_ddp = {} if is_partitioned(self.case) else wrapping
            self.module = DistributedDataParallel(self.plain, **of_ddp)
        if (is_sharded(self.case) or is_shared(self.case)) and self.device == "cuda":
            materialize(self.plain, {})
        with torch.device(self.device):
            self.inputs = self.inputs_of()
        trained = [p for p in self.plain.parameters() if p.requires_grad]
        # Tensors of several kinds it steps one by one.
        foreach = self.device == "cuda" and not is_shared(self.case)
        adamw: Any = {"lr": 1e-3, "foreach": foreach}
        self.optimizer: torch.optim.Optimizer
        if is_partitioned(self.case):
            self.optimizer = ZeroRedundancyOptimizer(
                trained, torch.optim.AdamW, **wrapping, **adamw
            )
        else:
            self.optimizer = torch.optim.AdamW(trained, **adamw)

    def micro_step(self) -> tuple[Any, Any]:
        """Its outputs and what was differentiated, which the caller lets go in this order."""
        with torch.autocast(self.device, torch.bfloat16, is_cast(self.case)):
            outputs = self.module(*self.inputs)
        loss = outputs[0]
        if is_accumulated(self.case):
            loss = loss / MICRO_STEPS
        loss.backward()
        return outputs, loss

    def forward(self) -> None:
        with torch.no_grad():
            outputs = self.module(*self.inputs)
        del outputs

    def step(self) -> None:
        if is_accumulated(self.case):
            wraps = isinstance(self.module, DistributedDataParallel)
            with self.module.no_sync() if wraps else contextlib.nullcontext():
                for _ in range(MICRO_STEPS - 1):
                    outputs, loss = self.micro_step()
                    del outputs, loss
        outputs, loss = self.micro_step()
        self.optimizer.step()
        self.optimizer.zero_grad()
        del outputs, loss


def told_once(events: Events) -> Events:
    """What Gloo's thread frees, which was allocated last, while the operator waits for it is now in
    the operator, now in what waits for that."""
    told: Events = []
    by, last = "", 0
    for label, size in events:
        copies = [name for name, made, waits in COPIES if made == by and waits.fullmatch(label)]
        is_copy = bool(copies) and size == -last
        told.append([copies[0] if is_copy else label, size])
        if size > 0 or is_copy:
            by, last = label, max(size, 0)
    return told


def is_complete(steps: list[Events], process: Rank) -> bool:
    """Whether each step frees what it allocates, but for the optimizer's state in the first one.

    A tensor that Gloo's thread is the last to hold dies there, where nothing is told of it.
    """
    optimizer = getattr(process.optimizer, "optim", process.optimizer)
    state = [t for of in optimizer.state.values() for t in of.values()]
    local = [t.to_local() if isinstance(t, DTensor) else t for t in state]
    sums = [sum(size for _, size in events) for events in steps]
    keeps_none = is_sharded(process.case) or is_shared(process.case)
    made_anew = 0 if keeps_none else sums[1]
    return bool(sums[0] == total_bytes(local) and made_anew == sums[2] == 0)


def all_say(flag: bool) -> bool:
    told = torch.tensor([int(flag)])
    dist.all_reduce(told, dist.ReduceOp.MIN)
    return bool(told)


def complete(run: Callable[[], None]) -> Events:
    """Of a run that leaves nothing, once everything is told of it: of a sum, Gloo's thread is often
    the last to hold a copy."""
    while True:
        events = told_once(events_of(run, GLOO))
        if all_say(sum(size for _, size in events) == 0):
            return events


def steps_of(process: Rank) -> list[Events]:
    if is_shared(process.case):
        first = told_once(events_of(process.step, GLOO))
        return [first, *(complete(process.step) for _ in range(2))]
    steps = [told_once(events_of(process.step, GLOO)) for _ in range(count_of(process.case))]
    del steps[1:-2]
    return steps


def measure(name: str, case: str, folder: Path, rank: int) -> None:
    is_written = rank == 0 or tells_ranks_apart(case)
    if is_sharded(case) or is_shared(case):
        # What DTensor works out of each operator when it meets it first, it keeps.
        first = Rank(MODELS[name], case)
        first.wrap()
        first.step()
    while True:
        process = Rank(MODELS[name], case)
        parameters = list(process.plain.parameters())
        sizes = [(p.nbytes, p.requires_grad) for p in parameters]
        wrap = events_of(process.wrap, GLOO)
        steps = steps_of(process)
        if all_say(not is_written or is_complete(steps, process)):
            break
    tells_forward = MODELS[name].holds_nothing and not is_accumulated(case)
    forward = complete(process.forward) if tells_forward else None
    if not is_written:
        return
    truth = {
        "name": f"{name}.{case}" + (f".rank{rank}" if rank else ""),
        "torch": torch.__version__,
        "options": options_of(name, case, rank, "cpu"),
        "param_bytes": sum(size for size, _ in sizes),
        "trained_bytes": sum(size for size, trained in sizes if trained),
        "wrap": wrap,
        "peaks": [peak_of(events) for events in steps],
        "steps": steps,
    }
    if forward is not None:
        truth["forward"] = forward
    save_truth(truth, folder)
    print(name, case, truth["peaks"], flush=True)


def measure_cuda(name: str, case: str, folder: Path) -> None:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    torch.backends.cuda.enable_cudnn_sdp(False)
    process = Rank(MODELS[name], case, "cuda")
    gc.collect()
    torch.cuda.empty_cache()
    process.wrap()
    if not is_sharded(case) and not is_shared(case):
        process.module.register_comm_hook(None, summed)
    peaks = [cuda_peaks(process.step) for _ in range(count_of(case))]
    del peaks[1:-2]
    major, minor = torch.cuda.get_device_capability()
    truth = {
        "name": f"{name}.{case}.cuda-sm{major}{minor}",
        "torch": torch.__version__,
        "options": options_of(name, case, 0, "cuda"),
        "peaks": peaks,
        "events": cuda_events(process.step),
    }
    save_truth(truth, folder)
    print(truth["name"], peaks[-1], flush=True)


def wait_at_once(tensor: torch.Tensor) -> torch.Tensor:
    """What a collective of DTensors gives: it waits here, once Gloo's thread is done.

    Else it does at some time before the tensor is used, and what that thread lets go last is not
    told.
    """
    time.sleep(SETTLES)
    torch.ops._c10d_functional.wait_tensor(tensor)
    return functional.AsyncCollectiveTensor(tensor)


def run_rank(rank: int, meeting: str, folder: Path, names: list[str]) -> None:
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    functional._maybe_wrap_tensor = wait_at_once
    dist.init_process_group(
        "gloo", store=dist.FileStore(meeting, RANKS), rank=rank, world_size=RANKS
    )
    for name, case in chosen(names, "cpu"):
        measure(name, case, folder, rank)
    dist.barrier()
    os._exit(0)  # threads of Gloo may wait for each other


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--cuda":
        folder = Path(sys.argv[2])
        for name, case in chosen(sys.argv[3:], "cuda"):
            if os.fork() == 0:  # what one leaves in the allocator is not there for the next
                measure_cuda(name, case, folder)
                os._exit(0)
            os.wait()
        return
    folder, asked = Path(sys.argv[1]), sys.argv[2:]
    if "RANK" in os.environ:
        run_rank(int(os.environ["RANK"]), os.environ["MEETING"], folder, asked)
    folder.mkdir(parents=True, exist_ok=True)
    for name in dict.fromkeys(name for name, _ in chosen(asked, "cpu")):
        save_structure(exported(MODELS[name], "meta"), folder / f"{name}.pt2")
    with tempfile.TemporaryDirectory() as meeting:
        ranks = [
            subprocess.Popen(
                [sys.executable, *sys.argv],
                env={**os.environ, "RANK": str(rank), "MEETING": f"{meeting}/store"},
            )
            for rank in range(RANKS)
        ]
        sys.exit(max(process.wait() for process in ranks))


if __name__ == "__main__":
    main()
