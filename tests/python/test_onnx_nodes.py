# SPDX-License-Identifier: Apache-2.0
"""Every operator of ONNX gives the shapes that ONNX's own tests recorded (tools/onnx_nodes.py).

A result of another shape or dtype than the file declares would count as not modelled, as do the
operators that have no row, or not for every operand. They stand here, with how many tests they have
part in.
"""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "data" / "onnx" / "nodes"
UNMODELLED = json.loads((FOLDER / "unmodelled.json").read_text())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.gz")), ids=lambda path: path.stem)
def test_results_are_as_recorded(path: Path, steelyard: str, tmp_path: Path) -> None:
    model = tmp_path / path.stem
    model.write_bytes(gzip.decompress(path.read_bytes()))
    done = subprocess.run(
        [steelyard, "weigh", model, "--format", "json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = {row["op"]: row["count"] for row in json.loads(done.stdout)["unmodelled"]}
    assert found == UNMODELLED.get(path.name, {})
