"""A transformer that prepares a table of any kind for a selector."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from l1lsmi._columns.cells import Cells
from l1lsmi._columns.rules import MAX_LEVELS, CannotRead, Reading, Rule, Settings, apply, learn
from l1lsmi._columns.use import LEFT_OUT, NOT_REQUESTED, ColumnUse, left_out_notes
from l1lsmi._columns.words import reading_notes, reading_warnings
from l1lsmi._messages import counted, listed, quoted, suggestion
from l1lsmi.preparation._frames import Frame, build_frame, open_frame

DATES = ("days", "drop")
DECIMALS = (".", ",")
ABOUT_ROWS = "describes the rows"
UNSEEN = "that fit has not seen, missing now"


class NoFeaturesError(ValueError):
    """No column of a table can be a feature.

    Parameters
    ----------
    columns : list of ColumnUse
    """

    def __init__(self, columns: list[ColumnUse]) -> None:
        self.columns = columns
        first = min(columns, key=lambda column: column.used_as == LEFT_OUT + NOT_REQUESTED)
        why = f"{quoted(first.name)} is {first.used_as}"
        super().__init__(f"X has no column that can be a feature ({why}).")


class TablePreparation(TransformerMixin, BaseEstimator):
    """Prepare a table of any kind for a selector: one column for each feature, of a suitable type.

    `fit` learns what each column is, and `transform` reads new rows in the same way.

    - Numbers are float64. A text column is read as numbers if at least 95 % of its cells with a value are
      numbers in the same notation: with a decimal comma or point, with commas, points, spaces or apostrophes
      between thousands, with percent signs, or with one currency. Negative numbers have a minus sign or are
      in brackets. Other cells of such a column become missing, and a note names them.
    - Dates are days since 1970-01-01; times of day and durations are seconds.
    - Yes/no, booleans and other text are categories: one column, with the levels that occur, in alphabetical
      order. Columns of a categorical type keep the order of their levels, and ordered categories stay
      ordered.
    - Missing values stay missing: nothing is imputed.

    These columns are left out: columns that are empty, nearly empty (less than 1 % of the rows have a value)
    or constant, row numbers (whole numbers that increase by one from row to row, in 10 rows or more), text
    that is different in every row, text with more than ``max_levels`` levels that occur less than twice on
    average, and lists, structures and bytes.

    Parameters
    ----------
    na_values : sequence of str, default=()
        Text that stands for a missing value, in addition to empty text, NA, N/A, n/a, n.a., NaN, NaT, <NA>,
        null, ?, a point and a dash (a dash is a value in a column with plus signs). A number in this list,
        such as "-999", is a missing value in numeric columns too.
    categorical : sequence of str, default=()
        Columns to treat as categories, whatever their values are, such as postal codes.
    drop : sequence of str, default=()
        Columns to leave out.
    keep : sequence of str, default=()
        If not empty, all other columns are left out. Row numbers, row names and nearly empty columns are used
        if they are listed here.
    max_levels : int, default=20
        Text with more levels is left out, unless its levels occur at least twice on average.
    dates : {"days", "drop"}, default="days"
        Whether dates are numbers of days or are left out.
    decimal : {".", ","}, default="."
        The decimal sign of a column in which every comma may be a decimal sign or a separator of thousands,
        as in "1,234". With ".", the comma separates thousands, unless another cell has four digits or more
        without a comma.

    Attributes
    ----------
    columns_ : list of ColumnUse
        How each column is used, in the order of the table.
    notes_ : list of str
        Decisions made, one sentence each.
    feature_names_in_ : ndarray of str
    n_features_in_ : int

    Notes
    -----
    The result is a frame of the same library as X: pandas, polars (categories are columns of type Enum) or
    pyarrow (categories are columns of type dictionary). For a table of `l1lsmi.files`, it is a pyarrow table.
    `set_output` chooses pandas or polars. In `transform`, columns that `fit` has not seen are ignored. Levels
    that `fit` has not seen become missing, with a warning, and so do cells that are not numbers in a column
    of numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from l1lsmi.preparation import TablePreparation
    >>> patients = pd.DataFrame({
    ...     "id": ["p1", "p2", "p3", "p4"],
    ...     "weight": ["71,5", "n/a", "80,25", "64"],
    ...     "sex": ["f", "m", "m", None],
    ...     "visit": ["2024-05-01", "2024-05-03", "2024-05-03", "2024-06-11"],
    ... })
    >>> preparation = TablePreparation().fit(patients)
    >>> for column in preparation.columns_:
    ...     print(column.name, "-", column.used_as)
    id - left out: every value is different
    weight - number
    sex - category with 2 levels
    visit - number of days
    >>> preparation.transform(patients)
       weight  sex    visit
    0   71.50    f  19844.0
    1     NaN    m  19846.0
    2   80.25    m  19846.0
    3   64.00  NaN  19885.0
    """

    columns_: list[ColumnUse]
    notes_: list[str]
    feature_names_in_: npt.NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        na_values: Sequence[str] = (),
        categorical: Sequence[str] = (),
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        max_levels: int = MAX_LEVELS,
        dates: str = "days",
        decimal: str = ".",
    ) -> None:
        self.na_values = na_values
        self.categorical = categorical
        self.drop = drop
        self.keep = keep
        self.max_levels = max_levels
        self.dates = dates
        self.decimal = decimal

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what each column is.

        Parameters
        ----------
        X : frame of pandas, polars or pyarrow, or DataTable
        y : object
            Not used.

        Returns
        -------
        self : object
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn what each column is, and read its cells.

        Parameters
        ----------
        X : frame of pandas, polars or pyarrow, or DataTable
        y : object
            Not used.
        **fit_params : dict
            Not used.

        Returns
        -------
        frame : frame of the library of X
        """
        frame, read = self._learn(X)
        return self._frame_of(frame, [reading.cells for reading in read.values()])

    def transform(self, X: Any) -> Any:
        """Read new rows in the same way as the rows of `fit`.

        Parameters
        ----------
        X : frame of pandas, polars or pyarrow, or DataTable
            Must have at least the columns that are features.

        Returns
        -------
        frame : frame of the library of X
        """
        check_is_fitted(self)
        frame = open_frame(X)
        read = {name: self._read(frame, name, rule) for name, rule in self._rules.items()}
        if sentences := [
            said for name, reading in read.items() for said in reading_warnings(name, reading, UNSEEN)
        ]:
            # The second level is the wrapper of scikit-learn that serves `set_output`.
            warnings.warn(" ".join(sentences), UserWarning, stacklevel=3)
        return self._frame_of(frame, [reading.cells for reading in read.values()])

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns that `transform` returns, which are the names of the features.

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            None, or the column names of the X that was passed to `fit`.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        if input_features is not None and list(input_features) != self.feature_names_in_.tolist():
            raise ValueError(
                "input_features are not the column names of the X that was passed to fit: pass those, or "
                "None."
            )
        return np.array(list(self._rules), dtype=object)

    def _settings(self) -> Settings:
        """Check parameters."""
        for name in ("na_values", "categorical", "drop", "keep"):
            value = getattr(self, name)
            if isinstance(value, (str, bytes)) or not all(isinstance(word, str) for word in value):
                raise ValueError(f"{name}={value!r} must be a sequence of str: pass a list.")
        if isinstance(self.max_levels, bool) or not isinstance(self.max_levels, int) or self.max_levels < 2:
            raise ValueError(f"max_levels={self.max_levels!r} must be a whole number of at least 2.")
        for name, choices in (("dates", DATES), ("decimal", DECIMALS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r} is unknown: pass one of {listed(choices)}.")
        return Settings(tuple(self.na_values), self.decimal, self.max_levels, self.dates)

    def _check_names(self, frame: Frame) -> None:
        for option in ("categorical", "drop", "keep"):
            for name in getattr(self, option):
                if name not in frame:
                    raise ValueError(
                        f"{option} has {quoted(name)}, which is not a column of X: "
                        f"{suggestion(name, frame.names)}"
                    )

    def _learn(self, X: Any) -> tuple[Frame, dict[str, Reading]]:
        """Set what is learned, and return the cells of the features."""
        settings = self._settings()
        frame = open_frame(X)
        if frame.n_rows == 0:
            raise ValueError("X has no rows: there is nothing to learn from.")
        self._check_names(frame)
        drop, keep, categorical = {*self.drop}, {*self.keep}, {*self.categorical}
        columns: list[ColumnUse] = []
        rules: dict[str, Rule] = {}
        readings: dict[str, Reading] = {}
        for name in frame.names:
            as_category, requested = name in categorical, name in keep
            cells = frame.cells(name, as_category)
            rule, reading = learn(cells, settings, as_category=as_category, requested=requested)
            used_as = rule.used_as
            if name in drop or (keep and not requested):
                used_as = LEFT_OUT + NOT_REQUESTED
            elif name in frame.about_rows and not (requested or as_category):
                used_as = LEFT_OUT + ABOUT_ROWS
            n_missing = int(np.count_nonzero(reading.cells.missing))
            columns.append(ColumnUse(name, rule.kind, n_missing, used_as))
            if columns[-1].used:
                rules[name], readings[name] = rule, reading
        if not rules:
            raise NoFeaturesError(columns)
        self.columns_, self._rules = columns, rules
        self.notes_ = _notes(readings, columns)
        self.feature_names_in_ = np.array(frame.names, dtype=object)
        self.n_features_in_ = len(frame.names)
        return frame, readings

    def _read(self, frame: Frame, name: str, rule: Rule) -> Reading:
        if name not in frame:
            raise ValueError(
                f"X has no column {quoted(name)}, which was there in fit: {suggestion(name, frame.names)}"
            )
        try:
            return apply(rule, frame.cells(name, bool(rule.levels)), tuple(self.na_values))
        except CannotRead as problem:
            raise ValueError(
                f"Column {quoted(name)} of X has {problem}, but was used as '{rule.used_as}' in fit: pass "
                "values of the same kind."
            ) from None

    def _frame_of(self, frame: Frame, columns: Sequence[Cells]) -> Any:
        wanted = _get_output_config("transform", self)["dense"]
        library = frame.library if wanted == "default" else wanted
        return build_frame(library, list(self._rules), columns, frame.n_rows, frame.index)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _notes(readings: dict[str, Reading], columns: Sequence[ColumnUse]) -> list[str]:
    """What was decided, one sentence each."""
    n_missing = {column.name: column.n_missing for column in columns if column.name in readings}
    incomplete = [count for count in n_missing.values() if count]
    notes = reading_notes(readings)
    if incomplete:
        n_values = sum(incomplete)
        values, stay = counted(n_values, "missing value"), "stays" if n_values == 1 else "stay"
        notes.append(f"{values} of {counted(len(incomplete), 'column')} {stay} missing: nothing is imputed.")
    return notes + left_out_notes(columns)
