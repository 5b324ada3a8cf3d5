#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/onnx/inferred: exports and the onnx package's models with every shape declared.

usage: onnx_inferred.py

Sizes that exports leave open are given, as tests/python/test_onnx.py gives them; then
onnx.shape_inference declares what it can of every tensor. Models of operators before 7, which the
package has from the first PyTorch exporter, are written in 7 by its version converter. Weights are
left out. A result of another shape than declared would count as not modelled when the model is
weighed.
"""

import gzip
import json
from pathlib import Path

import onnx
from onnx import shape_inference, version_converter

ROOT = Path(__file__).resolve().parent.parent / "tests" / "data" / "onnx"
FOLDER = ROOT / "inferred"
PACKAGE = Path(onnx.__file__).parent / "backend/test/data"
KINDS = ("simple", "pytorch-converted", "pytorch-operator")
OLDEST = 7
# The converter leaves their slopes of channels as they are; since version 7 they are of others.
UNCONVERTED = [f"test_PReLU_{n}d_multiparam" for n in (1, 2, 3)]
# Its sizes are the contents of an input.
UNKNOWN = ["test_sequence_model8"]
# As many elements as Steelyard reads of a constant.
MOST_READ = 64
SIZES = {"batch": 2, "seq": 16}


def fixed(model: onnx.ModelProto, first: int) -> onnx.ModelProto:
    """The model with numbers in place of the names of its inputs' sizes."""
    for value in model.graph.input:
        for place, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                dim.dim_value = first if place == 0 else SIZES["seq"]
    return model


def without_weights(model: onnx.ModelProto) -> None:
    for tensor in model.graph.initializer:
        size = 1
        for dim in tensor.dims:
            size *= dim
        if size > MOST_READ:
            for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data"):
                tensor.ClearField(field)
    for node in model.graph.node:
        node.ClearField("doc_string")


def inferred(model: onnx.ModelProto) -> onnx.ModelProto:
    declared = shape_inference.infer_shapes(model, data_prop=True)
    without_weights(declared)
    return declared


def shapes_of(graph: onnx.GraphProto) -> int:
    inner = [value for value in graph.value_info if value.type.tensor_type.HasField("shape")]
    return len(inner) + len(graph.output)


def version_of(model: onnx.ModelProto) -> int:
    for item in model.opset_import:
        if item.domain in ("", "ai.onnx"):
            return int(item.version)
    return 0


def is_of_tensors(graph: onnx.GraphProto) -> bool:
    """Whether all inputs are tensors of numbers."""
    types = [value.type for value in graph.input]
    text = onnx.TensorProto.STRING
    return all(t.HasField("tensor_type") and t.tensor_type.elem_type != text for t in types)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*"):
        old.unlink()
    counts = {}

    def keep(name: str, model: onnx.ModelProto) -> None:
        declared = inferred(model)
        counts[name] = [len(declared.graph.node), shapes_of(declared.graph)]
        packed = gzip.compress(declared.SerializeToString(), mtime=0)
        (FOLDER / f"{name}.onnx.gz").write_bytes(packed)

    for path in sorted(ROOT.glob("*.onnx")):
        model = onnx.load(path, load_external_data=False)
        keep(path.stem, fixed(model, 5 if path.stem.startswith("gru") else SIZES["batch"]))
    for kind in KINDS:
        for path in sorted((PACKAGE / kind).glob("*/model.onnx")):
            model = onnx.load(path)
            if not is_of_tensors(model.graph) or path.parent.name in UNCONVERTED + UNKNOWN:
                continue
            if version_of(model) < OLDEST:
                try:
                    model = version_converter.convert_version(model, OLDEST)
                except RuntimeError as error:
                    print(path.parent.name, "is not converted:", str(error).splitlines()[0])
                    continue
            keep(f"{kind}.{path.parent.name.removeprefix('test_')}", model)
    (FOLDER / "counts.json").write_text(json.dumps(counts, indent=1) + "\n")


if __name__ == "__main__":
    main()
