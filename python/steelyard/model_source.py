# SPDX-License-Identifier: Apache-2.0
"""Where in a user's model an exception of PyTorch's comes from, and what to try."""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
import traceback
from collections.abc import Iterator
from functools import lru_cache

# Words in PyTorch's exceptions, and what helps against what they mean.
HINTS = (
    (
        r"data.dependent|unbacked|u0\b|\.item\(\)|nonzero",
        "A branch or a size depends on the values of a tensor: write it with torch.where or "
        "torch.cond, or state what holds with torch._check; torch.export.draft_export(model, args) "
        "lists all such places.",
    ),
    (
        r"dynamic_shapes|Constraints violated|specializ",
        "Are the dynamic shapes those that the model takes? With torch.export.Dim.AUTO PyTorch "
        "chooses.",
    ),
    (
        r"positional argument|unexpected keyword|required argument|missing \d+ required",
        "Are args and kwargs those of the model's forward?",
    ),
)
OTHERWISE = (
    "Does the model run with these inputs? If so, pass what torch.export.export(model, args, "
    "strict=True) returns, or see what torch.export.draft_export(model, args) says."
)


def hint_for(error: BaseException) -> str:
    """Returns what would help against what PyTorch says."""
    said = " ".join(f"{type(one).__name__} {one}" for one in _chain(error))
    for words, hint in HINTS:
        if re.search(words, said, re.IGNORECASE):
            return hint
    return OTHERWISE


def place_of(error: BaseException) -> str:
    """Returns the innermost line outside PyTorch and Python on its way: `model.py:12 "code"`."""
    for one in _chain(error):
        for frame in reversed(traceback.extract_tb(one.__traceback__)):
            if _is_users(frame.filename):
                line = linecache.getline(frame.filename, frame.lineno or 0).strip()
                return f"{frame.filename}:{frame.lineno}" + (f' "{line}"' if line else "")
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and what it came from, the outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _is_users(filename: str) -> bool:
    if filename.startswith("<") and not filename.startswith("<ipython"):
        return False
    return not os.path.abspath(filename).startswith(_folders_of_others())  # noqa: PTH100


@lru_cache(maxsize=1)
def _folders_of_others() -> tuple[str, ...]:
    import torch

    ours = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    pytorch = os.path.dirname(os.path.abspath(torch.__file__))  # noqa: PTH100, PTH120
    paths = sysconfig.get_paths()
    # Packages that hold models lie below Python's own folder.
    python = [
        entry.path
        for entry in os.scandir(paths["stdlib"])
        if entry.name not in ("site-packages", "dist-packages")
    ]
    return (ours + os.sep, pytorch + os.sep, *python)
