#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that an installed Steelyard can be used: examples/cmake_project finds it, builds and runs.

usage: check_package.py CMAKE BUILD_FOLDER
"""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "cmake_project"
MODEL = ROOT / "examples" / "bert-base-mlm-b4-s128.pt2"


def exported_peak(steelyard: Path, folder: Path) -> int:
    """The peak of the model that transformer.cc builds, as PyTorch exports it."""
    import torch
    from torch.nn import functional

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, inputs, outputs in [
                ("qkv", 512, 3 * 512),
                ("out", 512, 512),
                ("up", 512, 2048),
                ("down", 2048, 512),
            ]:
                setattr(self, name, torch.nn.Linear(inputs, outputs, bias=False))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.qkv(functional.layer_norm(x, (512,))).view(8, 128, 3, 8, 64)
            q, k, v = y.permute(2, 0, 3, 1, 4).unbind()
            y = functional.scaled_dot_product_attention(q, k, v)
            x = x + self.out(y.transpose(1, 2).reshape(8, 128, 512))
            y = self.up(functional.layer_norm(x, (512,)))
            return x + self.down(functional.gelu(y))

    with torch.device("meta"):
        model = torch.nn.Sequential(*[Layer() for _ in range(6)])
        program = torch.export.export(model, (torch.zeros(8, 128, 512),))
    path = folder / "transformer.pt2"
    torch.export.save(program, path)
    command = [
        str(steelyard),
        "weigh",
        str(path),
        "--train",
        "sgd",
        "--loss",
        "sum",
        "--format",
        "json",
    ]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return int(report["memory"]["peak"])


def main() -> int:
    cmake, built = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        prefix, build = Path(folder, "prefix"), Path(folder, "build")
        subprocess.run(
            [cmake, "--install", built, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL
        )
        subprocess.run(
            [cmake, "-G", "Ninja", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"],
            check=True,
        )
        subprocess.run([cmake, "--build", build], check=True)
        subprocess.run([build / "example", MODEL], check=True)
        steelyard = prefix / "bin" / "steelyard"
        subprocess.run([steelyard, "--version"], check=True)
        said = subprocess.run([build / "transformer"], check=True, capture_output=True, text=True)
        peak = re.fullmatch(r"peak (\d+) B\n", said.stdout)
        if peak is None:
            sys.exit(f"transformer said {said.stdout!r}")
        if importlib.util.find_spec("torch") is not None:
            wanted = exported_peak(steelyard, Path(folder))
            if int(peak[1]) != wanted:
                sys.exit(f"transformer has a peak of {peak[1]} B; exported by PyTorch {wanted} B")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as problem:
        sys.exit(str(problem))
