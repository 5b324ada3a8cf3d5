# SPDX-License-Identifier: Apache-2.0
"""What is bound of each public header, called as the package calls it."""

from pathlib import Path

import pytest
from steelyard import _core

ROOT = Path(__file__).parents[3]
MODEL = ROOT / "examples/bert-base-mlm-b4-s128.pt2"


def test_units_write_and_read_bytes() -> None:
    assert _core.format(3 * 2**20, _core.Unit.BYTES) == "3.0 MiB"
    assert _core.format(-5, _core.Unit.NONE) == "-5"
    assert _core.format(5, _core.Unit.NONE, _core.UnitStyle.AUTO, _core.Sign.ALWAYS) == "+5"
    assert _core.parse_bytes("80GiB") == 80 * 2**30
    assert _core.parse_bytes("80GB") == 80 * 10**9
    assert _core.parse_bytes("many") is None


def test_dtypes_have_pytorchs_names() -> None:
    assert _core.dtype_named("bfloat16") is _core.DType.BFLOAT16
    assert _core.dtype_named("float17") is None


def two_reads() -> _core.Program:
    """A program that reads [n], [n + 4] and [2 * n] and joins them."""
    builder = _core.Builder("sizes")
    n = builder.symbol("n", 8)
    sizes = [n, builder.sum(n, 4), builder.product(2, n)]
    read = [
        builder.input(name, _core.DType.FLOAT32, [size])
        for name, size in zip("abc", sizes, strict=True)
    ]
    builder.returns(builder.call("aten::cat", read))
    return builder.build()


def test_sizes_are_sums_and_products_of_symbols() -> None:
    options = _core.WeighOptions()
    for size in (8, 100):
        options.bind.inputs = [_core.InputShape("a", [size])]
        read = size + (size + 4) + 2 * size
        weighed = _core.weigh(two_reads(), options)
        # What is read is resident, and what is joined is as long.
        assert weighed.totals.resident_bytes == 4 * read
        assert weighed.totals.peak_bytes == 2 * 4 * read


def test_importers_read_files_into_programs() -> None:
    assert {"pt2", "onnx", "config", "safetensors", "gguf", "text"} == set(_core.importers())
    program = _core.import_file(str(MODEL))
    assert program.name == "BertForMaskedLM"
    assert program.calls > 0
    with pytest.raises(ValueError, match="zip archive"):
        _core.import_file(str(ROOT / "README.md"), "pt2")


def test_passes_take_their_options() -> None:
    shape = _core.InputShape("input_ids", [2, 16])
    assert (shape.name, shape.sizes) == ("input_ids", [2, 16])
    size = _core.SymbolSize("u0", 4)
    assert (size.name, size.size) == ("u0", 4)
    bind = _core.BindOptions()
    assert (bind.batch, bind.seq, bind.inputs, bind.sizes) == (None, None, [], [])
    bind.batch, bind.sizes = 3, [size]
    assert bind.batch == 3
    assert bind.sizes[0].name == "u0"
    assert "adamw" in _core.optimizers()
    assert "cross-entropy" in _core.losses()


def test_reports_are_blocks_and_texts() -> None:
    report = _core.weigh(two_reads(), _core.WeighOptions()).describe(_core.ReportOptions())
    assert isinstance(report.body[0], _core.Headline)
    assert report.body[0].title == "sizes"
    look = _core.RenderOptions()
    look.unicode, look.width = False, 60
    text = report.render("text", look)
    assert text.isascii()
    assert text.startswith("sizes ")
    assert _core.format_of_file("model.json") == "json"


def test_totals_say_what_they_are() -> None:
    totals = _core.weigh(two_reads(), _core.WeighOptions()).totals
    assert repr(totals).startswith("Totals(parameter_count=0, parameter_bytes=0, ")
    assert f"peak_bytes={totals.peak_bytes}" in repr(totals)


def test_the_version_has_three_numbers() -> None:
    assert len(_core.VERSION.split(".")) == 3
    assert _core.REPORT_SCHEMA.startswith("steelyard.report/")
