"""Columns of any kind: numbers, categories, yes/no, dates and times, with missing values.

Every column becomes one column of numbers. The levels of a category are numbered by falling frequency, those
as frequent in the order in which they first occur, so that other names of the levels change nothing.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._messages import listed
from l1lsmi._rows.kinds import Kinds, missing_shares, shares_of
from l1lsmi._validation.digits import Digits, nearest_float
from l1lsmi._validation.target import is_missing

#: Categories with more levels than this become numbers, by the target (`_validation.encoding`).
MAX_LEVELS = 40
#: Text with more levels than this share of its rows is a name or a number of the row.
MAX_DISTINCT = 0.5
DAY = 86_400e9  # nanoseconds
COMPLEX = (complex, np.complexfloating)


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of any kind as numbers.

    Attributes
    ----------
    x : numpy.ndarray of float64, shape (n, m)
        Numbers, or the numbers of levels; NaN where a value is missing.
    levels : list of list or None, one for each column
        The levels of a category by their numbers; None for numbers.
    names : list of str or None
    """

    x: HostArray
    levels: list[list[Any] | None]
    names: list[str] | None

    def kinds(self, row_weights: HostArray | None = None) -> Kinds | None:
        """What the columns are; None if all are complete numbers."""
        missing = missing_shares(self.x, row_weights)
        if not missing.any() and all(some is None for some in self.levels):
            return None
        shares = tuple(
            None if some is None else shares_of(self.x[:, j], len(some), row_weights)
            for j, some in enumerate(self.levels)
        )
        return Kinds(shares, missing, np.zeros(missing.size, dtype=bool))

    def part(self, rows: HostArray, columns: HostArray) -> Columns:
        """Some rows of some columns, with the same numbers of levels."""
        names = None if self.names is None else [self.names[j] for j in columns]
        return Columns(self.x[np.ix_(rows, columns)], [self.levels[j] for j in columns], names)


def is_frame(X: Any, what: str = "X") -> bool:
    """Tell whether X is a dataframe in memory: of pandas, polars, pyarrow or another library."""
    try:
        return isinstance(nw.from_native(X, eager_only=True), nw.DataFrame)
    except nw.exceptions.DuplicateError:
        refuse_repeated_names(getattr(X, "column_names", getattr(X, "columns", ())), what)
        raise
    except TypeError:
        return False


def refuse_repeated_names(names: Iterable[Any], what: str = "X") -> None:
    """Check that no two columns have the same name."""
    for name, count in Counter(map(str, names)).most_common(1):
        if count > 1:
            raise ValueError(
                f"{what} has {count} columns named {name!r}: rename or drop all but one."
            ) from None


def has_numbers_only(X: Any) -> bool:
    """Tell whether all columns of a dataframe are numbers or yes/no."""
    kinds = nw.from_native(X, eager_only=True).schema.values()
    return all(kind.is_numeric() or kind == nw.Boolean for kind in kinds)


def take_rows(X: Any, rows: HostArray) -> Any:
    """Some rows of a dataframe, as a dataframe of the same library, or of an array."""
    return nw.to_native(nw.from_native(X, eager_only=True)[rows]) if is_frame(X) else X[rows]


def has_complete_numbers_only(X: Any) -> bool:
    """The same, and whether none of them are missing."""
    frame = nw.from_native(X, eager_only=True)
    return has_numbers_only(X) and not any(series.null_count() for series in frame.iter_columns())


def numbers_of_frame(X: Any) -> Columns:
    """Columns of a dataframe all of which are numbers."""
    frame = nw.from_native(X, eager_only=True)
    for series in frame.iter_columns():
        name, kind = series.name, series.dtype
        if kind.is_temporal():
            raise ValueError(
                f"X has dates or times in column {str(name)!r}: turn them into numbers before fitting."
            )
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise ValueError(f"X has text in column {str(name)!r}: encode or drop it before fitting.")
    return read_frame(X, None)


def check_same_names(names: Iterable[Any], known: Iterable[Any]) -> None:
    """Check that as many columns as a selector was fitted to have the same names in the same order."""
    for name, of_fit in zip(map(str, names), map(str, known), strict=True):
        if name != of_fit:
            raise ValueError(
                f"X has column {name[:60]!r} where the selector was fitted to {of_fit[:60]!r}: pass the same "
                "columns, in the same order."
            )


