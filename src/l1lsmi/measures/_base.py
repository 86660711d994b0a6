"""What every measure shares: scores of given columns, and the problem that strategies search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.model import Fit
from l1lsmi._numerics.ranking import scatter
from l1lsmi._numerics.set_scorer import DrawScorer
from l1lsmi._numerics.target import Target
from l1lsmi._rows.appended import append_columns
from l1lsmi._rows.table import RowTable, is_large_sparse
from l1lsmi._rows.tails import clip_tails
from l1lsmi._validation.parameters import CheckedParameters, seed_of
from l1lsmi._validation.rows import read_rows_for


class MeasureProblem:
    """A measure bound to data.

    A subclass has the methods that its measure can offer; each strategy declares which it needs
    (`l1lsmi.strategies.protocols`):

    - ``score_each(columns)``: the score of every column alone;
    - ``score_set(columns)``: the score of a set of columns;
    - ``score_additions(columns, others)``, ``score_removals(columns, members)``: the same for the sets
      one column away, which may be cheaper and approximate (``neighbours_are_exact``);
    - ``draws(keys)``, ``rng(*key)``, ``best_loss``, ``score_of(fit)``: values and gradients in
      feature weights. ``set_scorer``, ``batch_size`` and ``on_sample`` have defaults here.

    Parameters
    ----------
    table : RowTable
    target : Target
    """

    #: Whether scores of neighbouring sets are those that `score_set` would give.
    neighbours_are_exact: ClassVar[bool] = True

    #: Features that a search is restricted to; None is all.
    _restricted_to: HostArray | None = None

    def __init__(self, table: RowTable, target: Target) -> None:
        self.table = table
        self.target = target

    @property
    def n_features(self) -> int:
        """Number of features, constant ones included."""
        return self.table.n_columns

    @property
    def columns(self) -> HostArray:
        """The features that vary, or those of them that a search is restricted to."""
        return self.table.varying if self._restricted_to is None else self._restricted_to

    def restricted_to(self, columns: HostArray) -> Any:
        """The same problem, in which a search uses some features only.

        Parameters
        ----------
        columns : numpy.ndarray of int
            Features that vary, in order.

        Returns
        -------
        problem : MeasureProblem
        """
        other = copy(self)
        if is_large_sparse(self.table):
            other = self._with_table(self.table.read_columns(columns))
        other._restricted_to = columns
        return other

    def _with_table(self, table: Any) -> Any:
        """The same problem with a table of some of the columns of a sparse one."""
        other = copy(self)
        other.table = table
        return other

    def batch_size(self) -> int:
        """How many draws are worth working on at once.

        Returns
        -------
        int
        """
        return 1

    def set_scorer(self, i: int) -> Any:
        """Scorer ``i`` of sets of features in a weighting: by the loss of a draw, unless overridden.

        Parameters
        ----------
        i : int

        Returns
        -------
        scorer : SetScorer
        """
        return DrawScorer(self.draws([(0, i)]))  # type: ignore[attr-defined]

    def loss_functions(self) -> HostArray | None:
        """Functions of the target whose unexplained variance is the loss of a set of features, (n, q).

        None where losses are something else.

        Returns
        -------
        functions : numpy.ndarray or None
        """
        return None

    def on_sample(self, n_rows: int) -> tuple[Any, Any]:
        """The problem to search, on a sample of the rows, and the problem on all rows that goes with it.

        A measure that cannot be bound to a sample is searched on all rows.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        sample, whole : MeasureProblem
        """
        return self, self

    def beside(self, covariates: HostArray) -> Any:
        """The same problem, for sets of features that are scored beside covariates.

        These are columns of the table already, and in every set: a measure whose score of features and
        covariates together says what features add has nothing to change.

        Parameters
        ----------
        covariates : numpy.ndarray of shape (n, q)

        Returns
        -------
        problem : MeasureProblem
        """
        return self

    def on_rows(self, rows: HostArray) -> Any:
        """The same problem on some rows, which are then in memory.

        Parameters
        ----------
        rows : numpy.ndarray of int

        Returns
        -------
        problem : MeasureProblem
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not implement on_rows, which is needed to use some of its rows"
        )


