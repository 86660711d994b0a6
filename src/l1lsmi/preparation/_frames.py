"""Frames of pandas, polars and pyarrow, and tables of `l1lsmi.files`, column by column."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from l1lsmi._columns.cells import Cells, number_cells, text_cells, with_levels
from l1lsmi._columns.dates import MICROSECONDS_PER_DAY


class Frame(ABC):
    """A table that is read column by column.

    Attributes
    ----------
    library : str
        "pandas", "polars" or "pyarrow": that of the frame which is made of it.
    names : list of str
    n_rows : int
    index : object
        Names of rows of pandas; None elsewhere.
    about_rows : set of str
        Columns that are features only if they are asked for, such as names of rows.
    """

    library: str

    def __init__(
        self, names: Iterable[Any], n_rows: int, index: Any = None, about_rows: Iterable[str] = ()
    ) -> None:
        self.names = [str(name) for name in names]
        self.n_rows = n_rows
        self.index = index
        self.about_rows = {*about_rows}
        self._places = {name: place for place, name in enumerate(self.names)}

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @abstractmethod
    def cells(self, name: str, as_category: bool) -> Cells:
        """The cells of a column; as text if they are taken for a category and the table has their text."""


def open_frame(X: Any) -> Frame:
    """A frame by its columns.

    Parameters
    ----------
    X : pandas, polars or pyarrow frame, or DataTable
    """
    frame: Frame | None = None
    # Only a library that is imported already can have made X.
    if (pd := sys.modules.get("pandas")) is not None and isinstance(X, pd.DataFrame):
        frame = _PandasFrame(X)
    elif (pl := sys.modules.get("polars")) is not None and isinstance(X, (pl.DataFrame, pl.LazyFrame)):
        if isinstance(X, pl.LazyFrame):
            raise TypeError("X is a LazyFrame of polars, which has no rows yet: pass X.collect().")
        frame = _PolarsFrame(X)
    elif (pa := sys.modules.get("pyarrow")) is not None and isinstance(X, (pa.Table, pa.RecordBatch)):
        frame = _ArrowFrame(X)
    elif hasattr(X, "column_cells"):
        frame = _FileFrame(X)
    if frame is None:
        raise TypeError(
            f"X is a {type(X).__name__}, whose columns have neither names nor types: pass a frame of pandas, "
            "polars or pyarrow, or a table read by l1lsmi.files.read_table."
        )
    _check_shape(frame)
    return frame


def _check_shape(frame: Frame) -> None:
    name, count = Counter(frame.names).most_common(1)[0] if frame.names else ("", 0)
    if count > 1:
        raise ValueError(f"X has {count} columns named {name!r}: rename or drop all but one.")
    if not frame.names:
        raise ValueError("X has no columns: pass a frame with at least one.")


class _PandasFrame(Frame):
    library = "pandas"

    def __init__(self, X: Any) -> None:
        super().__init__(X.columns, len(X), X.index)
        self._columns = X

    def cells(self, name: str, as_category: bool) -> Cells:
        import pandas as pd

        column = self._columns.iloc[:, self._places[name]]
        kind = column.dtype
        if isinstance(kind, np.dtype) and kind.kind in "fiu":
            return number_cells(column.to_numpy())
        if isinstance(kind, pd.CategoricalDtype):
            labels = text_cells(kind.categories.tolist())
            levels = [None if code < 0 else labels.levels[code] for code in labels.values.tolist()]
            return with_levels("category", column.cat.codes.to_numpy(np.int64), levels, bool(kind.ordered))
        if isinstance(kind, pd.PeriodDtype):
            column = column.dt.to_timestamp()
        api = pd.api.types
        if api.is_datetime64_any_dtype(column):
            return Cells("date", _days(_as_utc(column).to_numpy("datetime64[us]")))
        if api.is_timedelta64_dtype(column):
            return number_cells(column.dt.total_seconds().to_numpy(np.float64))
        if api.is_bool_dtype(column):
            return Cells("yes/no", column.to_numpy(np.float64, na_value=np.nan))
        if api.is_numeric_dtype(column) and not api.is_complex_dtype(column):
            return number_cells(column.to_numpy(np.float64, na_value=np.nan))
        items = np.array(column.to_numpy(object))
        items[column.isna().to_numpy(bool)] = None
        return text_cells(items.tolist())


def _as_utc(column: Any) -> Any:
    """Moments without a time zone."""
    column = column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column
    return column.astype("datetime64[us]")


def _days(moments: Any) -> Any:
    """Days since 1970-01-01 of moments of NumPy, NaN where there is none."""
    days = moments.astype("datetime64[us]").astype(np.int64) / MICROSECONDS_PER_DAY
    return np.where(np.isnat(moments), np.nan, days)


class _PolarsFrame(Frame):
    library = "polars"

    def __init__(self, X: Any) -> None:
        super().__init__(X.columns, X.height)
        self._columns = X

    def cells(self, name: str, as_category: bool) -> Cells:
        import polars as pl

        column = self._columns.get_column(name)
        kind = column.dtype
        if kind in (pl.Categorical, pl.Enum):
            coded = column.cast(pl.String).to_list()
            declared = kind.categories.to_list() if isinstance(kind, pl.Enum) else sorted({*coded} - {None})
            code_of = {level: code for code, level in enumerate(declared)}
            codes = np.array([code_of.get(level, -1) for level in coded], dtype=np.int64)
            return with_levels("category", codes, declared)
        if kind == pl.Boolean:
            return Cells("yes/no", _as_float(column))
        if kind in (pl.Date, pl.Datetime):
            return Cells(
                "date", _as_float(column.cast(pl.Datetime("us")).to_physical()) / MICROSECONDS_PER_DAY
            )
        if kind == pl.Time:
            return number_cells(_as_float(column.to_physical()) / 1e9)
        if kind == pl.Duration:
            return number_cells(_as_float(column.cast(pl.Duration("us")).to_physical()) / 1e6)
        if kind.is_numeric() or kind == pl.Null:
            return number_cells(_as_float(column))
        if kind in (pl.String, pl.Object):
            return text_cells(column.to_list())
        return Cells("other", np.zeros(len(column), dtype=np.int64), type_name=str(kind))


def _as_float(column: Any) -> Any:
    import polars as pl

    return np.array(column.cast(pl.Float64).to_numpy(), dtype=np.float64)


class _ArrowFrame(Frame):
    library = "pyarrow"

    def __init__(self, X: Any) -> None:
        from l1lsmi._arrow import index_columns

        super().__init__(X.schema.names, X.num_rows, about_rows=index_columns(X.schema))
        self._columns = X

    def cells(self, name: str, as_category: bool) -> Cells:
        from l1lsmi._columns.arrow import arrow_cells

        return arrow_cells(self._columns.column(self._places[name]))


class _FileFrame(Frame):
    """A table of `l1lsmi.files`."""

    library = "pyarrow"

    def __init__(self, X: Any) -> None:
        about_rows = [column.name for column in X.columns if not column.feature]
        super().__init__(X.names, X.n_rows, about_rows=about_rows)
        self._table = X

    def cells(self, name: str, as_category: bool) -> Cells:
        cells: Cells = self._table.column_cells(name, as_category)
        return cells


def build_frame(library: str, names: Sequence[str], columns: Sequence[Cells], n_rows: int, index: Any) -> Any:
    """A frame of numbers, and of categories with all their levels.

    Parameters
    ----------
    library : {"pandas", "polars", "pyarrow"}
    names : sequence of str
    columns : sequence of Cells
        Numbers, dates and categories.
    n_rows : int
    index : object
        Names of rows of pandas; None is 0, 1, ...
    """
    if library == "pandas":
        import pandas as pd

        made = {name: _pandas_values(pd, cells) for name, cells in zip(names, columns, strict=True)}
        return pd.DataFrame(
            made, index=pd.RangeIndex(n_rows) if index is None else index, columns=list(names)
        )
    if library == "polars":
        import polars as pl

        return pl.DataFrame([_polars_series(pl, *item) for item in zip(names, columns, strict=True)])
    import pyarrow as pa

    return pa.table([_arrow_array(pa, cells) for cells in columns], names=list(names))


def _pandas_values(pd: Any, cells: Cells) -> Any:
    if not cells.has_levels:
        return cells.values
    kind = pd.CategoricalDtype(list(cells.levels), ordered=cells.ordered)
    return pd.Categorical.from_codes(cells.values, dtype=kind)


def _polars_series(pl: Any, name: str, cells: Cells) -> Any:
    if not cells.has_levels:
        return pl.Series(name, cells.values, nan_to_null=True)
    texts = np.array([*cells.levels, None], dtype=object)[cells.values]
    return pl.Series(name, texts.tolist(), dtype=pl.Enum(list(cells.levels)))


def _arrow_array(pa: Any, cells: Cells) -> Any:
    if not cells.has_levels:
        return pa.array(cells.values, from_pandas=bool(cells.missing.any()))
    codes = pa.array(cells.values.astype(np.int32), mask=cells.missing)
    words = pa.array(list(cells.levels), pa.large_string())
    return pa.DictionaryArray.from_arrays(codes, words, ordered=cells.ordered)