def take_columns(X: Any, selector: Any) -> Any:
    """The selected columns of a dataframe, as a dataframe of the same library.

    Parameters
    ----------
    X : dataframe
    selector : fitted selector
    """
    frame = nw.from_native(X, eager_only=True)
    names, known = list(frame.columns), getattr(selector, "feature_names_in_", None)
    if len(names) != selector.n_features_in_:
        raise ValueError(
            f"X has {len(names)} features, but {type(selector).__name__} is expecting "
            f"{selector.n_features_in_} features as input."
        )
    if known is not None:
        check_same_names(names, known)
    levels = getattr(selector, "categories_", None) or [None] * len(names)
    for series, of_fit in zip(frame.iter_columns(), levels, strict=True):
        _check_column(series, str(series.name), of_fit)
    # A pandas frame without columns keeps its rows where all are dropped, and not where none is selected.
    return nw.to_native(frame.drop([names[j] for j in np.flatnonzero(~selector.get_support())]))


def text_levels(X: Any) -> list[list[Any] | None]:
    """Values of the columns of a dataframe that are text or categories; None for other columns."""
    frame = nw.from_native(X, eager_only=True)
    found: list[list[Any] | None] = []
    for series in frame.iter_columns():
        is_text = series.dtype in (nw.String, nw.Categorical, nw.Enum) and levels_in_order(series) is None
        found.append(_distinct(series) if is_text else None)
    return found


def in_library(X: Any, name: str) -> Any:
    """A dataframe in memory as one of pandas or polars; of another name, as it is."""
    frame = nw.from_native(X, eager_only=True)
    if name == "pandas":
        return frame.to_pandas()
    return frame.to_polars() if name == "polars" else X


def insert_columns(X: Any, selector: Any) -> Any:
    """A dataframe of the selected columns with the others, which are missing, of the same library."""
    frame = nw.from_native(X, eager_only=True)
    names, support = getattr(selector, "feature_names_in_", None), selector.get_support()
    if len(frame.columns) != support.sum():
        raise ValueError(
            f"X has {len(frame.columns)} columns, but the selector has selected {support.sum()}: pass the "
            "output of transform."
        )
    if names is None:
        raise ValueError(
            "X is a dataframe, but the selector was fitted to an array without column names: pass an array."
        )
    kept = dict(zip(np.flatnonzero(support).tolist(), frame.columns, strict=True))
    levels = getattr(selector, "categories_", None) or [None] * len(names)
    # With pandas, versions of narwhals make the text "None" of a missing string.
    text = None if frame.implementation.is_pandas_like() else nw.String
    columns = [
        nw.col(kept[j]).alias(str(name))
        if j in kept
        else nw.lit(None, dtype=nw.Float64 if levels[j] is None else text).alias(str(name))
        for j, name in enumerate(names)
    ]
    return nw.to_native(frame.select(columns))


def _check_column(series: Any, name: str, levels: list[Any] | None) -> None:
    """Check that a column is what it was in the fit, and warn of levels that are new."""
    if levels is None:
        _refuse_text(series, name)
    else:
        known = set(levels)
        new = [value for value in _distinct(series) if value not in known]
        if new:
            warnings.warn(
                f"Column {name!r} has levels that the selector was not fitted to, first "
                f"{min(map(str, new))[:60]!r}: they stay unchanged in the output.",
                UserWarning,
                stacklevel=5,  # the caller of `transform`, which scikit-learn wraps
            )


def _refuse_text(series: Any, name: str) -> None:
    """Check that a column which was numbers still is."""
    if series.dtype in (nw.String, nw.Categorical, nw.Enum) and levels_in_order(series) is None:
        first = next((value for value in series.to_list() if not is_missing(value)), None)
        if first is None:  # a column of objects without values has no kind
            return
        raise ValueError(
            f"X has text in column {name!r}, first {str(first)[:60]!r}, where the fit had numbers: pass the "
            "same kind of values."
        )


def read_frame(X: Any, categorical: Any = "from_dtype", digits: Digits | None = None) -> Columns:
    """Columns of a dataframe.

    Parameters
    ----------
    X : dataframe
    categorical : "from_dtype", None, or columns
        Which columns are categories beside those of text and of categorical types.
    digits : Digits or None
        Of rows that are read in blocks, what looks at the numbers of all; None looks at those of these rows.
    """
    frame = nw.from_native(X, eager_only=True)
    names = [str(name) for name in frame.columns]
    chosen = categorical_mask(categorical, len(names), names)
    by_type = isinstance(categorical, str)
    values: list[HostArray] = []
    levels: list[list[Any] | None] = []
    seen = Digits() if digits is None else digits
    for j, series in enumerate(frame.iter_columns()):
        read = _read_series(series, names[j], bool(chosen[j]), by_type)
        values.append(read[0])
        levels.append(read[1])
        if read[1] is None:
            seen.add_series(series, j, repr(names[j]))
    if digits is None:
        seen.finish()
    x = np.column_stack(values) if values else np.empty((len(frame), 0))
    columns = Columns(x, levels, names)
    kinds = list(frame.schema.values())
    _refuse_names_of_rows([j for j, kind in enumerate(kinds) if kind == nw.String and not chosen[j]], columns)
    return columns


