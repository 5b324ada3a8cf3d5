# SPDX-License-Identifier: Apache-2.0
"""Models that are no networks give what ONNX Runtime gives (tools/onnx_learned.py)."""

import json
import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "data" / "onnx" / "learned"
RESULTS = json.loads((FOLDER / "results.json").read_text())
DTYPES = {"i64": "int64", "f32": "float32"}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_as_onnx_runtime_has_them(name: str, steelyard: str) -> None:
    command = [steelyard, "weigh", str(FOLDER / f"{name}.onnx"), "--batch", "7"]
    done = subprocess.run(
        [*command, "--strict", "--print-after", "bind"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    returned = re.findall(r"^return (.*)$", done.stdout, re.MULTILINE)[-1].split(", ")
    found = []
    for value in returned:
        made = re.search(rf"{re.escape(value)}: (\w+)\[([\d,]*)\]", done.stdout)
        assert made is not None, value
        found.append([DTYPES[made[1]], [int(size) for size in made[2].split(",")]])
    assert found == RESULTS[name]
    counted = subprocess.run([*command, "--strict"], capture_output=True, text=True)
    assert counted.returncode == 0, counted.stderr
