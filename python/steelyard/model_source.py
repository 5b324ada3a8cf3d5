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
OF_DATA = r"data.dependent|unbacked|u0\b|\.item\(\)|nonzero"
HINTS = (
    (
        OF_DATA,
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
    (
        r"Unsupported input type",
        "Pass tensors, such as torch.from_numpy(array), alone or in tuples, lists and "
        "dictionaries; a dataclass once torch.export.register_dataclass knows it.",
    ),
    (
        r"Cache\b.*in output, which is not a known type",
        "Keys and values are returned: without them the model is weighed, "
        "model.config.use_cache = False.",
    ),
    (
        r"in output, which is not a known type",
        "Return tensors, alone or in tuples, lists and dictionaries; a dataclass once "
        "torch.export.register_dataclass knows it.",
    ),
    (
        r"numpy\(\) is not supported|can't convert .* to numpy",
        "What NumPy computes cannot be traced: write it with PyTorch's operators, or make an "
        "operator of it with torch.library.custom_op, whose register_fake says what it returns.",
    ),
    (
        r"reduction dim|shapes cannot be multiplied|broadcast|is invalid for input of size|"
        r"must match the size|expected input.*to have|Expected .*D .*input|size mismatch",
        "Are the shapes of args and kwargs those that the model takes?",
    ),
)
# Where the model's own code raised it.
OF_THE_MODEL = (
    "It is the model that says so: does it run with these inputs? While it is traced its tensors "
    "have a shape and a dtype, but no values."
)
OTHERWISE = (
    "Does the model run with these inputs? If so, pass what torch.export.export(model, args, "
    "strict=True) returns, or see what torch.export.draft_export(model, args) says."
)
# Whose text alone does not say what they are: 'y' of a KeyError.
BARE = (LookupError, AttributeError, NameError, AssertionError, ArithmeticError)
# Begins what PyTorch adds to a message for those who know its symbols.
ASIDE = " (unhinted: "


def said_by(error: BaseException) -> str:
    """Returns what an exception says, as one line without its full stop."""
    lines = str(error).strip().splitlines()
    line = lines[0].partition(ASIDE)[0].rstrip(". ") if lines else ""
    if not line or isinstance(error, BARE):
        return f"{type(error).__name__}{': ' if line else ''}{line}"
    return line


def asks_for_data(error: BaseException) -> bool:
    """Whether PyTorch would have to know what tensors hold."""
    said = " ".join(str(one) for one in _chain(error))
    return re.search(OF_DATA, said, re.IGNORECASE) is not None


def hint_for(error: BaseException) -> str:
    """Returns what would help against what PyTorch says."""
    said = " ".join(f"{type(one).__name__} {one}" for one in _chain(error))
    for words, hint in HINTS:
        if re.search(words, said, re.IGNORECASE):
            return hint
    raised = traceback.extract_tb(error.__traceback__)
    of_the_model = raised and _is_users(raised[-1].filename)
    return OF_THE_MODEL if of_the_model or isinstance(error, BARE) else OTHERWISE


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
