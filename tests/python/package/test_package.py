# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: what importing it takes, and that its types are written down."""

import subprocess
import sys
from pathlib import Path

import steelyard
from steelyard import _core

MOST_SECONDS = 0.05


def run(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_import_is_quick() -> None:
    # The processor's time, and the least of five: other programs may be running.
    program = (
        "import time; t = time.process_time(); import steelyard; print(time.process_time() - t)"
    )
    assert min(float(run(program)) for _ in range(5)) < MOST_SECONDS


def test_import_needs_no_other_package() -> None:
    program = "import sys, steelyard; print(*{name.split('.')[0] for name in sys.modules})"
    others = {"torch", "numpy", "pandas", "rich"}
    assert not others & set(run(program).split())


def test_the_version_is_the_librarys() -> None:
    header = Path(__file__).parents[3] / "include/steelyard/report.h"
    assert f'kVersion[] = "{steelyard.__version__}"' in header.read_text()


def test_every_name_is_there_and_typed() -> None:
    stub = Path(_core.__file__).with_name("_core.pyi").read_text()
    for name in steelyard.__all__:
        assert hasattr(steelyard, name)
    for name in vars(_core):
        if not name.startswith("_"):
            assert name in stub
    assert Path(steelyard.__file__).with_name("py.typed").exists()


def test_the_stub_is_current() -> None:
    generated = Path(_core.__file__).with_name("_core.pyi").read_text()
    kept = Path(__file__).parents[3] / "python/steelyard/_core.pyi"
    assert kept.read_text() == generated, "copy the one of build/release/python/src"


def test_the_known_operators_are_those_of_the_table() -> None:
    ops = {op.name: op for op in steelyard.known_ops()}
    page = (Path(__file__).parents[3] / "docs/ops.md").read_text()
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert list(ops) == listed
    linear = ops["aten::linear"]
    assert linear.family == "contraction"
    assert linear.signature == "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"
