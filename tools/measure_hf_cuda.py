#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what modules of transformers ask of CUDA's allocator: those of hf_models.py.

Writes, into OUT/NAME/cuda.json, {dtype: {phase: {step: [allocated, requested, reserved]}}}: the
most bytes at a time, absolute, of a forward pass without gradients and of the first and the third
step of AdamW, in float32 and bfloat16. cuDNN's attention is switched off. Runs without a device
under cuda_without_gpu/run.py.

usage: measure_hf_cuda.py OUT [NAME...]
needs: torch (a CUDA build), transformers
"""

import gc
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import torch
from hf_models import MODELS
from hf_row import HfModel
from recording import measure_named

warnings.filterwarnings("ignore")
DTYPES = (torch.float32, torch.bfloat16)
KEYS = ("allocated_bytes", "requested_bytes", "reserved_bytes")


def peaks(run: Callable[[], None]) -> list[int]:
    torch.cuda.reset_peak_memory_stats()
    run()
    stats = torch.cuda.memory_stats()
    return [stats[f"{key}.all.peak"] for key in KEYS]


def prepared(model: HfModel, dtype: torch.dtype, labelled: bool) -> Callable[[], object]:
    """A call of the module, on the device."""
    module = model.make._from_config(model.config, dtype=dtype).train(labelled).to("cuda")
    inputs = {
        key: value.to("cuda", dtype if value.is_floating_point() else None)
        if isinstance(value, torch.Tensor)
        else value
        for key, value in model.inputs(labelled).items()
    }
    call = lambda: module(**inputs)  # noqa: E731
    call.module = module  # type: ignore[attr-defined]
    return call


def forward(call: Callable[[], object]) -> dict[str, list[int]]:
    def run() -> None:
        with torch.no_grad():
            call()

    run()
    release()
    return {"steady": peaks(run)}


def train(call: Callable[[], object]) -> dict[str, list[int]]:
    optimizer = torch.optim.AdamW(call.module.parameters(), lr=1e-3)  # type: ignore[attr-defined]

    def step() -> None:
        output = call()
        output.loss.backward()  # type: ignore[attr-defined]
        optimizer.step()
        optimizer.zero_grad()

    release()
    first, _, steady = (peaks(step) for _ in range(3))
    return {"step1": first, "steady": steady}


def release() -> None:
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def measure(name: str, out: Path) -> None:
    model = MODELS[name]()
    model.config.use_cache = False
    found: dict[str, dict[str, dict[str, list[int]]]] = {}
    for dtype in DTYPES:
        phases = found.setdefault(str(dtype).removeprefix("torch."), {})
        phases["forward"] = forward(prepared(model, dtype, False))
        if model.inputs(True).keys() != model.inputs(False).keys():
            phases["train"] = train(prepared(model, dtype, True))
        release()
    (out / name / "cuda.json").write_text(json.dumps(found) + "\n")
    print(name, flush=True)


if __name__ == "__main__":
    torch.backends.cuda.enable_cudnn_sdp(False)
    # Whether texts are padded and packed is read from the device, which a stub cannot answer.
    masks = "transformers.masking_utils"
    with (
        mock.patch(f"{masks}.find_packed_sequence_indices", lambda position_ids: None),
        mock.patch(f"{masks}.fast_all", lambda mask: True),
    ):
        measure_named(measure, MODELS, __doc__)
