# SPDX-License-Identifier: Apache-2.0
"""Where rows and PyTorch on CUDA differ: each with the reason, as known.py has them for the CPU."""

from fnmatch import fnmatch

import known
from calls import Call
from compare import Extent
from known import Known, excuses
from table import Row

LAPACK = "MAGMA and cuSOLVER, which stand for LAPACK, are not modelled, and the refusal says so"

# Rows that a device without kernels cannot tell anything of, as patterns of their names.
UNSEEN = {
    "aten::nonzero*": "how many there are is found by a kernel",
    "aten::argwhere": "how many there are is found by a kernel",
    "aten::where": "how many there are is found by a kernel",
    "aten::masked_select": "how many there are is found by a kernel",
    "aten::*unique*": "how many there are is found by a kernel",
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
    "aten::inverse": LAPACK,
    "aten::*det": LAPACK,
    "aten::svd": LAPACK,
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
    "aten::_scaled_mm": "cuBLASLt's workspace is not modelled, and the refusal says so",
    "aten::*lstm*": "cuDNN's graphs are not answered without a device",
}

# Calls in which a row's events differ.
DIFFERENCES: tuple[Known, ...] = ()


def reason(row: Row) -> str | None:
    """Why PyTorch is not asked about the row's operator; None if it is."""
    unseen = (why for pattern, why in UNSEEN.items() if fnmatch(row.name, pattern))
    return known.namespace_reason(row.name) or next(unseen, None)


def extent_of(row: Row, call: Call) -> Extent:
    """How much of the call to compare."""
    found = [entry.extent for entry in DIFFERENCES if excuses(entry, row, call)]
    return min(found, default=Extent.ALL)
