# SPDX-License-Identifier: Apache-2.0
"""Real networks of images of the onnx package (tools/onnx_light.py), each result's shape declared.

A result of another shape than onnx.shape_inference found would count as not modelled.
"""

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "data" / "onnx" / "light"
TRUTH = json.loads((FOLDER / "truth.json").read_text())
MODELS = sorted(FOLDER.glob("*.onnx.gz"))


def weigh(steelyard: str, model: bytes, path: Path) -> dict[str, Any]:
    path.write_bytes(model)
    done = subprocess.run(
        [steelyard, "weigh", path, "--format", "json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_all_are_here() -> None:
    assert {path.name.removesuffix(".onnx.gz") for path in MODELS} == TRUTH.keys()
    # Every result is declared: no node has none.
    assert all(told["shapes"] >= told["nodes"] for told in TRUTH.values())


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name.removesuffix(".onnx.gz"))
def test_shapes_are_those_that_onnx_infers(path: Path, steelyard: str, tmp_path: Path) -> None:
    report = weigh(steelyard, gzip.decompress(path.read_bytes()), tmp_path / path.stem)
    assert report["unmodelled"] == []
    assert report["flops"]["forward"] == TRUTH[path.name.removesuffix(".onnx.gz")]["flops"]
    assert report["memory"]["peak_delta"] > 0


def test_another_shape_is_noticed(steelyard: str, tmp_path: Path) -> None:
    model = gzip.decompress((FOLDER / "light_squeezenet.onnx.gz").read_bytes())
    # The dimension 1000, as protobuf writes it, and 1001: of the classes.
    classes, more = b"\x0a\x03\x08\xe8\x07", b"\x0a\x03\x08\xe9\x07"
    assert classes in model
    report = weigh(steelyard, model.replace(classes, more), tmp_path / "model.onnx")
    assert report["unmodelled"] != []
