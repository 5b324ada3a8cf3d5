#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a wheel of the Python package needs nothing that is not in it.

usage: check_wheel.py WHEEL

It is installed into a virtual environment of its own, without an index and without PyTorch. Every
library that its module, or a library beside it, asks the loader for is then one of the wheel's or
of those that every Linux has (the policy in the wheel's tag lists them). A model has as many
parameters as it should; the command `steelyard` weighs each kind of file; and `steelyard run`,
which needs an engine, says how to build one.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "examples" / "bert-base-mlm-b4-s128.pt2"
# An exported program and an ONNX file, and the configs of all that this checkout builds, which what
# was compiled of older sources does not: what the command is called with.
FILES = [
    [str(MODEL)],
    [str(ROOT / "tests/data/onnx/bert.torchscript.onnx"), "--batch", "2", "--seq", "8"],
    *([str(config)] for config in sorted(ROOT.glob("tests/data/hf/*/config.json"))),
]
# Of glibc, GCC and zlib, which manylinux takes for granted.
SYSTEM = re.compile(
    r"(linux-vdso|ld-linux-x86-64|ld-linux-aarch64|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z))\.so"
)
WEIGH = """
import sys
import steelyard
assert "torch" not in sys.modules
totals = steelyard.weigh({model!r}, train="adamw").totals
print(totals.parameter_count, steelyard.__file__)
import steelyard._core
print(steelyard._core.__file__)
"""
# vocabulary, positions and types; 12 layers; the transform before the head, whose bias is its own
BERT_BASE = (30522 + 512 + 2 + 2) * 768 + 12 * (4 * 768 * 769 + 2 * 768 * 3072 + 3072 + 5 * 768)
HEAD = 768 * 769 + 2 * 768 + 30522


def command_works(steelyard: Path, folder: str) -> None:
    for words in FILES:
        said = subprocess.run(
            [steelyard, "weigh", *words, "--depth", "0"],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
        )
        if "parameters" not in said.stdout:
            sys.exit(f"steelyard weigh {words[0]} says: {said.stdout}{said.stderr}")
    run = subprocess.run([steelyard, "run", MODEL], capture_output=True, text=True, cwd=folder)
    if run.returncode == 0 or "cmake --preset engine" not in run.stderr:
        sys.exit(f"steelyard run does not say how to build an engine: {run.stderr}")


def strangers_of(library: Path, folder: str) -> list[str]:
    """What the loader takes for it from elsewhere, besides what every Linux has."""
    loaded = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    return [
        f"{library.name}: {line.strip()}"
        for line in loaded.splitlines()
        if folder not in line and not SYSTEM.search(line)
    ]


def main() -> int:
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True, cwd=folder
        )
        said = subprocess.run(
            [python, "-I", "-c", WEIGH.format(model=str(MODEL))],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
        )
        parameters, package = said.stdout.splitlines()[0].split()
        module = said.stdout.splitlines()[1]
        if not package.startswith(folder):
            sys.exit(f"the package was imported from {package}")
        if int(parameters) != BERT_BASE + HEAD:
            sys.exit(f"bert-base has {parameters} parameters; it should be {BERT_BASE + HEAD}")
        libraries = [Path(module), *Path(module).parent.parent.glob("steelyard.libs/*.so*")]
        strangers = [line for one in libraries for line in strangers_of(one, folder)]
        if strangers:
            sys.exit("it loads libraries that are not in the wheel: " + "; ".join(strangers))
        command_works(Path(folder, "bin", "steelyard"), folder)
    print(f"{wheel.name}: installs and weighs without anything else")
    return 0


if __name__ == "__main__":
    sys.exit(main())
