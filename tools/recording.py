# SPDX-License-Identifier: Apache-2.0
"""What the tools that measure PyTorch share: programs without weights, events of memory, sums."""

import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "differential"))
from counted import counter as counter
from recorder import events_of as events_of

Events = list[list[Any]]


def without_machine_paths(data: bytes) -> bytes:
    """Of the JSON of an archive: files by their path below the folder that Python found them in."""
    folders = {str(Path(entry).absolute()) for entry in sys.path}
    for folder in sorted(folders, key=len, reverse=True):  # one may lie within another
        data = data.replace(f'File \\"{folder}/'.encode(), b'File \\"')
    return data


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
                    data = without_machine_paths(data)
                stamped = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
                out.writestr(stamped, data, zipfile.ZIP_DEFLATED)


def peak_of(events: Events) -> int:
    total = peak = 0
    for _, size in events:
        total += size
        peak = max(peak, total)
    return peak


def total_bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def bytes_by_dtype(tensors: Iterable[torch.Tensor]) -> dict[str, int]:
    out: dict[str, int] = {}
    for t in tensors:
        out[str(t.dtype)] = out.get(str(t.dtype), 0) + total_bytes([t])
    return out


def cuda_peaks(step: Callable[[], None]) -> dict[str, int]:
    """What torch.cuda tells when a step has run."""
    torch.cuda.reset_peak_memory_stats()
    step()
    statistics = torch.cuda.memory_stats()
    names = {
        "allocated": "allocated_bytes",
        "requested": "requested_bytes",
        "reserved": "reserved_bytes",
        "segments": "segment",
    }
    return {key: statistics[f"{name}.all.peak"] for key, name in names.items()}


def cuda_events(step: Callable[[], None]) -> list[int]:
    """Allocations and frees of a step, in bytes as they were asked for."""
    torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=10**6)
    step()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    signs = {"alloc": 1, "free_requested": -1}
    return [signs[e["action"]] * e["size"] for e in trace if e["action"] in signs]


def save_truth(truth: dict[str, Any], folder: Path) -> None:
    text = json.dumps(truth, separators=(",", ":"))
    (folder / f"{truth['name']}.truth.json").write_text(text)


def measure_named(
    measure: Callable[[str, Path], None], models: Iterable[str], usage: str | None
) -> None:
    """The command line OUT [NAME...]: `measure` of each name, of all `models` without one."""
    if len(sys.argv) < 2:
        sys.exit(usage)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or models:
        measure(name, folder)
