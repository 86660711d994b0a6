"""Blocks of rows from a function that the user passes, called again for every pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import issparse

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy
from l1lsmi._rows.table import Resources
from l1lsmi._validation.columns import is_frame
from l1lsmi._validation.digits import in_float64
from l1lsmi._validation.features import refuse_dates, refuse_masked
from l1lsmi._validation.target import plain_target
from l1lsmi.sources._first_pass import stream_table
from l1lsmi.sources._levels import Levels
from l1lsmi.sources._visits import VisitedRows
from l1lsmi.sources.opening import OpenRows


def as_block(values: Any, what: str) -> HostArray:
    """The values of a block as a two-dimensional array of numbers."""
    if issparse(values):
        raise ValueError(
            f"{what} is a sparse matrix: pass all rows as one sparse matrix, or make the blocks dense."
        )
    refuse_masked(values, what)
    refuse_dates(values, getattr(values, "columns", None), what)
    try:
        if type(values).__module__.startswith("pandas") and not _has_plain_types(values):
            values = values.to_numpy(dtype=np.float64, na_value=np.nan)
        block = to_numpy(values) if is_non_numpy(values) else np.asarray(values)
        if np.iscomplexobj(block):
            raise ValueError("complex data is not supported")
        block = block if block.dtype in (np.float32, np.float64) else in_float64(block)
    except (TypeError, ValueError) as error:
        if isinstance(values, list):
            raise ValueError(
                f"{what} is a list that is not a table of numbers: pass an array or a dataframe as a block, "
                "or a tuple of it and its targets."
            ) from None
        words = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"{what} cannot be read as a table of numbers ({words}): encode or drop values that are not "
            "numbers."
        ) from None
    if block.ndim != 2 or block.shape[1] == 0:
        raise ValueError(f"{what} has shape {block.shape}: pass blocks of shape (rows, features).")
    return block


def _has_plain_types(frame: Any) -> bool:
    """Whether the columns of a dataframe of pandas have types of NumPy."""
    return all(isinstance(kind, np.dtype) for kind in np.atleast_1d(np.array(frame.dtypes, dtype=object)))


@dataclass
class FactorySource:
    """Blocks that a function returns, with the targets and weights that they contain."""

    factory: Callable[[], Any]
    n_columns: int | None = None
    targets: list[HostArray] | None = field(default_factory=list)
    weights: list[HostArray] = field(default_factory=list)
    brings: dict[str, bool] = field(default_factory=dict)
    names: list[Any] | None = None
    levels: Levels = field(default_factory=Levels)
    visited: VisitedRows = field(init=False)

    def __post_init__(self) -> None:
        self.visited = VisitedRows(self.levels)

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]:
        """Call the function, and yield the blocks that it returns."""
        _check_no_arguments(self.factory)
        given = self.factory()
        if not hasattr(given, "__iter__") or hasattr(given, "shape"):
            raise ValueError(
                f"X is a function that returns {type(given).__name__}: it must return an iterator of blocks."
            )
        start = 0
        for number, item in enumerate(given):
            values, targets, weights = _parts_of(item)
            if is_frame(values, f"Block {number} of X") and self.levels.reads(values):
                block = self.levels.read(values)
            else:
                block = as_block(values, f"Block {number} of X")
                if not self.levels.are_finished:
                    self.levels.digits.add(to_numpy(values) if is_non_numpy(values) else values)
                block = self.levels.read(block) if self.levels.reads(block) else block
            self.n_columns = block.shape[1] if self.n_columns is None else self.n_columns
            if block.shape[1] != self.n_columns:
                raise ValueError(
                    f"Block {number} of X has {block.shape[1]} columns, but the earlier blocks have "
                    f"{self.n_columns}: pass the same columns in all blocks."
                )
            self._check_names(values, number)
            self.visited.compare(block, start)
            start += len(block)
            if self.targets is not None:
                self._keep(number, len(block), targets, weights)
            yield block if columns is None else block[:, columns]

    def _keep(self, number: int, n_rows: int, targets: Any, weights: Any) -> None:
        """Keep the targets and weights that a block brings, one for each of its rows."""
        for kept, given, what in ((self.targets, targets, "targets"), (self.weights, weights, "weights")):
            if self.brings.setdefault(what, given is not None) != (given is not None):
                has, others = ("no ", "") if given is None else ("", "no ")
                raise ValueError(
                    f"Block {number} of X has {has}{what}, but the earlier blocks have {others}{what}: pass "
                    f"{what} in all blocks, or in none."
                )
            if given is None or kept is None or not (n_rows or np.size(given)):
                continue
            refuse_masked(given, f"Block {number} of X, among its {what},")
            values = plain_target(given) if what == "targets" else np.asarray(given)
            if values.shape[:1] != (n_rows,):
                raise ValueError(
                    f"Block {number} of X has {n_rows} rows and {values.size} {what}: pass one "
                    f"{what[:-1]} for each row."
                )
            kept.append(values)

    def _check_names(self, values: Any, number: int) -> None:
        """Check that dataframes have the same columns in the same order."""
        names = getattr(values, "column_names", getattr(values, "columns", None))
        if names is None:
            return
        self.names = list(names) if self.names is None else self.names
        for name, before in zip(names, self.names, strict=True):
            if name != before:
                raise ValueError(
                    f"Block {number} of X has column {str(name)[:60]!r} where the earlier blocks have "
                    f"{str(before)[:60]!r}: pass the same columns, in the same order."
                )

    def found_targets(self) -> tuple[HostArray | None, HostArray | None]:
        """Targets and weights of the blocks read so far; they are not collected again in later passes."""
        found, self.targets = self.targets, None
        weights, self.weights = self.weights, []
        return _joined_targets(found) if found else None, np.concatenate(weights) if weights else None


def _check_no_arguments(factory: Callable[..., Any]) -> None:
    """Check that a function can be called as it is."""
    try:
        parameters = signature(factory).parameters.values()
    except (TypeError, ValueError):  # of a function that does not say
        return
    for one in parameters:
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise ValueError(
                f"X is a function with the argument {one.name!r}: pass a function without arguments that "
                "returns an iterator of blocks."
            )


def _joined_targets(blocks: list[HostArray]) -> HostArray:
    if len({block.shape[1:] for block in blocks}) > 1:
        raise ValueError("The blocks of X have different numbers of targets: pass the same number in all.")
    if len({block.dtype.kind in "USO" for block in blocks}) > 1:
        raise ValueError(
            "The blocks of X have targets of different kinds, text and numbers: pass one kind in all blocks."
        )
    joined = np.concatenate(blocks)
    if joined.dtype.kind == "f" and all(block.dtype.kind in "iu" for block in blocks):
        # Signed and unsigned whole numbers, which NumPy would round.
        joined = plain_target(np.concatenate([block.astype(object) for block in blocks]))
    return joined


def _parts_of(item: Any) -> tuple[Any, Any, Any]:
    """Values, targets and weights of a block; None for those that it does not bring."""
    if not isinstance(item, tuple) or len(item) not in (2, 3):
        return item, None, None
    return item[0], item[1], item[2] if len(item) == 3 else None


def open_blocks(
    X: Callable[[], Any],
    y: Any,
    resources: Resources,
    sample_weight: Any = None,
    categorical: Any = "from_dtype",
) -> OpenRows:
    """Open a function that returns an iterator of blocks."""
    source = FactorySource(X, levels=Levels(categorical))
    table, levels = stream_table(source, None, resources, source.levels)
    brought, weights = source.found_targets()
    if y is None and brought is None:
        raise ValueError("y is None and the blocks of X have no targets: pass y, or pairs (X, y) as blocks.")
    if y is not None and brought is not None:
        raise ValueError("The blocks of X have targets and y is given too: pass one of them.")
    if isinstance(sample_weight, str):
        raise ValueError(
            f"sample_weight is {sample_weight!r}, but X is a function that returns blocks: pass the weights "
            "of all rows."
        )
    if sample_weight is not None and weights is not None:
        raise ValueError("The blocks of X have weights and sample_weight is given too: pass one of them.")
    chosen = weights if sample_weight is None else sample_weight
    return OpenRows(table, brought if y is None else y, None, chosen, levels)
