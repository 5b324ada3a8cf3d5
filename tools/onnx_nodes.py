#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/onnx/nodes: the operator tests of the `onnx` package, joined into a few models.

usage: onnx_nodes.py

Each of them is a small model with recorded inputs and outputs. What is kept is the graph, small
inputs as constants (an operator that PyTorch has takes its sizes and axes from them) and the shapes
and dtypes of the outputs, as declarations. All tests of one version of the operators become one
graph, in which every test has the module of its name: the sizes of results are then compared with
the recorded ones when the model is weighed.
"""

import gzip
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import compose, numpy_helper
from onnx.backend.test.case.node import collect_testcases

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "onnx" / "nodes"
# As many elements as Steelyard reads of a constant.
MOST_READ = 64
# Fewer tests are no file of their own.
LEAST_TESTS = 3


def is_constant(values: numpy.ndarray) -> bool:
    """Whether an input is rather a setting than data."""
    if values.dtype.kind in "biu" and values.size <= MOST_READ and values.ndim < 2:
        return True
    return values.ndim == 0 or (values.size <= 8 and values.ndim == 1)


def declare(value: onnx.ValueInfoProto, shape: tuple[int, ...]) -> None:
    value.type.tensor_type.ClearField("shape")
    value.type.tensor_type.shape.SetInParent()
    for size in shape:
        value.type.tensor_type.shape.dim.add().dim_value = size


def prepared(case: Any) -> onnx.ModelProto | None:
    """The model of a test with its shapes, or None where values are no tensors of numbers."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    inputs, outputs = case.data_sets[0]
    values = (*graph.input, *graph.output)
    if not all(value.type.HasField("tensor_type") for value in values):
        return None
    recorded = [numpy.asarray(value) for value in (*inputs, *outputs)]
    if len(recorded) != len(values) or any(array.dtype.kind in "OUS" for array in recorded):
        return None
    data = []
    for value, array in zip(values, recorded, strict=True):
        declare(value, array.shape)
    for value, given in zip(graph.input, inputs, strict=True):
        if is_constant(numpy.asarray(given)):
            graph.initializer.append(numpy_helper.from_array(numpy.asarray(given), value.name))
        else:
            data.append(onnx.ValueInfoProto.FromString(value.SerializeToString()))
    del graph.input[:]
    graph.input.extend(data)
    strip(graph)
    graph.name = case.name
    return compose.add_prefix(model, prefix=case.name + "/", rename_functions=False)


def is_whole(model: onnx.ModelProto) -> bool:
    """Whether renaming has left no value behind, as it does in some graphs within graphs.

    Loops of a range whose end is a float run as often as data say.
    """
    if model.graph.name.startswith("test_range") and "expanded" in model.graph.name:
        return False
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError:
        return False
    return True


def strip(graph: onnx.GraphProto) -> None:
    graph.ClearField("value_info")
    graph.ClearField("doc_string")
    for node in graph.node:
        node.ClearField("doc_string")
        node.name = "node"


def main() -> int:
    joined: dict[tuple[tuple[str, int], ...], list[onnx.ModelProto]] = defaultdict(list)
    for case in collect_testcases(None):
        model = prepared(case)
        if model is None or model.functions or not is_whole(model):
            continue
        sets = sorted((item.domain, item.version) for item in model.opset_import)
        joined[tuple(sets)].append(model)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for versions, models in joined.items():
        if (
            len(models) < LEAST_TESTS
            or dict(versions).get("", 0) < 7
            or "ai.onnx.ml" in dict(versions)
        ):
            continue
        whole = models[0]
        for model in models[1:]:
            for field in ("node", "initializer", "input", "output"):
                getattr(whole.graph, field).extend(getattr(model.graph, field))
        name = "-".join(
            f"{domain.split('.')[-1] or 'onnx'}{version}" for domain, version in versions
        )
        packed = gzip.compress(whole.SerializeToString(), mtime=0)
        (FOLDER / f"{name}.onnx.gz").write_bytes(packed)
        print(name, len(models))
    return 0


if __name__ == "__main__":
    sys.exit(main())
