# SPDX-License-Identifier: Apache-2.0
"""What runs on CUDA allocates as predicted: on a device, or without one over a stand-in.

Where $STEELYARD_CUDA_PYTHON names a Python with a CUDA build of PyTorch and $STEELYARD_CUDA_STUB
what tools/cuda_without_gpu/build.py made, PyTorch's host code runs, whose kernels do nothing: every
allocation is the one that a device would see. Times and values are not looked at.
"""

import json
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
from test_engine import DATA, STEELYARD

PYTHON, STUB = (os.environ.get(f"STEELYARD_CUDA_{name}") for name in ("PYTHON", "STUB"))
pytestmark = pytest.mark.skipif(
    not (PYTHON and STUB), reason="STEELYARD_CUDA_PYTHON and STEELYARD_CUDA_STUB are not set"
)

TRAIN = DATA / "train"
MODELS = ("translator", "tagger", "window", "vocoder", "mamba", "diffusion", "transformer-network")
STEPS = (
    ("--train", "sgd"),
    ("--train", "adamw"),
    ("--train", "adamw", "--fused"),
    ("--train", "adamw", "--amp", "fp16"),
)


@cache
def environment() -> dict[str, str]:
    """In which the engine finds the CUDA build, and that the stand-in."""
    assert PYTHON
    assert STUB
    where = "import torch; print(torch.__path__[0])"
    found = subprocess.run([PYTHON, "-c", where], capture_output=True, text=True, check=True)
    package = Path(found.stdout.strip())
    folders = [Path(STUB), package / "lib", *sorted(package.parent.glob("nvidia/*/lib"))]
    return {
        **os.environ,
        "LD_PRELOAD": ":".join(map(str, sorted(Path(STUB).glob("lib*.so*")))),
        "LD_LIBRARY_PATH": ":".join(map(str, folders)),
    }


def steelyard_run(
    path: Path, *options: str, fake: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    line = [STEELYARD, "run", str(path), *options, "--no-cudnn-attention", "--format", "json"]
    line += ["--warmup", "1", "--number", "1", "--repeat", "1"]
    return subprocess.run(
        line, capture_output=True, text=True, env={**environment(), **(fake or {})}, check=False
    )


@pytest.mark.parametrize("options", STEPS, ids=" ".join)
@pytest.mark.parametrize("name", MODELS)
def test_every_event_is_as_predicted(name: str, options: tuple[str, ...]) -> None:
    done = steelyard_run(TRAIN / f"{name}.pt2", "--device", "cuda", *options)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["device"] == "h100"
    memory = report["memory"]
    assert memory["events"] > 0
    assert memory["differences"] == []
    assert memory["peak"] == memory["predicted_peak"]
    assert memory["peak"] <= memory["allocated_peak"] <= memory["reserved_peak"]


def test_it_runs_on_the_device_that_is_there() -> None:
    a100 = {"FAKE_CC": "80", "FAKE_SM": "108", "FAKE_MEM_MIB": "81079"}
    done = steelyard_run(TRAIN / "tagger.pt2", "--device", "cuda", fake=a100)
    assert json.loads(done.stdout)["device"] == "a100-80gb"
    done = steelyard_run(TRAIN / "tagger.pt2", "--device", "h100", fake=a100)
    assert done.returncode == 1
    assert "compute capability 8.0 with 108 multiprocessors" in done.stderr