def read_array(x: HostArray, categorical: Any) -> Columns:
    """Columns of an array of numbers, some of which are categories."""
    chosen = categorical_mask(categorical, x.shape[1], None)
    x = np.array(x, dtype=np.float64)
    levels: list[list[Any] | None] = [None] * x.shape[1]
    for j in np.flatnonzero(chosen):
        x[:, j], levels[j] = _coded(x[:, j].tolist())
    return Columns(x, levels, None)


def read_like(X: Any, known: Columns) -> HostArray:
    """Further rows of columns that are known; a level that is not known has the number after the last."""
    mask = [levels is not None for levels in known.levels]
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        for series, levels in zip(frame.iter_columns(), known.levels, strict=True):
            if levels is None:
                _refuse_text(series, str(series.name))
        read = read_frame(X, mask)
    else:
        read = read_array(X, mask)
    for j, levels in enumerate(known.levels):
        if levels is not None:
            number = {level: float(code) for code, level in enumerate(levels)}
            codes = np.array([number.get(level, float(len(levels))) for level in read.levels[j] or []])
            present = ~np.isnan(read.x[:, j])
            read.x[present, j] = codes[read.x[present, j].astype(np.intp)]
    return read.x


def categorical_mask(categorical: Any, n_columns: int, names: Sequence[str] | None) -> HostArray:
    """Which columns are said to be categories, by names, numbers or a mask."""
    mask = np.zeros(n_columns, dtype=bool)
    if categorical is None or (isinstance(categorical, str) and categorical == "from_dtype"):
        return mask
    what = 'pass "from_dtype", names of columns, their numbers, or a mask with one entry per column'
    if isinstance(categorical, str):
        raise ValueError(f"categorical_features={categorical!r} is unknown: {what}.")
    given = list(categorical)
    if given and all(isinstance(one, (bool, np.bool_)) for one in given):
        if len(given) != n_columns:
            raise ValueError(
                f"categorical_features is a mask of {len(given)} entries, but X has {n_columns} columns: "
                f"{what}."
            )
        return np.array(given, dtype=bool)
    for one in given:
        if isinstance(one, str):
            if names is None or one not in names:
                where = "X has no column names" if names is None else "X has no column of that name"
                raise ValueError(f"categorical_features has {one!r}, but {where}: {what}.")
            mask[names.index(one)] = True
        elif isinstance(one, Integral) and -n_columns <= int(one) < n_columns:
            mask[int(one)] = True
        else:
            raise ValueError(
                f"categorical_features has {one!r}, but X has {n_columns} columns, numbered from 0: {what}."
            )
    return mask


def _read_series(series: Any, name: str, chosen: bool, by_type: bool) -> tuple[HostArray, list[Any] | None]:
    """A column as numbers, and its levels where it is a category."""
    kind = series.dtype
    if not chosen:
        if kind.is_numeric() or kind == nw.Boolean:
            return _numbers(series), None
        if kind.is_temporal():
            return _days(series, kind), None
        order = levels_in_order(series)
        if order is not None:
            ranks = {level: float(rank) for rank, level in enumerate(order)}
            return np.array([ranks.get(value, np.nan) for value in series.to_list()]), None
    values = [None if is_missing(value) else value for value in series.to_list()]
    if not chosen and kind not in (nw.String, nw.Categorical, nw.Enum):
        numbers = _object_numbers(values, name)
        if numbers is not None:
            return numbers, None
    if chosen and kind not in (nw.String, nw.Categorical, nw.Enum):
        _refuse_kinds({type(value).__name__ for value in values if not _is_level(value)}, name)
    if not chosen and not by_type and kind == nw.String:
        first = next((value for value in values if value is not None), "")
        raise ValueError(
            f"X has text in column {name!r}, first {str(first)[:60]!r}, but categorical_features does not "
            'include this column: add it, or pass "from_dtype".'
        )
    return _coded(values)


