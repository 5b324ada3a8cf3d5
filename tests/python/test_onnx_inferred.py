# SPDX-License-Identifier: Apache-2.0
"""Shapes of every tensor that onnx.shape_inference infers (tools/onnx_inferred.py) are ours.

Of exports by both of torch's exporters, and of the models in the onnx package that are no tests of
one operator. A result of another shape or dtype than declared would count as not modelled; those
whose sizes are the contents of an input do, and gradients written into the graph.
"""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "data" / "onnx" / "inferred"
MODELS = sorted(FOLDER.glob("*.onnx.gz"))
COUNTS = json.loads((FOLDER / "counts.json").read_text())


def test_most_tensors_are_declared() -> None:
    assert len(MODELS) == len(COUNTS) > 140
    nodes = sum(nodes for nodes, _ in COUNTS.values())
    assert sum(shapes for _, shapes in COUNTS.values()) > 0.9 * nodes


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name.removesuffix(".onnx.gz"))
def test_shapes_are_those_that_onnx_infers(path: Path, steelyard: str, tmp_path: Path) -> None:
    name = path.name.removesuffix(".onnx.gz")
    model = tmp_path / "model.onnx"
    model.write_bytes(gzip.decompress(path.read_bytes()))
    command = [steelyard, "weigh", str(model), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    unmodelled = {row["op"] for row in json.loads(done.stdout)["unmodelled"]}
    if name.startswith("simple.expand_shape_model"):
        assert unmodelled == {"onnx::Expand"}
    elif name.startswith("simple.gradient_of"):
        assert unmodelled == {"ai.onnx.preview.training::Gradient"}
    else:
        assert unmodelled == set()
