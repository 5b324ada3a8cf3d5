# SPDX-License-Identifier: Apache-2.0
"""ONNX models weigh what PyTorch says of the models that were exported (tools/onnx_models.py)."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data" / "onnx"
TRUTH = json.loads((DATA / "truth.json").read_text())
EXPORTS = sorted(DATA.glob("*.onnx"))
# The sizes that the models were measured at, where the file leaves them open.
SIZES = {"gru": (5, None), "bert": (2, 16)}


def weigh(steelyard: str, path: Path, *flags: str) -> dict:  # type: ignore[type-arg]
    done = subprocess.run(
        [steelyard, "weigh", path, "--format", "json", *flags], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def sizes(path: Path) -> list[str]:
    """Returns the flags that bind what the older exporter leaves open."""
    if ".torchscript." not in path.name:
        return []
    batch, seq = SIZES.get(path.name.split(".")[0], (2, None))
    return ["--batch", str(batch)] + (["--seq", str(seq)] if seq else [])


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.name)
def test_as_torch_counts(path: Path, steelyard: str) -> None:
    truth = TRUTH[path.name.split(".")[0]]
    report = weigh(steelyard, path, "--strict", *sizes(path))
    assert report["parameters"]["count"] == truth["parameters"]
    # Recurrent layers are no contractions to torch's counter.
    if truth["flops"]:
        assert report["flops"]["forward"] == truth["flops"]


def test_buffers_are_told_from_parameters(steelyard: str) -> None:
    for exporter in ("dynamo", "torchscript"):
        path = DATA / f"resnet18.{exporter}.onnx"
        report = weigh(steelyard, path, *sizes(path))
        assert report["buffers"]["count"] == TRUTH["resnet18"]["buffers"]


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_modules_are_found(exporter: str, steelyard: str) -> None:
    path = DATA / f"resnet18.{exporter}.onnx"
    report = weigh(steelyard, path, *sizes(path))
    modules = {module["path"]: module for module in report["modules"]}
    # 1x1 from 64 to 128 channels on images of 8x8, twice
    assert modules["layer2.0.downsample.0"]["macs"] == 2 * 64 * 128 * 8 * 8


def commands() -> list[str]:
    text = (ROOT / "docs" / "onnx.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("command", commands())
def test_commands_of_the_page_work(command: str, steelyard: str) -> None:
    program, *flags = command.split()
    assert program == "steelyard"
    done = subprocess.run([steelyard, *flags], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
