# SPDX-License-Identifier: Apache-2.0
import pytest
import steelyard
from steelyard import Builder, DType

BATCH, INPUTS, HIDDEN, CLASSES, F32 = 8, 20, 16, 10, 4


def two_layers() -> steelyard.Program:
    b = Builder("Classifier", "Classifier")
    batch = b.symbol("batch", example=BATCH)
    x = b.input("x", DType.FLOAT32, [batch, INPUTS])
    with b.enter("hidden", "Linear"):
        weight = b.parameter("weight", DType.FLOAT32, [HIDDEN, INPUTS])
        x = b.call("aten::linear", x, weight, bias=None)
    x = b.call("aten::relu", x)
    with b.enter("scores", "Linear"):
        x = b.call("aten::linear", x, b.parameter("weight", DType.FLOAT32, [CLASSES, HIDDEN]))
    x = b.call("aten::view", x, [batch, CLASSES])
    b.returns(x)
    return b.build()


def test_a_built_program_is_weighed() -> None:
    program = two_layers()
    assert program.calls == 4
    totals = steelyard.weigh(program).totals
    assert totals.parameter_count == HIDDEN * INPUTS + CLASSES * HIDDEN
    assert totals.forward_macs == BATCH * (HIDDEN * INPUTS + CLASSES * HIDDEN)


def test_a_symbol_is_bound_when_it_is_weighed() -> None:
    macs = [steelyard.weigh(two_layers(), batch=n).totals.forward_macs for n in (1, 32)]
    assert macs[1] == 32 * macs[0]


def test_modules_are_entered_and_left() -> None:
    paths = {row["path"] for row in steelyard.weigh(two_layers()).to_dicts("modules")}
    assert {"hidden", "scores"} <= paths


def test_arguments_of_every_kind() -> None:
    b = Builder("Kinds")
    x = b.input("x", DType.FLOAT32, [4, 6])
    half = b.call("aten::to.dtype", x, DType.FLOAT16, False, False, None)
    first, second = b.call_many("aten::split.Tensor", 2, half, 2, dim=0)
    joined = b.call("aten::cat", [first, second], 1)
    scaled = b.call("aten::mul.Scalar", joined, 0.5)
    b.returns(b.call("aten::gelu", scaled, approximate="tanh"))
    totals = steelyard.weigh(b.build(), strict=True).totals
    assert totals.operators == totals.modelled_operators == 5


def test_refusals() -> None:
    b = Builder("Wrong")
    with pytest.raises(TypeError, match="an argument is None, a number"):
        b.call("aten::relu", object())
    b.call("aten::relu", Builder("Other").input("x", DType.FLOAT32, [1]))
    with pytest.raises(steelyard.SteelyardError):
        b.build()
