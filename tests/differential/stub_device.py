# SPDX-License-Identifier: Apache-2.0
"""Calls and steps as PyTorch's CUDA build allocates for them, on devices that need not be there.

$STEELYARD_CUDA_PYTHON names a Python with such a build, $STEELYARD_CUDA_STUB a folder of libraries
that stand in for a driver's (tools/cuda_without_gpu/build.py makes them): they answer for a device
of $FAKE_CC and $FAKE_SM, its kernels do nothing, and what is asked of its allocator is real.
$STEELYARD_CUDA_TORCH says which release of PyTorch it is, where it is not the newest.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compare import Seen
from steps import Step, program_of
from table import weigh

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Machine:
    """A device by the name of its row, and what the stub is told to be one."""

    name: str
    capability: int
    multiprocessors: int


MACHINES = (
    Machine("h100", 90, 132),
    Machine("a100-80gb", 80, 108),
    Machine("rtx3090", 86, 82),
    Machine("v100-32gb", 70, 80),  # whose bfloat16 cuDNN does not convolve
)


def obstacle() -> str | None:
    """Why nothing can be recorded here; None if it can."""
    for name in ("STEELYARD_CUDA_PYTHON", "STEELYARD_CUDA_STUB"):
        if not os.environ.get(name):
            return f"{name} is not set: see tests/differential/stub_device.py"
    return None


def asked_of(what: str | Step) -> str:
    """What cuda_recorder.py reads."""
    if isinstance(what, str):
        return json.dumps({"call": what})
    fields = {"leaves": what.leaves, "reduction": what.reduction, "in_place": what.in_place}
    return json.dumps({"call": str(what.call), **fields})


def environment(machine: Machine) -> dict[str, str]:
    stub = os.environ["STEELYARD_CUDA_STUB"]
    libraries = ":".join(map(str, sorted(Path(stub).glob("lib*.so*"))))
    fake = {"FAKE_CC": str(machine.capability), "FAKE_SM": str(machine.multiprocessors)}
    preloaded = {"LD_PRELOAD": libraries, "LD_LIBRARY_PATH": stub}
    return {**os.environ, **fake, **preloaded, "STEELYARD_DEVICE": "cuda"}


def record(whats: Sequence[str | Step], machine: Machine, *options: str) -> list[Seen]:
    """What each call or step is on the machine; one that ends PyTorch is refused."""
    seen: list[Seen] = []
    command = [os.environ["STEELYARD_CUDA_PYTHON"], str(HERE / "cuda_recorder.py"), *options]
    while len(seen) < len(whats):
        text = "".join(asked_of(what) + "\n" for what in whats[len(seen) :])
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, env=environment(machine)
        )
        lines = done.stdout.splitlines()
        if not lines and "Traceback" in done.stderr:
            raise RuntimeError(f"asking about {whats[len(seen)]} fails: {done.stderr[-2000:]}")
        seen += [json.loads(line) for line in lines]
        if len(seen) < len(whats):
            seen.append({"refused": "PyTorch crashes"})
    return seen


def comparable(seen: Seen) -> Seen:
    """Without the labels of events, which a trace of the allocator lacks, and without the empty
    tensors that cuDNN's nodes save."""
    out = dict(seen)
    if "events" in seen:
        out["events"] = [["", size] for _, size in seen["events"]]
    if "saved" in seen:
        out["saved"] = [tensor for tensor in seen["saved"] if not tensor.endswith("[0]{1}")]
    return out


def release() -> tuple[str, ...]:
    named = os.environ.get("STEELYARD_CUDA_TORCH")
    return ("--torch", named) if named else ()


def weigh_calls(calls: Sequence[str], machine: Machine, *options: str) -> list[Seen]:
    return weigh(calls, "--on", machine.name, *release(), *options)


def weigh_steps(
    steps: Sequence[Step], recorded: Sequence[Seen], machine: Machine, *options: str
) -> list[Seen]:
    """What the table says of steps that were recorded; nothing of those that PyTorch refuses."""
    asked = [
        program_of(step, seen["wanted"], seen["is_complex"])
        for step, seen in zip(steps, recorded, strict=True)
        if "refused" not in seen
    ]
    answers = iter(weigh(asked, "--steps", "--on", machine.name, *release(), *options))
    return [{} if "refused" in seen else next(answers) for seen in recorded]
