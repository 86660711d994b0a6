"""Rows of the first visit to a source, by which those of further visits are recognised."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.distinct import row_hashes
from l1lsmi.sources._levels import Levels

#: Rows that are compared: so many, and of those after them one of so many.
FIRST_COMPARED = 4_096
COMPARED_EVERY = 16


class VisitedRows:
    """Hashes of rows of the first visit.

    Parameters
    ----------
    levels : Levels
        Those of the source: the first visit is over when they are finished.
    """

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._hashes: list[HostArray] = []

    def compare(self, block: HostArray, start: int) -> None:
        """Keep hashes of the rows of a block in the first visit, and compare them in further ones.

        Parameters
        ----------
        block : numpy.ndarray of shape (rows, columns)
            All columns.
        start : int
            Number of its first row among all rows.
        """
        numbers = np.arange(start, start + len(block))
        compared = (numbers < FIRST_COMPARED) | (numbers % COMPARED_EVERY == 0)
        hashes = row_hashes(self._levels.by_value(block[compared]))
        if not self._levels.are_finished:
            self._hashes.append(hashes)
            return
        if len(self._hashes) > 1:
            self._hashes = [np.concatenate(self._hashes)]
        before = _n_compared(start)
        known = self._hashes[0][before : before + hashes.size]
        different = np.flatnonzero(known != hashes[: known.size])
        if different.size:
            row = int(numbers[compared][different[0]])
            raise ValueError(
                f"X gave other rows on this pass than on the first, row {row} for instance: it must give the "
                "same rows, in the same order, each time it is read."
            )


def _n_compared(n_rows: int) -> int:
    """How many of the first rows are compared."""
    beyond = max(0, n_rows - FIRST_COMPARED)
    return min(n_rows, FIRST_COMPARED) + -(-beyond // COMPARED_EVERY)
