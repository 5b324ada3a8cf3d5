#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weighs files of weights as large as a 70 B model's, beside the packages that own the formats.

usage: bench.py [--binary build/release/steelyard] [--runs 20]

The files are headers with holes behind them, and take no room: a Llama of 70 B in bfloat16 in 30
parts with an index (141 GB), and one of 8 B as GGUF, q4_k and q6_k, with a vocabulary of 128,256
tokens. Steelyard's is the whole process and the time that it gives itself; the peers' is the
work in a process that has them loaded: safetensors opens each part and asks each tensor for its
sizes, gguf reads the file with GGUFReader.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from weights_files import gguf_header, safetensors_header, write  # noqa: E402

Q4_K, Q6_K, F32 = 12, 14, 0
BLOCK_BYTES = {Q4_K: 144, Q6_K: 210, F32: 1024}  # of 256 elements


def llama(layers: int, hidden: int, inner: int, keys: int) -> list[tuple[str, tuple[int, ...]]]:
    """Names and sizes of the tensors, as transformers has them."""
    vocabulary = 128_256
    tensors: list[tuple[str, tuple[int, ...]]] = [
        ("model.embed_tokens.weight", (vocabulary, hidden))
    ]
    for i in range(layers):
        layer = f"model.layers.{i}"
        tensors += [
            (f"{layer}.input_layernorm.weight", (hidden,)),
            (f"{layer}.mlp.down_proj.weight", (hidden, inner)),
            (f"{layer}.mlp.gate_proj.weight", (inner, hidden)),
            (f"{layer}.mlp.up_proj.weight", (inner, hidden)),
            (f"{layer}.post_attention_layernorm.weight", (hidden,)),
            (f"{layer}.self_attn.k_proj.weight", (keys, hidden)),
            (f"{layer}.self_attn.o_proj.weight", (hidden, hidden)),
            (f"{layer}.self_attn.q_proj.weight", (hidden, hidden)),
            (f"{layer}.self_attn.v_proj.weight", (keys, hidden)),
        ]
    return [*tensors, ("model.norm.weight", (hidden,)), ("lm_head.weight", (vocabulary, hidden))]


def elements(sizes: tuple[int, ...]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def write_shards(folder: Path, parts: int) -> None:
    tensors = llama(80, 8192, 28672, 1024)
    each = -(-len(tensors) // parts)
    where = {}
    for part in range(parts):
        name = f"model-{part + 1:05d}-of-{parts:05d}.safetensors"
        header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
        begin = 0
        for tensor, sizes in tensors[part * each : (part + 1) * each]:
            end = begin + 2 * elements(sizes)
            header[tensor] = {"dtype": "BF16", "shape": sizes, "data_offsets": [begin, end]}
            where[tensor] = name
            begin = end
        write(folder / name, safetensors_header(json.dumps(header)), begin)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))


def write_gguf(path: Path) -> None:
    tensors = []
    begin = 0
    for name, sizes in llama(32, 4096, 14336, 1024):
        kind = F32 if len(sizes) == 1 else Q6_K if "v_proj" in name or "head" in name else Q4_K
        tensors.append([name, list(reversed(sizes)), kind, begin])
        begin += -(-elements(sizes) // 256 * BLOCK_BYTES[kind] // 32) * 32
    metadata = [
        ["general.architecture", "string", "llama"],
        ["general.file_type", "uint32", 15],
        ["llama.context_length", "uint32", 131072],
        ["tokenizer.ggml.tokens", "array", ["string", [f"token{i}" for i in range(128_256)]]],
        ["tokenizer.ggml.merges", "array", ["string", [f"to ken{i}" for i in range(280_147)]]],
    ]
    write(path, gguf_header({"metadata": metadata, "tensors": tensors}), begin)


def read_safetensors(folder: Path) -> int:
    from safetensors import safe_open

    count = 0
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "numpy") as file:
            for name in file.keys():  # noqa: SIM118
                count += elements(tuple(file.get_slice(name).get_shape()))
    return count


def read_gguf(path: Path) -> int:
    import gguf

    return sum(int(tensor.n_elements) for tensor in gguf.GGUFReader(path).tensors)


def timed(call: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """The median in milliseconds, and what the last call returned."""
    call()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        result = call()
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times), result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(ROOT / "build/release/steelyard"))
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        shards, packed = Path(work, "llama-70b"), Path(work, "llama-8b-Q4_K_M.gguf")
        write_shards(shards, 30)
        write_gguf(packed)
        print("| file | weigh, process | weigh, inside | peer | ratio |\n|---|---|---|---|---|")
        for path, peer in ((shards, read_safetensors), (packed, read_gguf)):
            command = [options.binary, "weigh", str(path), "--format", "json"]
            if path.suffix == ".gguf":
                command += ["--from", "gguf"]

            def weigh(command: list[str] = command) -> dict[str, Any]:
                done = subprocess.run(command, capture_output=True, check=True)
                report: dict[str, Any] = json.loads(done.stdout)
                return report

            process_ms, _ = timed(weigh, options.runs)
            inside = [1000 * weigh()["elapsed_seconds"] for _ in range(options.runs)]
            peer_ms, count = timed(lambda peer=peer, path=path: peer(path), options.runs)
            if count != weigh()["parameters"]["count"]:
                sys.exit(f"{path.name}: the peer counts {count} parameters")
            inside_ms = statistics.median(inside)
            print(
                f"| {path.name} | {process_ms:.2f} ms | {inside_ms:.2f} ms | {peer_ms:.1f} ms "
                f"| {peer_ms / inside_ms:.0f} |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
