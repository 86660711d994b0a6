"""The only module that knows one array library from another.

Everything else is written against the array API standard and asks here for the few things the standard lacks:
a way to and from NumPy, picking rows and columns together, and solving many small positive definite systems.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import array_api_compat
import array_api_compat.numpy as _numpy
import numpy as np
from scipy.linalg import blas, lapack

from l1lsmi._sparse import SparseMatrix

Array: TypeAlias = Any
Namespace: TypeAlias = Any
HostArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
#: Multiples of a shift that are tried until a matrix is positive definite.
RIDGE_FACTORS = tuple(10.0**power for power in range(12))

# Freeing one large block, which is never touched, teaches glibc to keep freed memory of up to this
# size for the next array instead of returning it to the system: thousands of arrays come and go in a search,
# and touching fresh pages costs more than the arithmetic on them. Other allocators ignore it.
np.empty(16 * 2**20, dtype=np.uint8)


def namespace(*arrays: Array) -> Namespace:
    """Return the array API namespace that all ``arrays`` belong to."""
    if len(arrays) == 1 and type(arrays[0]) in (np.ndarray, SparseMatrix):
        return _numpy  # asked dozens of times per step: spare the general look-up
    return array_api_compat.array_namespace(*arrays)


def is_non_numpy(x: object) -> bool:
    """Tell whether ``x`` is an array of a library other than NumPy."""
    return array_api_compat.is_array_api_obj(x) and not array_api_compat.is_numpy_array(x)


def dense_values(x: Array) -> Array:
    """Bare floating-point values of a foreign array: real ones in float64 or float32, no gradient.

    Raises ValueError where there are none to be had.
    """
    xp = namespace(x)
    if array_api_compat.is_torch_array(x):
        if str(x.layout) != "torch.strided" or x.is_meta:
            raise ValueError("is sparse or has no values: pass a dense tensor")
        x = x.detach()
    if xp.isdtype(x.dtype, "complex floating"):
        raise ValueError("has complex values, and complex data is not supported: pass real ones")
    return x if x.dtype in (xp.float32, xp.float64) else xp.astype(x, xp.float64)


def to_numpy(x: Array) -> HostArray:
    """Copy ``x`` to host memory as a NumPy array; NumPy arrays pass through."""
    if isinstance(x, np.ndarray):
        return x
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu()
        return (x.double() if str(x.dtype) == "torch.bfloat16" else x).numpy()  # type: ignore[no-any-return]
    host = array_api_compat.to_device(x, "cpu") if array_api_compat.is_cupy_array(x) else x
    if isinstance(host, np.ndarray):
        return host
    found = np.from_dlpack(host)
    # NumPy 2.0 does not say whether memory is shared, and lets nobody write.
    return found if found.flags.writeable else found.copy()


def asarray_like(values: Any, reference: Array, dtype: Any = None) -> Array:
    """Place ``values`` in the library and on the device of ``reference``."""
    if type(reference) in (np.ndarray, SparseMatrix):
        return np.asarray(values, dtype=dtype)
    xp = namespace(reference)
    return xp.asarray(values, dtype=dtype, device=array_api_compat.device(reference))


def empty(shape: tuple[int, ...], reference: Array, dtype: Any) -> Array:
    """An array to be filled, in the library and on the device of ``reference``."""
    if isinstance(reference, (np.ndarray, SparseMatrix)):
        return np.empty(shape, dtype=dtype)
    return namespace(reference).empty(shape, dtype=dtype, device=array_api_compat.device(reference))


def in_float64(x: Array) -> Array:
    """The same numbers in float64, not copied where they are in float64 already."""
    xp = namespace(x)
    return xp.astype(x, xp.float64, copy=False)


def astype_like(x: Array, reference: Array) -> Array:
    """The same numbers in the precision of ``reference``, not copied where they have it already."""
    return namespace(x).astype(x, reference.dtype, copy=False)


def gather(x: Array, rows: HostArray, columns: HostArray | None) -> Array:
    """Pick ``rows`` and ``columns`` (all of them for None) of a matrix, as a new dense array."""
    if isinstance(x, SparseMatrix):
        return x.dense(rows, columns)
    if isinstance(x, np.ndarray):
        if columns is None:
            return x[rows]
        # Where most rows are wanted it is cheaper to pick columns first, then copy whole rows.
        most = rows.size * 8 > x.shape[0]
        return x.take(columns, axis=1)[rows] if most else x[rows[:, None], columns]
    xp = namespace(x)
    picked = xp.take(x, asarray_like(rows, x), axis=0)
    return picked if columns is None else xp.take(picked, asarray_like(columns, x), axis=1)


def take_columns(x: Array, columns: HostArray | None) -> Array:
    """Pick ``columns`` (all of them for None) of a matrix, dense."""
    if isinstance(x, SparseMatrix):
        return x.dense(None, columns)
    return x if columns is None else namespace(x).take(x, asarray_like(columns, x), axis=1)


def with_zeros(x: Array, chosen: HostArray) -> Array:
    """The columns of a matrix in the places that are chosen among all, (m,), with zeros in the others."""
    xp = namespace(x)
    zeros = xp.zeros_like(x[:, :1])
    places = np.where(chosen, np.cumsum(chosen) - 1, x.shape[1])
    return xp.take(xp.concat([x, zeros], axis=1), asarray_like(places, x), axis=1)


def take_rows(x: Array, rows: HostArray) -> Array:
    """Pick ``rows`` of a matrix, which stays sparse if it is."""
    return x.rows_of(rows) if isinstance(x, SparseMatrix) else gather(x, rows, None)


def gather_batch(x: Array, rows: HostArray, columns: HostArray) -> Array:
    """Pick rows and columns of a matrix for a batch: (r or 1, n) and (r or 1, w) give an array (r, n, w)."""
    if isinstance(x, np.ndarray) or array_api_compat.is_torch_array(x) or array_api_compat.is_cupy_array(x):
        return x[asarray_like(rows, x)[:, :, None], asarray_like(columns, x)[:, None, :]]
    n_batch = max(len(rows), len(columns))
    rows, columns = (np.broadcast_to(a, (n_batch, a.shape[1])) for a in (rows, columns))
    return namespace(x).stack([gather(x, *picked) for picked in zip(rows, columns, strict=True)])


def take_members(x: Array, members: Sequence[int]) -> Array:
    """Some members of a batch, along the first axis."""
    return namespace(x).take(x, asarray_like(np.asarray(members), x), axis=0)


def device_of(x: Array) -> str:
    """The device that an array is on, in words."""
    return str(array_api_compat.device(x))


def to_device(x: HostArray, device: str) -> Array:
    """Copy a NumPy array to a device of torch, or of CuPy where there is no torch.

    Raises ValueError where there is no such device.
    """
    try:
        import torch
    except ImportError:
        return _to_cupy(x, device)
    if device.startswith("meta"):
        raise ValueError("cannot be used (it holds no values)")
    try:
        with warnings.catch_warnings():
            # Nothing is written to it.
            warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            return torch.as_tensor(x, device=device)
    except (RuntimeError, AssertionError, ValueError) as error:
        raise ValueError(f"cannot be used ({str(error).splitlines()[0]})") from None


def _to_cupy(x: HostArray, device: str) -> Array:
    try:
        import cupy
    except ImportError:
        raise ValueError("needs torch or CuPy, and neither is installed") from None
    name, _, number = device.partition(":")
    if name != "cuda" or (number and not number.isdigit()):
        raise ValueError("is not a device of CuPy, which has 'cuda', 'cuda:0' and so on")
    with cupy.cuda.Device(int(number or 0)):
        return cupy.asarray(x)


def free_device_bytes(x: Array) -> int | None:
    """Memory that is free on the device of ``x``; None for arrays in the memory of the machine."""
    if array_api_compat.is_torch_array(x) and x.is_cuda:
        import torch

        return int(torch.cuda.mem_get_info(x.device)[0])
    if array_api_compat.is_cupy_array(x):
        return int(x.device.mem_info[0])
    return None


def batched_product(left: Array, right: Array) -> Array:
    """Matrix products of a batch, (r, n, w) and (r or 1, w, b), as one plain product where that is enough.

    Devices are slower with a batch of one, and with a factor that is repeated for every member.
    """
    if right.shape[0] > 1:
        return left @ right
    if left.shape[0] == 1:
        return (left[0, ...] @ right[0, ...])[None, ...]
    xp = namespace(left)
    n_batch, n_rows, n_inner = left.shape
    stacked = xp.reshape(left, (n_batch * n_rows, n_inner)) @ right[0, ...]
    return xp.reshape(stacked, (n_batch, n_rows, right.shape[-1]))


def matrix_vector(matrices: Array, vectors: Array) -> Array:
    """Matrix times vector for a batch: (r, n, w) and (r, w) give (r, n)."""
    # Vectorised BLAS kernels may read past the end of a row, and report what they find there as invalid.
    with np.errstate(invalid="ignore"):
        if matrices.shape[0] == 1 and vectors.shape[0] == 1:
            return (matrices[0, ...] @ vectors[0, ...])[None, ...]
        return (matrices @ vectors[..., None])[..., 0]


def vector_matrix(vectors: Array, matrices: Array) -> Array:
    """Vector times matrix for a batch: (r, n) and (r or 1, n, w) give (r, w)."""
    with np.errstate(invalid="ignore"):  # as in `matrix_vector`
        if matrices.shape[0] == 1:
            return vectors @ matrices[0, ...]
        return (vectors[:, None, :] @ matrices)[:, 0, :]


def product_into(out: Array | None, left: Array, right: Array) -> Array:
    """`batched_product`, written into ``out`` where it has the right shape and the library can."""
    if isinstance(out, np.ndarray) and out.shape == (*left.shape[:-1], right.shape[-1]):
        return np.matmul(left, right, out=out)
    return batched_product(left, right)


def clip_in_place(x: Array, most: float) -> Array:
    """Cut values above ``most``, written over them where the library can."""
    if isinstance(x, np.ndarray):
        return np.minimum(x, most, out=x)
    return namespace(x).clip(x, max=most)


def exp_in_place(x: Array) -> Array:
    """Exponentials, written over their arguments where the library can."""
    if isinstance(x, np.ndarray):
        return np.exp(x, out=x)
    return x.exp_() if array_api_compat.is_torch_array(x) else namespace(x).exp(x)


def positive_definite_solver(matrices: Array) -> Callable[[Array], Array]:
    """Factorise a stack of symmetric positive definite matrices once.

    Parameters
    ----------
    matrices : array of shape (..., b, b)
        May be overwritten.

    Returns
    -------
    solve : callable
        Takes right-hand sides of shape (..., b) and returns the solutions.
    """
    if array_api_compat.is_numpy_array(matrices):
        return _lapack_solver(matrices)
    xp = namespace(matrices)
    if array_api_compat.is_torch_array(matrices):
        factors = xp.linalg.cholesky(matrices)
        return lambda right: _torch().cholesky_solve(right[..., None], factors)[..., 0]
    return lambda right: xp.linalg.solve(matrices, right[..., None])[..., 0]


def positive_definite_inverse(matrices: Array) -> Array:
    """Inverse of symmetric matrices, (..., b, b), which are positive definite but for rounding errors."""
    if isinstance(matrices, np.ndarray):
        return _of_each(_lapack_inverse, matrices)
    if array_api_compat.is_torch_array(matrices):
        factors, failed = _cholesky(matrices)
        if not failed:
            return _torch().cholesky_inverse(factors)
    return namespace(matrices).linalg.inv(matrices)


def _lapack_inverse(matrix: HostArray) -> HostArray:
    factor, failed = lapack.dpotrf(matrix.T, clean=0)  # a symmetric matrix read by columns is itself
    if not failed:
        half, failed = lapack.dpotri(factor, overwrite_c=1)
        if not failed:
            return np.asarray(np.triu(half) + np.triu(half, 1).T)
    return np.asarray(np.linalg.inv(matrix))


def whitening(matrices: Array, ridge: float) -> Array:
    """W with W' (M + r I) W = 1 for symmetric positive semi-definite matrices M, (..., b, b).

    The shift r is ``ridge``, and larger by powers of 10 where rounding errors in M exceed it: distances are
    differences of squares, and those between close rows lose their digits where other rows are very far away.
    """
    if isinstance(matrices, np.ndarray):
        return _of_each(lambda matrix: _lapack_whitening(matrix, ridge), matrices)
    eye = asarray_like(np.eye(matrices.shape[-1]), matrices)
    lower = _lower_factors(matrices, ridge * eye)
    if array_api_compat.is_torch_array(matrices):
        return _torch().linalg.solve_triangular(lower, eye.expand_as(lower), upper=False).mT
    xp = namespace(matrices)
    return xp.matrix_transpose(xp.linalg.inv(lower))


def _lapack_whitening(matrix: HostArray, ridge: float) -> HostArray:
    for factor in RIDGE_FACTORS:
        found, failed = lapack.dpotrf((matrix + factor * ridge * np.eye(len(matrix))).T, overwrite_a=1)
        if not failed:
            return np.asarray(lapack.dtrtri(found, overwrite_c=1)[0])
    raise np.linalg.LinAlgError("a matrix of kernels is not positive definite")


def _lower_factors(matrices: Array, shift: Array) -> Array:
    """Cholesky factors of matrices and a multiple of ``shift``, which is larger for those that need it."""
    for factor in RIDGE_FACTORS:
        found, failed = _cholesky(matrices + factor * shift)
        if not failed:
            return found
        if matrices.ndim > 2:
            each = [_lower_factors(matrices[i, ...], shift) for i in range(matrices.shape[0])]
            return namespace(matrices).stack(each)
    raise np.linalg.LinAlgError("a matrix of kernels is not positive definite")


def _cholesky(matrices: Array) -> tuple[Array, bool]:
    """Cholesky factors, and whether there are none of some matrix."""
    if array_api_compat.is_torch_array(matrices):
        factors, failed = _torch().linalg.cholesky_ex(matrices)
        return factors, bool(failed.any())
    xp = namespace(matrices)
    try:
        factors = xp.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return matrices, True
    return factors, bool(xp.any(xp.isnan(factors)))  # CuPy raises no error


def _of_each(function: Callable[[HostArray], HostArray], matrices: HostArray) -> HostArray:
    if matrices.ndim == 2:
        return function(matrices)
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    # LAPACK gives arrays in the order of columns, which one matrix need not lose.
    found = function(flat[0])[None] if len(flat) == 1 else np.stack([function(m) for m in flat])
    return found.reshape(matrices.shape)


def whitened(x: Array, white: Array) -> Array:
    """Rows (r, n, b) times the triangular matrices of `whitening`; ``x`` may be overwritten."""
    if isinstance(x, np.ndarray) and len(x) == 1 and x.flags.c_contiguous and x.dtype == np.float64:
        # Read by columns, rows are columns and the product comes from the left: nothing is copied.
        return blas.dtrmm(1.0, white[0], x[0].T, trans_a=1, overwrite_b=1).T[None]
    return x @ white


def shifted_inverse_factors(matrices: Array, shifts: Sequence[float]) -> tuple[Array, Array]:
    """Factors of the inverses of M + s I for symmetric positive semi-definite M and all shifts s.

    Parameters
    ----------
    matrices : array of shape (r, b, b)
    shifts : sequence of float
        L of them, positive.

    Returns
    -------
    basis : array of shape (G, r, b, b)
    diagonal : array of shape (G, r, b, L / G)
        The inverse for shift g * L / G + i is ``basis[g] @ diag(diagonal[g, :, :, i]) @ basis[g].T``. NumPy
        has one eigendecomposition for all shifts (G = 1); other libraries have a Cholesky factor for each
        (G = L), because devices compute eigendecompositions one after the other.
    """
    xp = namespace(matrices)
    shift = asarray_like(np.array(shifts), matrices)
    if isinstance(matrices, np.ndarray):
        sizes, vectors = np.linalg.eigh(matrices)
        return vectors[None], 1.0 / (np.maximum(sizes, 0.0)[..., None] + shift)[None]
    eye = asarray_like(np.eye(matrices.shape[-1]), matrices)
    basis = whitening(matrices + shift[:, None, None, None] * eye, 1e-18)
    return basis, xp.ones_like(basis[..., :1])


def _torch() -> Any:
    """Torch, for triangular factors: its LU factorisation of a batch can run for ever on several threads."""
    import torch

    return torch


def _lapack_solver(matrices: HostArray) -> Callable[[HostArray], HostArray]:
    size = matrices.shape[-1]
    factors: list[HostArray] = []
    for matrix in matrices.reshape(-1, size, size):
        # A symmetric matrix read by columns is itself: .T spares LAPACK a copy.
        factor, failed = lapack.dpotrf(matrix.T, overwrite_a=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError("the regularised Gram matrix is not positive definite")
        factors.append(factor)

    def solve(right: HostArray) -> HostArray:
        solutions = np.array(right, dtype=np.float64)
        flat: Sequence[HostArray] = solutions.reshape(-1, size)  # type: ignore[assignment]
        for factor, column in zip(factors, flat, strict=True):
            column[:] = lapack.dpotrs(factor, column)[0]
        return solutions

    return solve


def binned_sums(codes: Array, weights: Array, n_bins: int) -> Array:
    """Sums of weights (rows, q) in the bins of every column, codes (rows, m): an array (m, n_bins, q)."""
    if is_non_numpy(codes):
        xp = namespace(codes)
        inside = [xp.matrix_transpose(xp.astype(codes == k, weights.dtype)) @ weights for k in range(n_bins)]
        return xp.stack(inside, axis=1)
    found = np.empty((codes.shape[1], n_bins, weights.shape[1]))
    step = max(1, 2**18 // max(1, len(codes)))
    for start in range(0, codes.shape[1], step):
        some = codes[:, start : start + step]
        n_some = some.shape[1]
        places = (some + np.arange(n_some) * n_bins).ravel()
        for b in range(weights.shape[1]):
            sums = np.bincount(places, np.repeat(weights[:, b], n_some), minlength=n_some * n_bins)
            found[start : start + step, :, b] = sums.reshape(n_some, n_bins)
    return found
