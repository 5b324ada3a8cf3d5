# SPDX-License-Identifier: Apache-2.0
"""Which of PyTorch's buffers depend on the processor that runs it.

oneDNN chooses its kernels, and with them the layouts and scratch it asks PyTorch for, by the
instructions there are. The rows state what AVX-512 gives, and for 16-bit products what AVX-512 with
bfloat16 and without AMX gives. On another processor these private buffers are not compared; results
and whatever else the call allocates are the same everywhere, and are. Where oneDNN does not compute
in bfloat16 at all PyTorch's own kernels do, which have buffers and layouts of their own, and save
other tensors: these calls are not compared.
"""

from functools import cache
from pathlib import Path

import torch
from calls import Call
from compare import Extent
from table import Row

WANTED = "the rows state oneDNN's buffers for a processor with {}"
PRODUCTS = ("contraction", "convolution", "attention")
RECURRENT = ("aten::lstm.input", "aten::mkldnn_rnn_layer", "aten::mkldnn_rnn_layer_backward")


@cache
def first_cache() -> str:
    """The size of a core's first cache of data, as Linux tells it; empty where it does not."""
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        told = [(index / name).read_text().strip() for name in ("level", "type", "size")]
        if told[:2] == ["1", "Data"]:
            return told[2]
    return ""


@cache
def is_stated() -> bool:
    """Whether this is a processor whose buffers for numbers of 32 bits the rows state."""
    return torch.cpu._is_avx512_supported() and first_cache() in ("", "48K")


@cache
def multiplies_bfloat16() -> bool:
    """Whether oneDNN multiplies and convolves bfloat16 here."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def runs_other_kernels(row: Row, call: Call) -> bool:
    """Whether PyTorch calls other kernels here than those that the row states."""
    low = any(t.dtype == "bf16" for t in call.tensors())
    multiplies = row.family in PRODUCTS or row.name in RECURRENT
    if multiplies and low and not multiplies_bfloat16():
        return True
    return row.name in RECURRENT and not torch.cpu._is_avx512_supported()


def obstacle(row: Row, call: Call) -> str | None:
    """Why the events of this call cannot be compared here; None if they can."""
    if row.family == "convolution" or row.name in RECURRENT:
        if not torch.cpu._is_avx512_supported():
            return WANTED.format("AVX-512")
        if row.family == "convolution" and not is_stated():
            return WANTED.format("a first cache of 48 KiB")
    low = any(t.dtype in ("bf16", "f16") for t in call.tensors())
    if low and (row.family in PRODUCTS or row.name in RECURRENT):
        if not torch.cpu._is_avx512_bf16_supported():
            return WANTED.format("AVX-512 for bfloat16")
        if torch.cpu._is_amx_tile_supported():
            return WANTED.format("no AMX")
    return None


def extent(row: Row, call: Call) -> Extent:
    """How much of the call can be compared here."""
    if obstacle(row, call) is None:
        return Extent.ALL
    return Extent.NOTHING if runs_other_kernels(row, call) else Extent.PUBLIC
