# SPDX-License-Identifier: Apache-2.0
import os
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


NO_TEXT = b"caf\xe9.syt"  # of Latin-1, as an old archive has it


@pytest.mark.parametrize("named", [NO_TEXT, os.fsdecode(NO_TEXT)])
def test_paths_that_are_no_utf8_are_refused_as_others(
    steelyard: str, tmp_path: Path, named: str | bytes
) -> None:
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(named))  # noqa: PTH118
    told = subprocess.run([steelyard, "weigh", path], capture_output=True, check=False)
    given = path if isinstance(named, bytes) else os.fsdecode(path)
    for refused in (package.weigh, package.load, lambda one: package.compare(one, one)):
        with pytest.raises(package.NotFoundError) as raised:
            refused(given)
        assert told.stderr.decode(errors="replace") == f"steelyard: {raised.value}\n"


@pytest.mark.parametrize("named", [NO_TEXT, os.fsdecode(NO_TEXT)])
def test_paths_that_are_no_utf8_are_read(tmp_path: Path, named: str | bytes) -> None:
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(named))  # noqa: PTH118
    Path(os.fsdecode(path)).write_text("input %x: f32[2]\nreturn %x\n")
    assert package.weigh(path).data["model"]["path"].endswith("/caf\ufffd.syt")
    assert package.get_param_size(path) == 0


def test_names_that_are_no_utf8_are_refused_as_others(tmp_path: Path) -> None:
    path = written(tmp_path, "input %x: f32[2]\nreturn %x\n")
    with pytest.raises(package.NotFoundError, match='there is no input "\ufffd"'):
        package.weigh(path, inputs={"\udcff": (4,)})
    with pytest.raises(package.NotFoundError, match=r'there is no input "\\ud800"'):
        package.weigh(path, inputs={"\ud800": (4,)})


def test_a_path_does_not_end_at_a_nul(tmp_path: Path) -> None:
    path = written(tmp_path, "input %x: f32[2]\nreturn %x\n")
    with pytest.raises(package.NotFoundError, match="there is no such file"):
        package.weigh(f"{path}\0", importer="text")


def test_a_config_is_no_file() -> None:
    with pytest.raises(package.InvalidInputError, match="n_embd") as caught:
        package.weigh({"model_type": "gpt2", "n_embd": -1})
    assert caught.value.where == "config: n_embd"
