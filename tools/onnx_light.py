#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/onnx/light: the models of images that the `onnx` package tests backends with.

usage: onnx_light.py

They are real networks whose weights are constants that are made when the model runs. What
onnx.shape_inference finds of each result is kept in them as a declaration; truth.json holds how
many there are, and the work of convolutions and matrix products, found from those shapes alone.
"""

import gzip
import json
import math
import sys
from pathlib import Path

import onnx

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "onnx" / "light"
MODELS = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def shapes_of(graph: onnx.GraphProto) -> dict[str, list[int]]:
    """Of the values whose sizes are all known."""
    values = (*graph.value_info, *graph.input, *graph.output)
    known = {}
    for value in values:
        sizes = value.type.tensor_type.shape.dim
        if all(size.HasField("dim_value") for size in sizes):
            known[value.name] = [size.dim_value for size in sizes]
    return known


def flops(graph: onnx.GraphProto) -> int:
    """2 x multiply-adds of convolutions and matrix products."""
    shapes = shapes_of(graph)
    total = 0
    for node in graph.node:
        if node.op_type == "Conv":
            total += 2 * math.prod(shapes[node.output[0]]) * math.prod(shapes[node.input[1]][1:])
        elif node.op_type == "Gemm":
            turned = any(a.name == "transA" and a.i for a in node.attribute)
            depth = shapes[node.input[0]][0 if turned else 1]
            total += 2 * math.prod(shapes[node.output[0]]) * depth
        elif node.op_type in ("MatMul", "Einsum", "ConvTranspose"):
            raise NotImplementedError(node.op_type)
    return total


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    truth = {}
    for path in sorted(MODELS.glob("*.onnx")):
        model = onnx.shape_inference.infer_shapes(onnx.load(path), True, True, True)
        graph = model.graph
        truth[path.stem] = {
            "nodes": len(graph.node),
            "shapes": len(shapes_of(graph).keys() - {value.name for value in graph.input}),
            "flops": flops(graph),
        }
        packed = gzip.compress(model.SerializeToString(), mtime=0)
        (FOLDER / f"{path.name}.gz").write_bytes(packed)
    (FOLDER / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
