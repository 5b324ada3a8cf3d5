# SPDX-License-Identifier: Apache-2.0
"""Where rows and PyTorch on CUDA differ: each with the reason, as known.py has them for the CPU."""

import math
from fnmatch import fnmatch
from typing import Any

import known
from calls import FLOATS, Call, Tensor
from compare import Extent
from known import Known, excuses
from table import Row

# Single matrices are factorized by cuSOLVER; batches by cuBLAS as far as LU, which alone asks for
# nothing that a stand-in does not know.
LAPACK = (
    "how much scratch a factorization takes cuSOLVER itself says (54 functions of the kind "
    "..._bufferSize), which no stand-in knows; it is not modelled, and the refusal says so"
)

# Rows that a device without kernels cannot tell anything of, as patterns of their names.
UNSEEN = {
    "aten::combinations": "how many there are is found by a kernel",
    "aten::bincount": "how many there are is found by a kernel",
    "aten::*unique*": "how many there are is found by a kernel",
    "aten::*matrix_exp": "how often it squares is found by a kernel",
    "aten::_scaled_dot_product_flash_attention_for_cpu*": "a kernel of the CPU",
    "aten::mkldnn_*": "a kernel of the CPU",
    "aten::*linalg_lu_*": LAPACK,
    "aten::*linalg_solve*": LAPACK,
    "aten::linalg_inv*": LAPACK,
    "aten::*linalg_cholesky*": LAPACK,
    "aten::*linalg_qr": LAPACK,
    "aten::*linalg_eig*": LAPACK,
    "aten::*linalg_svd*": LAPACK,
    "aten::linalg_matrix_power": LAPACK,
    "aten::linalg_matrix_sqrth": LAPACK,
    "aten::linalg_polar": LAPACK,
    "aten::inverse": LAPACK,
    "aten::*det": LAPACK,
    "aten::svd": LAPACK,
    "aten::cholesky_inverse*": LAPACK,
    "aten::*cholesky_solve*": LAPACK,
    "aten::lu_*": LAPACK,
    "aten::linalg_lu": LAPACK,
    "aten::linalg_ldl*": LAPACK,
    "aten::linalg_lstsq": LAPACK,
    "aten::linalg_householder_product": LAPACK,
    "aten::orgqr": LAPACK,
    "aten::*pinv*": LAPACK,
    "aten::linalg_matrix_rank*": LAPACK,
    "aten::linalg_cond*": LAPACK,
    "aten::linalg_tensor*": LAPACK,
    "aten::linalg_norm.ord_str": LAPACK,
    "aten::nuclear_norm*": LAPACK,
    "aten::triangular_solve": LAPACK,
    "aten::matrix_power": LAPACK,
    "aten::_linalg_check_errors": "it reads what a kernel has found",
    "aten::_scaled_mm": "cuBLASLt's workspace is not modelled, and the refusal says so",
}

# Rows that are not right on CUDA in some calls that were tried: what is missing, by name. A row
# that is mended goes from here; until then its scratch on a device is not known to the byte.
OPEN: dict[str, str] = {}


# Refusals, as patterns of their messages, of calls that PyTorch takes where kernels do nothing.
CALLER = "its caller checks"
REFUSALS = {
    "*aten::convolution_backward*a gradient * of a convolution that gives*": CALLER,
    "*aten::_trilinear*sizes of a shared subscript differ*": CALLER,
    "*aten::cudnn_convolution*a kernel of * is larger than the padded image*": CALLER,
    "*aten::cudnn_convolution*numbers for 0 dimensions*": CALLER,
    "*aten::cudnn_convolution*input channels differ*": CALLER,
    "*aten::cudnn_convolution passes no gradient on*": "aten::convolution has the gradient",
    "*aten::_conv_depthwise2d*a dilation of*": CALLER,
    "*aten::upsample_bilinear2d.vec*the image has * dimensions, not 4*": CALLER,
    "*aten::upsample_*.vec*whole numbers are not written out*": "the refusal says so",
    "*the input has 4 dimensions, not 3*": "cuDNN's recurrent networks do not check",
    "*the state has * dimensions, not 3*": "cuDNN's recurrent networks do not check",
    "*there is nothing to select from*": "the kernel would find the index out of bounds",
    "*factors of matrices are not modelled on CUDA*": LAPACK,
    "*aten::index_put_*[[,]0[],]*cannot be written into*": "PyTorch looks at none of no elements",
}


