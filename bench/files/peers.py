#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks one peer about one file and prints what it said and took, as JSON.

usage: peers.py PEER FILE

Where a peer asks the Hub of Hugging Face, the answer is put in its place: the network is not
measured. `make_ms` is what it takes to have the peer loaded, `ask_ms` the call alone; the caller
times the whole process.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("USE_LIBUV", "0")

Asked = Callable[[], dict[str, Any]]
SHAPE = (4, 128)


def shape_inference(path: Path) -> Asked:
    import onnx

    def ask() -> dict[str, Any]:
        model = onnx.shape_inference.infer_shapes(onnx.load(path))
        return {"tensors": len(model.graph.value_info) + len(model.graph.output)}

    return ask


def onnx_tool(path: Path) -> Asked:
    import onnx_tool

    def ask() -> dict[str, Any]:
        graph = onnx_tool.Model(str(path), {"verbose": False}).graph
        graph.shape_infer()
        graph.profile()
        return {"macs": int(graph.macs[0]), "parameters": int(graph.params)}

    return ask


def hub_answer(path: Path) -> Callable[..., Any]:
    """What the Hub says of a model that is a transformers' one."""
    config = json.loads((path / "config.json").read_text())
    return lambda *_: SimpleNamespace(library_name="transformers", config=config)


def accelerate(path: Path) -> Asked:
    from accelerate.commands import estimate
    from accelerate.utils import calculate_maximum_sizes

    estimate.verify_on_hub = hub_answer(path)

    def ask() -> dict[str, Any]:
        size, largest = calculate_maximum_sizes(
            estimate.create_empty_model(str(path), "transformers")
        )
        return {
            "bytes": size,
            "largest_layer": largest[0],
            "adam": estimate.estimate_training_usage(size, "float32")["step"],
        }

    return ask


def calflops(path: Path) -> Asked:
    import torch
    from calflops import calculate_flops, estimate

    estimate.verify_on_hub = hub_answer(path)

    def ask() -> dict[str, Any]:
        model = estimate.create_empty_model(str(path), None)
        inputs = {"input_ids": torch.zeros(SHAPE, dtype=torch.long, device="meta")}
        # Another mask than one that is all ones: transformers asks whether it is, and nobody knows.
        inputs["attention_mask"] = torch.zeros(
            SHAPE[0], 1, SHAPE[1], SHAPE[1], device="meta", dtype=torch.bool
        )
        flops, macs, parameters = calculate_flops(
            model, kwargs=inputs, print_results=False, output_as_string=False
        )
        return {"flops": flops, "macs": macs, "parameters": parameters}

    return ask


def hf_mem(path: Path) -> Asked:
    from hf_mem.safetensors.metadata import parse_safetensors_metadata

    def ask() -> dict[str, Any]:
        tensors: dict[str, Any] = {}
        for part in sorted(path.glob("*.safetensors")):
            with part.open("rb") as file:
                (length,) = struct.unpack("<Q", file.read(8))
                tensors |= json.loads(file.read(length))
        said = parse_safetensors_metadata({"Transformer": tensors})
        return {"parameters": said.param_count, "bytes": said.bytes_count}

    return ask


PEERS: dict[str, Callable[[Path], Asked]] = {
    "onnx.shape_inference": shape_inference,
    "onnx-tool": onnx_tool,
    "accelerate estimate-memory": accelerate,
    "calflops": calflops,
    "hf-mem": hf_mem,
}


def main() -> None:
    peer, file = sys.argv[1], Path(sys.argv[2])
    begin = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        ask = PEERS[peer](file)
        made = time.perf_counter()
        said = ask()
    end = time.perf_counter()
    print(json.dumps({"make_ms": (made - begin) * 1e3, "ask_ms": (end - made) * 1e3, **said}))


if __name__ == "__main__":
    main()
