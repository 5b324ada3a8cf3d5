# SPDX-License-Identifier: Apache-2.0
"""Small models whose costs are counted by hand."""

from pathlib import Path

ROWS, INPUTS, OUTPUTS = 2, 8, 4
F32 = 4

LINEAR = f"""
program "one linear"
input %x: f32[{ROWS},{INPUTS}]
parameter %w: f32[{OUTPUTS},{INPUTS}] "w"
%y: f32[{ROWS},{OUTPUTS}] = aten::linear(%x, %w)
return %y
"""


def written(folder: Path, text: str = LINEAR) -> Path:
    path = folder / "model.syt"
    path.write_text(text)
    return path
