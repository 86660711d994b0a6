"""Sparse matrices of untrusted files as full arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from l1lsmi.files.table import Values


def to_dense(matrix: Any) -> Values:
    """A sparse matrix as a full array, after a check of its indices.

    ``toarray`` writes outside of the array where an index is out of bounds.

    Examples
    --------
    >>> from scipy import sparse
    >>> to_dense(sparse.csc_array([[0, 2], [3, 0]])).tolist()
    [[0, 2], [3, 0]]
    """
    compressed = matrix if matrix.format in ("csr", "csc") else sparse.csc_array(matrix)
    compressed.check_format(full_check=True)
    return np.asarray(compressed.toarray())
