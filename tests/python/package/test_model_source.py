# SPDX-License-Identifier: Apache-2.0
import pytest
from steelyard import model_source


def wrapped(inner: Exception) -> Exception:
    """An exception that another one came of."""
    try:
        try:
            raise inner
        except Exception as error:
            raise RuntimeError("outer") from error
    except RuntimeError as error:
        return error


def test_the_place_is_the_innermost_line_of_the_users() -> None:
    try:
        raise ValueError
    except ValueError as error:
        assert model_source.place_of(error).endswith('"raise ValueError"')
        assert model_source.place_of(error).startswith(f"{__file__}:")


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert model_source.place_of(ValueError()) == ""


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Could not guard on data-dependent expression u0", "torch.cond"),
        ("forward() missing 1 required positional argument", "Are args and kwargs"),
        ("Constraints violated (batch)!", "Dim.AUTO"),
        ("anything else", "draft_export"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert hint in model_source.hint_for(wrapped(ValueError(text)))
