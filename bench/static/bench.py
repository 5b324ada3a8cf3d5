#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `steelyard weigh` beside torch's flop counter, in one run.

usage: bench.py [--binary build/release/steelyard] [--floor build/release/bench/static/floor]

Whole-process figures are hyperfine's. FlopCounterMode is timed inside a process that has torch
loaded already, on the exported module with all tensors on the meta device: the most favourable way
to run it.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests/data/models"


def hyperfine(command: list[str]) -> dict[str, float]:
    out = ROOT / "build/hyperfine.json"
    run = [
        "hyperfine",
        "-N",
        "--warmup",
        "20",
        "--runs",
        "200",
        "--export-json",
        str(out),
        " ".join(command),
    ]
    subprocess.run(run, check=True, capture_output=True)
    result = json.loads(out.read_text())["results"][0]
    return {
        "mean_ms": result["mean"] * 1e3,
        "min_ms": result["min"] * 1e3,
        "stddev_ms": result["stddev"] * 1e3,
    }


def bert_base() -> Any:
    import transformers

    return transformers.BertForMaskedLM(transformers.BertConfig(use_cache=False)), (4, 128)


def llama3_8b() -> Any:
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=4096,
        intermediate_size=14336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        vocab_size=128256,
        use_cache=False,
    )
    return transformers.LlamaForCausalLM(config), (1, 2048)


def flop_counter(make: Callable[[], Any], repeats: int = 3) -> dict[str, float]:
    """Exporting the module on the meta device; a counted forward pass, the best of a few."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    begin = time.perf_counter()
    with torch.device("meta"):
        model, shape = make()
        inputs = {name: torch.zeros(shape, dtype=torch.long) for name in ("input_ids", "labels")}
        # On the meta device transformers' mask asks for a number; the exported program does not.
        program = torch.export.export(model, (), inputs, strict=False).module()
    making = time.perf_counter() - begin
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            program(**inputs)
        times.append(time.perf_counter() - begin)
    return {
        "make_ms": making * 1e3,
        "count_ms": min(times) * 1e3,
        "flops": counter.get_total_flops(),
    }


# Limits of the project for the whole process, in milliseconds.
CASES: dict[str, tuple[float, Callable[[], Any]]] = {
    "bert-base-mlm-b4-s128": (5.0, bert_base),
    "llama3-8b-b1-s2048": (12.0, llama3_8b),
}


def cpu_name() -> str:
    match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return match.group(1) if match else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/steelyard"))
    parser.add_argument("--floor", default=str(ROOT / "build/release/bench/static/floor"))
    options = parser.parse_args()
    results: dict[str, Any] = {"cpu": cpu_name(), "models": {}}
    print(f"{'model':28}{'weigh ms':>10}{'limit':>8}{'floor ms':>10}{'torch ms':>10}{'ratio':>8}")
    for name, (limit, make) in CASES.items():
        path = MODELS / f"{name}.pt2"
        row: dict[str, Any] = {
            "limit_ms": limit,
            "weigh": hyperfine([options.binary, "weigh", str(path), "--format", "json"]),
        }
        row["floor"] = hyperfine([options.floor, str(path)])
        row["text"] = hyperfine([options.binary, "weigh", str(path)])
        row["flop_counter"] = flop_counter(make)
        row["ratio"] = row["flop_counter"]["count_ms"] / row["weigh"]["mean_ms"]
        results["models"][name] = row
        print(
            f"{name:28}{row['weigh']['mean_ms']:10.2f}{limit:8.1f}{row['floor']['mean_ms']:10.2f}"
            f"{row['flop_counter']['count_ms']:10.1f}{row['ratio']:8.0f}"
        )
    (ROOT / "bench/static/results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