def _refuse_names_of_rows(texts: Sequence[int], read: Columns) -> None:
    """Check that no column of text has so many levels that they name or number the rows."""
    assert read.names is not None
    refused = []
    for j in texts:
        n_values, levels = int((~np.isnan(read.x[:, j])).sum()), read.levels[j] or []
        if len(levels) > max(MAX_LEVELS, MAX_DISTINCT * n_values):
            refused.append((read.names[j], levels, n_values))
    if refused:
        name, levels, n_values = refused[0]
        also = f" (and such text in {listed([one for one, *_ in refused[1:]])})" if refused[1:] else ""
        raise ValueError(
            f"X has text in column {name!r} with {len(levels)} different values in {n_values} rows, first "
            f"{str(levels[0])[:60]!r}{also}: drop it, name it in categorical_features if it is a category, "
            "or read it with l1lsmi.preparation.TablePreparation if it holds numbers or dates."
        )


def _numbers(series: Any) -> HostArray:
    """Numbers and yes/no, NaN where missing."""
    try:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    except Exception:  # nullable types that a library cannot cast
        return np.array([np.nan if is_missing(v) else float(v) for v in series.to_list()])


def _days(series: Any, kind: Any) -> HostArray:
    """Dates, times and durations in days; times of day as parts of a day."""
    if kind == nw.Time:
        return np.array(
            [
                np.nan
                if is_missing(v)
                else ((v.hour * 60 + v.minute) * 60 + v.second + v.microsecond / 1e6) / 86_400
                for v in series.to_list()
            ]
        )
    if kind == nw.Date:
        series = series.cast(nw.Datetime("ns"))
    stamps = np.asarray(series.to_numpy())
    if stamps.dtype.kind not in "mM":
        return np.array([np.nan if is_missing(v) else _days_of(v) for v in series.to_list()])
    unit = "datetime64[ns]" if stamps.dtype.kind == "M" else "timedelta64[ns]"
    days = stamps.astype(unit).astype(np.int64) / DAY
    return np.asarray(np.where(np.isnat(stamps), np.nan, days))


def _days_of(value: Any) -> float:
    if not isinstance(value, date):
        return float(value.total_seconds() / 86_400)
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    return float(np.datetime64(value, "us").astype(np.float64) * 1e3 / DAY)


def levels_in_order(series: Any) -> list[Any] | None:
    """Levels of an ordered category of pandas, in order; None for everything else."""
    native = nw.to_native(series)
    kind: Any = getattr(native, "dtype", None)
    if getattr(kind, "ordered", False) is True and hasattr(kind, "categories"):
        return list(kind.categories)
    return None


def _object_numbers(values: list[Any], name: str) -> HostArray | None:
    """Numbers of a column of objects; None where they are text."""
    present = [value for value in values if value is not None]
    is_real = (
        isinstance(value, (Real, np.number, np.bool_)) or hasattr(value, "__float__") for value in present
    )
    if all(is_real) and not any(isinstance(value, COMPLEX) for value in present):
        try:
            return np.array([np.nan if value is None else nearest_float(value) for value in values])
        except (TypeError, ValueError):
            pass
    dates = [isinstance(value, (date, datetime)) for value in present]
    if all(dates):
        return np.array([np.nan if value is None else _days_of(value) for value in values])
    kinds = {type(value).__name__ for value in present}
    no_text = {"list", "dict", "tuple", "set", "ndarray", "bytes", "complex", "complex64", "complex128"}
    if kinds & no_text or len(kinds) > 1:
        _refuse_kinds(kinds, name)
    return None


def _is_level(value: Any) -> bool:
    """Whether a value may be a level of a category: two of them must be equal or not."""
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, COMPLEX)


def _refuse_kinds(kinds: set[str], name: str) -> None:
    if kinds:
        raise TypeError(
            f"X has values of kind {' and '.join(sorted(kinds))} in column {name!r}, where the argument must "
            "be a string or a real number: pass numbers, or text for a category."
        )


def _distinct(series: Any) -> list[Any]:
    """Values of a column that are not missing, each once."""
    # Polars compares no objects.
    values = dict.fromkeys(series.to_list()) if series.dtype == nw.Object else series.unique().to_list()
    return [value for value in values if not is_missing(value)]


def _coded(values: Sequence[Any]) -> tuple[HostArray, list[Any]]:
    """Numbers of levels by falling frequency, NaN where missing, and the levels."""
    present = [value for value in values if not is_missing(value)]
    counts = Counter(present)  # in the order of first occurrence
    levels = sorted(counts, key=lambda level: -counts[level])
    number = {level: float(code) for code, level in enumerate(levels)}
    return np.array([np.nan if is_missing(v) else number[v] for v in values]), levels
