# SPDX-License-Identifier: Apache-2.0
"""What is built from a config.json, as its module runs on CUDA: allocated, requested, reserved.

tests/data/hf/NAME/cuda.json: what tools/measure_hf_cuda.py recorded of PyTorch's own host code.
"""

from __future__ import annotations

import json
from fnmatch import fnmatch
from typing import Any

import pytest
from conftest import ROOT, Weigh

DATA = ROOT / "tests/data/hf"
MEASURED = sorted(file.parent.name for file in DATA.glob("*/cuda.json"))
DEVICE = ["--device", "h100", "--no-cudnn-attention", "--as", "module"]
PHASES: dict[str, list[str]] = {"forward": [], "train": ["--train", "adamw"]}
STEPS: dict[str, list[str]] = {"steady": [], "step1": ["--first-step"]}
KEYS = ("peak", "requested_peak", "reserved_peak")

# What differs, and why: NAME, dtype and phase as a pattern.
VARIABLES = "variables are written down of models that write text, and not of these"
WINDOWS = "masks with a window are made as they are traced, with a test for packed sequences"
OFFSETS = "a custom operator's offsets of groups live on, 32 bytes"
ROUTERS = "routers' weights are float32 since transformers 5.24; those of 5.23 are built"
FUNCTION = "a function with a gradient of its own, which traces take apart"
LOST = {
    **{f"{name}-a * forward": VARIABLES for name in ["albert", "deit", "distilbert", "mamba2"]},
    **{f"{name}-a * forward": VARIABLES for name in ["modernbert", "mpnet", "swin", "vit"]},
    **{f"{name}-a *": VARIABLES for name in ["deberta_v2", "t5", "mt5", "umt5"]},
    "whisper-a * forward": VARIABLES,
    **{f"{name}-a * forward": WINDOWS for name in ["cohere2", "exaone4", "gemma3_text"]},
    **{f"{name}-a * forward": WINDOWS for name in ["ministral", "mistral", "olmo3", "phi3"]},
    **{f"{name}-a * forward": WINDOWS for name in ["qwen2", "qwen2_moe"]},
    **{f"{name}-a float32 train": OFFSETS for name in ["deepseek_v3", "glm4_moe", "gpt_oss"]},
    **{f"{name}-a float32 train": OFFSETS for name in ["granitemoe", "mixtral", "olmoe"]},
    **{f"{name}-a float32 train": OFFSETS for name in ["qwen2_moe", "qwen3_moe"]},
    **{f"{name}-a bfloat16 *": ROUTERS for name in ["deepseek_v3", "glm4_moe"]},
    "bloom-a * train": FUNCTION,
}


def cases() -> list[tuple[str, str, str]]:
    return [
        (name, dtype, phase)
        for name in MEASURED
        for dtype, phases in json.loads((DATA / name / "cuda.json").read_text()).items()
        for phase in phases
    ]


@pytest.mark.parametrize(("name", "dtype", "phase"), cases())
def test_a_config_is_weighed_as_its_module(name: str, dtype: str, phase: str, weigh: Weigh) -> None:
    folder = DATA / name
    measured = json.loads((folder / "cuda.json").read_text())[dtype][phase]
    sizes = json.loads((folder / "sizes.json").read_text())
    found: dict[str, Any] = {}
    for step in measured:
        asked = [*sizes, "--dtype", dtype, *PHASES[phase], *STEPS[step]]
        memory = weigh(folder, *DEVICE, *asked)["memory"]
        found[step] = [memory[key] for key in KEYS]
    lost = any(fnmatch(f"{name} {dtype} {phase}", pattern) for pattern in LOST)
    assert (found != measured) == lost, (found, measured)
    for step, numbers in found.items():
        assert numbers == pytest.approx(measured[step], rel=0.06)
