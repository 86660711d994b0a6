"""Levels of categories in rows that are read in blocks: numbered once, the same in every pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.kinds import Kinds
from l1lsmi._rows.levels import code_moments
from l1lsmi._rows.stream import ColumnStatistics
from l1lsmi._validation.columns import (
    MAX_LEVELS,
    Columns,
    categorical_mask,
    has_numbers_only,
    is_frame,
    read_array,
    read_frame,
)
from l1lsmi._validation.digits import Digits


class Levels:
    """Numbers of the levels of categories.

    In the first pass levels are numbered as they come, and counted. Then `finish` numbers them by falling
    frequency, as levels in memory are.

    Parameters
    ----------
    categorical : "from_dtype", None, or columns
        The parameter ``categorical_features`` of a selector.
    names : sequence of str or None
        Names of all columns, where they are known before the first block.
    """

    def __init__(self, categorical: Any = "from_dtype", names: Sequence[str] | None = None) -> None:
        self._categorical = categorical
        self._names = names
        self._mask: HostArray | None = None
        self._numbers: dict[int, dict[Any, int]] = {}
        self._counts: dict[int, list[float]] = {}
        self._has_numbers: set[int] = set()
        self._finished = False
        #: Looks at the numbers of the first pass.
        self.digits = Digits()

    @property
    def are_given(self) -> bool:
        """Whether columns are said to be categories."""
        return self._categorical is not None and not isinstance(self._categorical, str)

    @property
    def are_finished(self) -> bool:
        """Whether the first pass is over."""
        return self._finished

    def reads(self, block: Any) -> bool:
        """Whether a block is more than a table of numbers."""
        return self.are_given or (is_frame(block) and not has_numbers_only(block))

    def read(self, block: Any, places: HostArray | None = None) -> HostArray:
        """A block as numbers.

        Parameters
        ----------
        block : dataframe or numpy.ndarray
        places : numpy.ndarray of int or None
            Its columns among all columns; None for all.
        """
        n_columns = block.shape[1]
        places = np.arange(n_columns) if places is None else places
        if self._mask is None:
            names = self._names or (None if isinstance(block, np.ndarray) else _names_of(block))
            n_all = n_columns if self._names is None else len(self._names)
            self._mask = categorical_mask(self._categorical, n_all, names)
        chosen: Any = self._mask[places].tolist() if self.are_given else self._categorical
        found = (
            read_array(block, chosen)
            if isinstance(block, np.ndarray)
            else read_frame(block, chosen, self.digits)
        )
        for i, j in enumerate(places.tolist()):
            self._number(found, i, j)
        return found.x

    def _number(self, found: Columns, i: int, j: int) -> None:
        """Give the levels of a column the numbers that they have in all blocks, in place."""
        codes, levels = found.x[:, i], found.levels[i]
        present = ~np.isnan(codes)
        name = repr(str(j) if found.names is None else found.names[i])
        if levels is None:
            if present.any():
                self._has_numbers.add(j)
                if j in self._numbers:
                    raise ValueError(f"X has text and numbers in column {name}: pass one kind of values.")
            return
        if j in self._has_numbers:
            raise ValueError(f"X has text and numbers in column {name}: pass one kind of values.")
        numbers = self._numbers.setdefault(j, {})
        counts = self._counts.setdefault(j, [])
        some, first = np.unique(codes[present].astype(np.intp), return_index=True)
        for code in some[np.argsort(first)].tolist():
            if levels[code] in numbers:
                continue
            if self._finished:
                raise ValueError(
                    f"X gave the level {str(levels[code])[:60]!r} of column {name} on this pass, but not on "
                    "the first: it must give the same rows each time it is read."
                )
            if len(numbers) == MAX_LEVELS:
                raise ValueError(
                    f"X has more than {MAX_LEVELS} levels in column {name}, too many for rows that are not "
                    "in memory: leave the column out, or merge levels."
                )
            numbers[levels[code]] = len(numbers)
            counts.append(0.0)
        number_of = np.array([numbers.get(level, 0) for level in levels], dtype=np.float64)
        codes[present] = number_of[codes[present].astype(np.intp)]
        if not self._finished:
            for code, count in zip(*np.unique(codes[present], return_counts=True), strict=True):
                counts[int(code)] += float(count)

    def by_value(self, block: HostArray) -> HostArray:
        """Rows of a block with numbers of their levels that do not depend on the other rows."""
        if not self._numbers:
            return block
        found = np.array(block)
        for j, numbers in self._numbers.items():
            present = ~np.isnan(found[:, j])
            of_levels = np.array([crc32(str(level).encode()) for level in numbers] or [0], dtype=np.float64)
            found[present, j] = of_levels[found[present, j].astype(np.intp)]
        return found

    def finish(self) -> dict[int, tuple[list[Any], HostArray]]:
        """Number levels by falling frequency; give those of each category, and how many rows have them."""
        self.digits.finish()
        found = {}
        for j, numbers in self._numbers.items():
            counts = np.array(self._counts[j])
            order = np.argsort(-counts, kind="stable")
            known = list(numbers)
            levels = [known[code] for code in order]
            self._numbers[j] = {level: code for code, level in enumerate(levels)}
            found[j] = levels, counts[order]
        self._finished = True
        return found


def kinds_of(
    total: ColumnStatistics, categories: dict[int, tuple[list[Any], HostArray]]
) -> tuple[Kinds | None, HostArray, HostArray]:
    """What columns are, and their means and scales, after the first pass."""
    missing = total.missing_share
    mean, scale = total.mean.copy(), total.scale.copy()
    shares: list[HostArray | None] = [None] * mean.size
    for j, (_, counts) in categories.items():
        if not counts.size:
            continue
        shares[j] = some = counts / counts.sum()
        mean[j], scale[j] = code_moments(some)
    if not missing.any() and not categories:
        return None, mean, scale
    return Kinds(tuple(shares), missing, np.zeros(mean.size, dtype=bool)), mean, scale


def all_levels(
    n_columns: int, categories: dict[int, tuple[list[Any], HostArray]]
) -> list[list[Any] | None] | None:
    """Levels of all columns, None for numbers; None where no column is a category."""
    found = [categories[j][0] if j in categories else None for j in range(n_columns)]
    return found if any(found) else None


def _names_of(frame: Any) -> list[str]:
    return [str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", ()))]
