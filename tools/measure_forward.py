#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models of forward_models.py and measures what eager PyTorch does when it runs them.

For each NAME it writes OUT/NAME.pt2, exported on the meta device (structure only), and
OUT/NAME.truth.json: parameters and buffers, every allocation and free of a forward pass without
gradients as [innermost operator, signed bytes], their peak, and the flops torch counts.

usage: measure_forward.py OUT [NAME...]
needs: torch, torchvision, transformers
"""

import json
import re
import sys
import tempfile
import warnings
import zipfile
from math import prod
from pathlib import Path
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed
import torchvision
import transformers
from forward_models import MODELS
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "differential"))
from recorder import memory_events

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def packed_product(rows: Any, *_: Any, out_shape: Any, **__: Any) -> int:
    return int(2 * prod(out_shape) * rows[-1])


def affine_grid(maps: Any, size: Any, *_: Any, **__: Any) -> int:
    return int(2 * prod(maps) * prod(size[2:]))


# Products that torch's counter does not look into.
NOT_COUNTED_BY_TORCH = {
    torch.ops.aten._weight_int8pack_mm: packed_product,
    torch.ops.aten.affine_grid_generator: affine_grid,
}


def exported(name: str) -> tuple[Any, Any]:
    """The inputs and the program of a model, on the device that is the default."""
    make, inputs = MODELS[name]
    module, example = make().eval(), inputs()
    positional, named = ((), example) if isinstance(example, dict) else (example, {})
    return (positional, named), torch.export.export(module, positional, named, strict=False)


def save_structure(program: Any, path: Path) -> None:
    """Without weights, times and the paths of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / path.name
        torch.export.save(program, raw)
        with (
            zipfile.ZipFile(raw) as source,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out,
        ):
            for entry in source.infolist():
                data = source.read(entry.filename)
                if entry.filename.endswith(".json"):
                    data = re.sub(rb'File \\"[^"\\]*/(site-packages|tools)/', rb'File \\"', data)
                stamped = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
                out.writestr(stamped, data, zipfile.ZIP_DEFLATED)


def events_of(run: Any) -> list[list[Any]]:
    cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=cpu, profile_memory=True, acc_events=True) as session:
        run()
    found = memory_events(session.profiler.kineto_results.events())
    return [[running[-1] if running else "", size] for running, size in found]


def peak_of(events: list[list[Any]]) -> int:
    total = peak = 0
    for _, size in events:
        total += size
        peak = max(peak, total)
    return peak


def total_bytes(tensors: list[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def measure(name: str, folder: Path) -> None:
    with torch.device("meta"):
        save_structure(exported(name)[1], folder / f"{name}.pt2")
    (positional, named), program = exported(name)
    module = program.module()
    parameters, buffers = list(module.parameters()), list(module.buffers())

    def forward() -> None:
        with torch.no_grad():
            module(*positional, **named)

    forward()
    events = events_of(forward)
    with FlopCounterMode(display=False, custom_mapping=NOT_COUNTED_BY_TORCH) as counter:
        forward()
    by_dtype: dict[str, int] = {}
    for p in parameters:
        by_dtype[str(p.dtype)] = by_dtype.get(str(p.dtype), 0) + total_bytes([p])
    truth = {
        "name": name,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "torchvision": torchvision.__version__,
        "params": sum(p.numel() for p in parameters),
        "param_bytes": by_dtype,
        "buffer_bytes": total_bytes(buffers),
        "forward_no_grad": {"peak": peak_of(events), "events": events},
        "flops_forward": counter.get_total_flops(),
        "flops_by_op": {str(k): v for k, v in counter.get_flop_counts()["Global"].items()},
    }
    text = json.dumps(truth, separators=(",", ":"))
    (folder / f"{name}.truth.json").write_text(text)
    print(name, truth["params"], truth["forward_no_grad"]["peak"], len(events), flush=True)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        measure(name, folder)


if __name__ == "__main__":
    main()