def argument(call: Call, place: int, name: str) -> Any:
    """The argument at a place or of a name; None where it is left out."""
    return call.args[place] if place < len(call.args) else dict(call.kwargs).get(name)


# mode by a block of threads for each row; longer ones are sorted, and what differs is counted.
LONGEST_ROW = 2048


def has_long_rows(call: Call) -> bool:
    return any(size > LONGEST_ROW for t in call.tensors() for size in t.sizes)


def fills_masks(call: Call) -> bool:
    """Whether one value is written, not added, where masks hold."""
    values = argument(call, 2, "values")
    if argument(call, 3, "accumulate"):
        return False
    indices = argument(call, 1, "indices")
    return (
        isinstance(values, Tensor)
        and math.prod(values.sizes) == 1
        and all(t.dtype in ("bool", "u8") for t in indices if isinstance(t, Tensor))
    )


# A call in the text form has so many results at most.
MOST_RESULTS = 256
MANY = "it may have more results than a call in the text form"


def has_many_parts(call: Call) -> bool:
    return any(size > MOST_RESULTS for t in call.tensors() for size in t.sizes)


# Calls in which a row's events differ.
DIFFERENCES: tuple[Known, ...] = (
    Known(
        "aten::embedding_bag*",
        "PyTorch takes other numbers for sums",
        lambda call: argument(call, 4, "mode") not in (None, 0, 1, 2),
        Extent.NOTHING,
    ),
    Known(
        "aten::embedding_bag*",
        "sparse gradients are not modelled, and the refusal says so",
        lambda call: bool(argument(call, 5, "sparse")),
        Extent.NOTHING,
    ),
    Known(
        "aten::dropout",
        "of one element the gradient goes earlier",
        lambda call: not known.has_several(call),
    ),
    Known(
        "aten::*index_put*",
        "one value is taken to be a number of Python, which lies in the host's memory",
        fills_masks,
    ),
    Known("aten::trace_backward", "how many indices differ is found by a kernel"),
    Known(
        "aten::_scaled_dot_product_efficient_attention_backward",
        "its caller gives operands of one dtype",
        lambda call: len({t.dtype for t in call.tensors() if t.dtype in FLOATS}) > 1,
    ),
    Known(
        "aten::native_dropout_backward",
        "its caller gives operands of one size",
        lambda call: len({t.sizes for t in call.tensors()}) > 1,
        Extent.NOTHING,
    ),
    Known(
        "aten::binary_cross_entropy_backward",
        "its caller gives operands of one size",
        lambda call: len({t.sizes for t in call.tensors()}) > 1,
        Extent.NOTHING,
    ),
    Known("aten::*split*", MANY, has_many_parts, Extent.NOTHING),
    Known("aten::unbind*", MANY, has_many_parts, Extent.NOTHING),
    Known(
        "aten::to.other",
        "a number of Python lies in the host's memory, and what becomes like it",
        lambda call: not isinstance(argument(call, 1, "other"), Tensor),
    ),
    Known("aten::mode", "how many differ is found by a kernel", has_long_rows),
)


def reason(row: Row) -> str | None:
    """Why PyTorch is not asked about the row's operator; None if it is."""
    unseen = (why for pattern, why in UNSEEN.items() if fnmatch(row.name, pattern))
    return known.namespace_reason(row.name) or next(unseen, None)


def extent_of(row: Row, call: Call, refusal: str) -> Extent:
    """How much of the call to compare, `refusal` being what the row says against it."""
    if any(fnmatch(refusal, pattern) for pattern in REFUSALS):
        return Extent.NOTHING
    if any(fnmatch(row.name, pattern) for pattern in OPEN):
        return Extent.NOTHING
    found = [entry.extent for entry in DIFFERENCES if excuses(entry, row, call)]
    return min(found, default=Extent.ALL)
