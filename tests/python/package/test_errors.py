# SPDX-License-Identifier: Apache-2.0
import subprocess
from pathlib import Path

import pytest
import steelyard as package
from programs import written


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", package.InvalidInputError),
        ("input %x: f32[2]\nreturn %y\n", package.InvalidInputError),
        (None, package.NotFoundError),
    ],
)
def test_the_text_is_the_command_lines(
    steelyard: str, tmp_path: Path, text: str | None, kind: type[package.SteelyardError]
) -> None:
    path = tmp_path / "missing.syt" if text is None else written(tmp_path, text)
    told = subprocess.run([steelyard, "weigh", path], capture_output=True, text=True, check=False)
    with pytest.raises(kind) as raised:
        package.weigh(path)
    # A terminal's line ends where the library begins to quote the file.
    assert told.stderr == f"steelyard: {str(raised.value).splitlines()[0]}\n"


def test_parts_are_attributes() -> None:
    error = package.UsageError("it is wrong", "there", "Do otherwise.")
    assert (error.message, error.where, error.hint) == ("it is wrong", "there", "Do otherwise.")
    assert str(error) == "there: it is wrong. Do otherwise."
    assert str(package.InternalError("a defect")) == "a defect"


def test_kinds_are_pythons_kinds_too() -> None:
    assert issubclass(package.InvalidInputError, ValueError)
    assert issubclass(package.NotFoundError, LookupError)
    assert issubclass(package.ExportError, package.UnsupportedError)


def test_names_that_are_no_text() -> None:
    with pytest.raises(package.NotFoundError, match="there is no such file"):
        package.weigh("\udcff.pt2".encode("utf-8", "replace").decode())
