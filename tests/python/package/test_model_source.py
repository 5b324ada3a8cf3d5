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
        (".numpy() is not supported for tensor subclasses.", "torch.library.custom_op"),
        ("Unsupported input type <class 'numpy.ndarray'>.", "torch.from_numpy"),
        ("Found <class 'Result'> in output, which is not a known type.", "Return tensors"),
        (
            "Found <class 'm.DynamicCache'> in output, which is not a known type.",
            "config.use_cache",
        ),
        ("a and b must have same reduction dim, but got [2, 5] X [4, 4].", "Are the shapes"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert hint in model_source.hint_for(wrapped(ValueError(text)))


def test_what_the_models_own_code_raises_is_its_own() -> None:
    assert "draft_export" in model_source.hint_for(ValueError("anything else"))
    try:
        raise ValueError("7 features are wanted")
    except ValueError as error:
        assert model_source.hint_for(error).startswith("It is the model that says so")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("The first line.\nAnother."), "The first line"),
        (RuntimeError(""), "RuntimeError"),
        (KeyError("y"), "KeyError: 'y'"),
        (
            ValueError("It depends on Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)"),
            "It depends on Eq(u0, 1)",
        ),
    ],
)
def test_what_is_said_is_one_line(error: Exception, said: str) -> None:
    assert model_source.said_by(error) == said
