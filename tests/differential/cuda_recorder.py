# SPDX-License-Identifier: Apache-2.0
"""What PyTorch asks of CUDA's allocator when it is asked to make calls.

Runs in a process of its own, under a Python whose PyTorch is built for CUDA, over a device or a
stub of one (stub_device.py starts it): a JSON object a line in, one out, in order.

    {"call": "aten::t(f32[2,8])"}                               -> {"outputs", "events"}
    {"call": ..., "leaves": [0], "reduction": "sum",
     "in_place": false}                  -> {"wanted", "is_complex", "saved", "gradients", "events"}

A size of an event is what is asked for, of a free negative. Who asks is not known.
With --deterministic calls are made after torch.use_deterministic_algorithms(True), interpolation
as torch.nn.functional.interpolate then makes it.
"""

import gc
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import recorder
import torch
import torch._decomp.decompositions
from calls import Call, parse
from compare import Seen
from recorder import tensors_in
from steps import Step
from steps import attempt as attempt_step

ALLOCATED, FREED = "alloc", "free_requested"
# What the stub's kernels find (tools/cuda_without_gpu).
FOUND = "FAKE_FOUND"
# Far more than one call makes.
MOST_EVENTS = 1_000_000


def events_of(run: Callable[[], Any]) -> list[list[Any]]:
    """Signed sizes, each with an empty label."""
    memory = torch.cuda.memory
    memory._record_memory_history(context=None, max_entries=MOST_EVENTS, clear_history=True)
    outputs = list(tensors_in(run()))
    while outputs:
        outputs.pop()  # as a tuple of them goes
    (trace,) = memory._snapshot()["device_traces"]
    memory._record_memory_history(enabled=None)
    signs = {ALLOCATED: 1, FREED: -1}
    return [["", signs[e["action"]] * e["size"]] for e in trace if e["action"] in signs]


def observe_call(call: Call) -> Seen:
    with torch.no_grad():
        made, seen = recorder.attempt(call)
        if made is not None:
            seen["events"] = events_of(made.run)
    return seen


def observe_step(step: Step) -> Seen:
    made, seen = attempt_step(step)
    if made is not None:
        seen["events"] = events_of(made.run)
    return seen


def most_found(call: Call) -> int | None:
    """How many elements of masks, or that are not zero, rows take there to be: as many as can."""
    op, tensors = call.op, list(call.tensors())
    if op.startswith(("aten::nonzero", "aten::argwhere", "aten::where")):
        return math.prod(tensors[0].sizes)
    try:
        if op.startswith("aten::masked"):
            pair = tensors[1:] if op == "aten::masked_select_backward" else tensors[:2]
            sizes: Sequence[int] = torch.broadcast_shapes(*(t.sizes for t in pair))
            return math.prod(sizes)
    except RuntimeError:
        return None  # PyTorch refuses it
    masks = [math.prod(t.sizes) for t in tensors[1:] if t.dtype in ("bool", "u8")]
    return min(masks) if op.startswith("aten::index") and masks else None


def observe(asked: dict[str, Any]) -> Seen:
    call = parse(asked["call"])
    found = most_found(call)
    os.environ.pop(FOUND, None)
    if found is not None:
        os.environ[FOUND] = str(found)
    if "leaves" not in asked:
        return observe_call(call)
    return observe_step(Step(call, tuple(asked["leaves"]), asked["reduction"], asked["in_place"]))


def call_libraries() -> None:
    """So that they have what they keep for their calls in either thread (before 2.15)."""
    ones = torch.ones(8, 8, device="cuda", requires_grad=True)
    torch.addmm(ones[0], ones, ones @ ones).sum().backward()


def write_out() -> None:
    """What interpolate calls in place of operators whose gradients add in any order."""
    linear = torch._decomp.decompositions._upsample_linear_vec
    recorder.INSTEAD["aten::upsample_bilinear2d.vec"] = linear
    recorder.INSTEAD["aten::upsample_trilinear3d.vec"] = linear
    cubic = torch._decomp.decompositions.upsample_bicubic2d_vec
    recorder.INSTEAD["aten::upsample_bicubic2d.vec"] = cubic


def main() -> None:
    torch.backends.cuda.enable_cudnn_sdp(False)  # nobody answers its graphs without a device
    torch.zeros(1, device="cuda")
    call_libraries()
    if "--deterministic" in sys.argv:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # which cuBLAS asks for
        torch.use_deterministic_algorithms(True)
        write_out()
    gc.disable()
    for line in sys.stdin:
        print(json.dumps(observe(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
