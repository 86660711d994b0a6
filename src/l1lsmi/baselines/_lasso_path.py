"""The lasso path, followed from the largest penalty down until so many coefficients are not zero.

On a stretch of the path with active columns A, their signs s and b = X'y / n, the coefficients are
p - penalty * q with p = G^-1 b_A, q = G^-1 s and G = X_A'X_A / n, and the products of the columns with the
residual, over n, are u + penalty * v with u = b - X'X_A p / n and v = X'X_A q / n. All are lines, so the
next knot, where a column joins or leaves, is known in closed form, and errors do not add up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from l1lsmi._arrays import HostArray

#: A column of which the active ones leave less than this share unexplained depends on them.
DEPENDENT = 1e-11
#: Penalties below this share of the largest are the end of the path.
END = 1e-12
#: Penalties that differ by less than this, relatively, are equal.
EQUAL = 1e-10
#: Knots that are visited at most, for each column that is asked for.
MOST_KNOTS = 50


@dataclass(frozen=True)
class Knot:
    """A knot of the path.

    Attributes
    ----------
    coef : numpy.ndarray of shape (m,)
    active : numpy.ndarray of int
        Columns with coefficients, in the order in which they joined.
    joined : numpy.ndarray of float
        Penalties at which they did.
    penalty : float
    products : numpy.ndarray of shape (m,)
        Absolute products of the columns with the residual, over n; the penalty for active columns.
    """

    coef: HostArray
    active: HostArray
    joined: HostArray
    penalty: float
    products: HostArray


def lasso_path_until(x: HostArray, y: HostArray, k: int) -> Knot:
    """The first knot with exactly k active columns, or the end of the path where there is none.

    Of columns that tie the first joins first; columns that depend linearly on active ones stay out.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
        Standardised columns.
    y : numpy.ndarray of shape (n,)
        Centred.
    k : int
    """
    active = _Active(x, y, min(k, x.shape[0]))
    penalty = highest = float(np.abs(active.start).max())
    column = _first_largest(np.abs(active.start))
    sign = np.sign(active.start[column])
    for _ in range(MOST_KNOTS * k):
        if column >= 0:
            active.join(column, sign, penalty)
        stretch = _Stretch.of(active)
        at_join, column = stretch.next_join(active, penalty)
        at_leave, position = stretch.next_leave(active, penalty)
        penalty = max(at_join, at_leave)
        if penalty <= END * highest:
            return stretch.point(active, 0.0)
        active.left = -1
        if at_leave > at_join:
            active.leave(position)
            column = -1
        elif len(active.columns) == k:
            return stretch.point(active, penalty)
        else:
            sign = np.sign(stretch.u[column])
    return _Stretch.of(active).point(active, penalty)


def _first_largest(values: HostArray) -> int:
    return int((values >= values.max() * (1 - EQUAL)).argmax())


class _Active:
    """The active columns in the order in which they joined, and what the path needs of them."""

    def __init__(self, x: HostArray, y: HostArray, most: int) -> None:
        self.x = x
        self.start = x.T @ y / y.size
        self.columns: list[int] = []
        self.signs: list[float] = []
        self.joined: list[float] = []
        self.left = -1
        self.free = np.ones(x.shape[1], dtype=bool)
        self.gram = np.empty((x.shape[1], most), order="F")
        self.factor = np.zeros((most, most), order="F")

    def join(self, column: int, sign: float, penalty: float) -> None:
        """Take a column in, by one more row of the Cholesky factor, unless it depends on the active ones."""
        products = self.x.T @ self.x[:, column] / self.x.shape[0]
        size, unexplained = len(self.columns), products[column]
        if size:
            row = lapack.dtrtrs(self.factor[:size, :size], products[self.columns], lower=1)[0]
            unexplained = unexplained - row @ row
        self.free[column] = False
        if size == self.factor.shape[0] or unexplained <= DEPENDENT:
            return
        if size:
            self.factor[size, :size] = row
        self.factor[size, size] = np.sqrt(unexplained)
        self.gram[:, size] = products
        self.columns.append(column)
        self.signs.append(sign)
        self.joined.append(penalty)

    def leave(self, position: int) -> None:
        """Let a column go and factorise anew, which is rare."""
        self.left = self.columns.pop(position)
        del self.signs[position], self.joined[position]
        self.free[self.left] = True
        size = len(self.columns)
        self.gram[:, position:size] = self.gram[:, position + 1 : size + 1].copy()
        self.factor[:size, :size] = np.linalg.cholesky(self.gram[self.columns, :size])


@dataclass(frozen=True)
class _Stretch:
    """The path between two knots: lines in the penalty, see the top of this file."""

    p: HostArray
    q: HostArray
    u: HostArray
    v: HostArray

    @classmethod
    def of(cls, active: _Active) -> _Stretch:
        size = len(active.columns)
        right = np.array([active.start[active.columns], active.signs]).T
        solved = lapack.dpotrs(active.factor[:size, :size], right, lower=1)[0]
        products = active.gram[:, :size] @ solved
        return cls(solved[:, 0], solved[:, 1], active.start - products[:, 0], products[:, 1])

    def next_join(self, active: _Active, penalty: float) -> tuple[float, int]:
        """The penalty at which the next column joins, and which: where u + penalty v meets +- penalty."""
        size, slope = np.abs(self.u), 1 - np.sign(self.u) * self.v
        # A copy of an active column runs along the boundary for ever.
        meets = active.free & (slope > EQUAL)
        at = np.zeros(size.size)
        np.divide(size, slope, out=at, where=meets)
        np.minimum(at, penalty, out=at)
        if active.left >= 0 and at[active.left] >= penalty * (1 - EQUAL):
            at[active.left] = 0.0  # it is still where it left
        column = _first_largest(at)
        return float(at[column]), column

    def next_leave(self, active: _Active, penalty: float) -> tuple[float, int]:
        """The penalty at which the next coefficient becomes zero, and its position."""
        at = np.zeros(self.p.size)
        np.divide(self.p, self.q, out=at, where=self.q != 0)
        # What has just joined is zero at the start of the stretch, and nowhere else.
        at[(at >= penalty) | (np.array(active.joined) <= penalty * (1 + EQUAL))] = 0.0
        position = int(at.argmax())
        return float(at[position]), position

    def point(self, active: _Active, penalty: float) -> Knot:
        coef = np.zeros(self.u.size)
        coef[active.columns] = self.p - penalty * self.q
        return Knot(
            coef=coef,
            active=np.array(active.columns, dtype=np.intp),
            joined=np.array(active.joined),
            penalty=penalty,
            products=np.abs(self.u + penalty * self.v),
        )
