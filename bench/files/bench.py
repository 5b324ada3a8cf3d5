#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `steelyard weigh` of ONNX models, configs and weights beside the tools for them.

usage: bench.py [--binary build/release/steelyard] [--runs 20]

A peer is asked in a process of its own (peers.py); its call alone and its whole process are set
beside the time that Steelyard gives itself and its whole process. All are medians of their runs: on
a machine that others use too, they say more than the least does.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "bench" / "weights"))

import onnx  # noqa: E402

import bench as weights_bench  # noqa: E402

PEER_RUNS = 3

LLAMA_8B = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
ONNX = ("onnx.shape_inference", "onnx-tool")
CONFIG = ("accelerate estimate-memory", "calflops")


def cases(folder: Path) -> list[tuple[str, Path, list[str], tuple[str, ...]]]:
    """What is weighed: a name, the file, how it is asked, and who else is asked."""
    llama = folder / "llama3-8b"
    llama.mkdir()
    (llama / "config.json").write_text(json.dumps(LLAMA_8B))
    shards = folder / "llama-70b"
    shards.mkdir()
    weights_bench.write_shards(shards, 30)
    light = Path(onnx.__file__).parent / "backend/test/data/light"
    sizes = ["--batch", "4", "--seq", "128"]
    return [
        ("resnet50, ONNX", light / "light_resnet50.onnx", [], ONNX),
        ("densenet121, ONNX", light / "light_densenet121.onnx", [], ONNX),
        ("bert-base, config.json", ROOT / "examples/bert-base", sizes, CONFIG),
        ("llama3-8b, config.json", llama, sizes, CONFIG),
        ("llama 70 B, 30 safetensors", shards, [], ("hf-mem",)),
    ]


def inside(said: dict[str, Any]) -> float:
    """The milliseconds of a call alone, by whichever tool."""
    if "ask_ms" in said:
        return float(said["ask_ms"])
    return float(said["elapsed_seconds"]) * 1e3


def asked_often(command: list[str], runs: int) -> tuple[float, float, dict[str, Any]]:
    """Medians of the whole process and of the call alone, in milliseconds, and what was said."""
    times, said = [], []
    for _ in range(runs):
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        times.append((time.perf_counter() - begin) * 1e3)
        if done.returncode != 0:
            return 0.0, 0.0, {"refused": done.stderr.strip().splitlines()[-1][:200]}
        of_peer = '"ask_ms"' in done.stdout
        said.append(json.loads(done.stdout.splitlines()[-1] if of_peer else done.stdout))
    return statistics.median(times), statistics.median(map(inside, said)), said[-1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/steelyard"))
    parser.add_argument("--runs", type=int, default=20)
    asked = parser.parse_args()
    match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    results: dict[str, Any] = {"cpu": match.group(1) if match else platform.machine(), "files": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, path, flags, peers in cases(Path(folder)):
            weigh = [asked.binary, "weigh", str(path), *flags, "--format", "json"]
            process_ms, inside_ms, report = asked_often(weigh, asked.runs)
            if "refused" in report:
                raise SystemExit(f"{name}: {report['refused']}")
            row: dict[str, Any] = {"weigh": {"process_ms": process_ms, "inside_ms": inside_ms}}
            print(f"{name}: steelyard {inside_ms:.2f} ms, whole process {process_ms:.1f} ms")
            for peer in peers:
                command = [sys.executable, str(ROOT / "bench/files/peers.py"), peer, str(path)]
                peer_ms, ask_ms, said = asked_often(command, PEER_RUNS)
                row[peer] = {"process_ms": peer_ms, **said, "ask_ms": ask_ms}
                if "refused" in said:
                    print(f"  {peer:28} refused: {said['refused']}")
                    continue
                print(
                    f"  {peer:28}{ask_ms:10.1f} ms, {ask_ms / inside_ms:6.0f} x; "
                    f"whole process {peer_ms:8.0f} ms, {peer_ms / process_ms:6.0f} x"
                )
            results["files"][name] = row
    (ROOT / "bench/files/results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