#: Values of the parameter of measures that standardise columns.
TAILS: list[Any] = [StrOptions({"clip", "keep"})]


class WeightableProblem(MeasureProblem):
    """A measure bound to data whose features can be weighted.

    For a measure that selects no model and draws nothing at random: ``draws`` computes its value and
    gradient.

    Parameters
    ----------
    table : RowTable
    target : Target
    draws : FixedModelDraws
    random_state : int, RandomState instance or None
        Strategies draw their starts from it.
    """

    #: A lower bound on the loss of any set: here there is none.
    best_loss: ClassVar[float] = -math.inf

    def __init__(self, table: RowTable, target: Target, draws: Any, random_state: Any = None) -> None:
        super().__init__(table, target)
        self._draws = draws
        self._seed = seed_of(random_state)

    def draws(self, keys: Sequence[tuple[int, ...]]) -> Any:
        """All rows, whatever the keys: nothing about them is random.

        Parameters
        ----------
        keys : sequence of tuple of int

        Returns
        -------
        draws : FixedModelDraws
        """
        return self._draws

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for every key.

        Parameters
        ----------
        *key : int

        Returns
        -------
        numpy.random.Generator
        """
        return np.random.default_rng((self._seed, *key))

    def score_of(self, fit: Fit) -> float:
        """Score of a fit.

        Parameters
        ----------
        fit : Fit

        Returns
        -------
        score : float
        """
        return fit.value


class Measure(CheckedParameters):
    """Base of all measures: how strongly a target depends on columns.

    A subclass has ``task`` and ``random_state`` (or no use for the latter), and ``bind``.
    """

    #: Whether it needs only sums over rows, so that they need not be in memory.
    supports_out_of_core: ClassVar[bool] = False
    #: Why a strategy may find something missing; completes the error message.
    limits: ClassVar[str] = "use another strategy"
    #: What is done to columns with heavy tails, by a measure that standardises them.
    tails: str = "keep"
    task: str
    random_state: Any = None

    def bind(self, table: RowTable, target: Target, random_state: Any) -> Any:
        """Bind the measure to data, for a strategy to search.

        Parameters
        ----------
        table : RowTable
        target : Target
        random_state : int, RandomState instance or None

        Returns
        -------
        problem : MeasureProblem
        """
        raise NotImplementedError

    def _scaled(self, table: RowTable, target: Target) -> RowTable:
        """The table with heavy tails clipped, unless they are to be kept."""
        return clip_tails(table, target) if self.tails == "clip" else table

    def _problem(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> Any:
        self._validate_params()
        measure, rows = read_rows_for(self, X, y, sample_weight, covariates=covariates)
        values = rows.beside.get("covariates")
        if values is None:
            return measure.bind(rows.table, rows.target, self.random_state)
        table = append_columns(rows.table, values, rows.weights)
        return measure.bind(table, rows.target, self.random_state).beside(values)

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Estimate how strongly y depends on all columns of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows: a row of weight 2 counts as two copies of it. None is 1.
        covariates : array-like of shape (n_samples,) or (n_samples, n_covariates), or None, default=None
            Covariates that y may depend on: the score is then that of the columns of X and the covariates
            together, minus that of the covariates alone.

        Returns
        -------
        score : float
        """
        problem = self._problem(X, y, sample_weight, covariates)
        everything = float(problem.score_set(problem.columns))
        if covariates is None:
            return everything
        alone = problem.columns[problem.columns >= np.shape(X)[1]]
        return everything - (float(problem.score_set(alone)) if alone.size else 0.0)

    def score_each(self, X: Any, y: Any, sample_weight: Any = None) -> HostArray:
        """Estimate how strongly y depends on each column of X alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows: a row of weight 2 counts as two copies of it. None is 1.

        Returns
        -------
        scores : numpy.ndarray of shape (n_features,)
            0 for constant columns.
        """
        problem = self._problem(X, y, sample_weight)
        scores = np.asarray(problem.score_each(problem.columns))
        return scatter(scores, problem.columns, problem.n_features, fill=0.0)
