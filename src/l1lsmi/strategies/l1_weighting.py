"""Feature weights in an l1 ball. With squared-loss mutual information this is l1-LSMI."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._progress import Progress
from l1lsmi._rows.table import Table
from l1lsmi._validation.parameters import check_all_positive
from l1lsmi.strategies import _l1_paper, _l1_path
from l1lsmi.strategies._base import COUNT, Strategy
from l1lsmi.strategies._conclusion import conclude
from l1lsmi.strategies._jury import Jury
from l1lsmi.strategies._search import Problem, SearchState
from l1lsmi.strategies.selection import Budget, StopReason, WeightedSelection

COUNT_OR_NONE = Interval(Integral, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")


class L1Weighting(Strategy):
    """Choose features by weights that are constrained to an l1 ball.

    Parameters
    ----------
    algorithm : {"path", "paper"}, default="path"
        "path" descends from all features with a shrinking radius, climbing on the cross-validation
        score, and judges and refines what it finds; it has candidates for the model of its own and
        compares sets by cross-validation whatever the measure's settings for these are. "paper" is
        Algorithm 1 of the paper, with the candidates of the measure.
    n_restarts : int or None, default=None
        Restarts at most; None is 8 for "path", which stops as soon as restarts agree, and 20 for
        "paper".
    max_iter : int or None, default=None
        Ascent steps per radius at most; None is 4 for "path" and 100 for "paper".
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned.
    n_jobs : int or None, default=None
        Restarts run side by side; the answer does not depend on it.
    verbose : int, default=0
        1 shows progress.
    explore_rows : int or None, default=10_000
        Of more rows than this the search looks at a sample of so many, each class or range of the target in
        proportion; all rows decide between the best three sets, choose the model and give the scores.
        None searches on all rows. A measure without ``on_sample`` is searched on all rows.
    relative_step_size : float, default=0.15
        "path": length of the first step at a radius, as a fraction of the largest weight.
    keep : float, default=0.85
        "path": share of the features that is left when the radius shrinks; less of many features.
    narrowness : sequence of float, default=(8, 4, 16, 2)
        "path": squared median distance over squared kernel width where restarts begin, in turn.
    n_judges : int, default=1
        "path": draws of kernel centres that sets are compared on.
    agreement : int, default=2
        "path": restarts that must end with the best set for the search to stop.
    swap_width : int, default=3
        "path": how many features may leave in a swap; up to four times as many may enter.
    max_swaps : int, default=50
        "path": swaps at most, from each set that is refined.
    n_refined : int, default=3
        "path": how many of the sets that restarts end with are refined by swaps.
    step_size : float, default=1.0
        "paper": step t is the gradient times this over the square root of t.
    tolerance : float, default=1e-5
        "paper": ends the ascent when the mean change of the objective over ``window`` steps or the
        length of the gradient is no larger.
    window : int, default=3
        "paper": see ``tolerance``.
    initial_radius : float, default=0.1
        "paper": doubled before its first use.
    max_doublings, max_halvings : int, default=20 and 12
        "paper": radii tried at most on the way up and in the binary search.
    first_model_selections : int, default=3
        "paper": iterations at the start that each choose a model.
    model_selection_every : int, default=5
        "paper": later on, every so many iterations do.
    zero : float, default=1e-8
        "paper": weights no larger count as zero.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import SquaredMutualInformation
    >>> from l1lsmi.strategies import L1Weighting
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(300, 6))
    >>> y = X[:, 1] ^ X[:, 4]
    >>> selection = L1Weighting().select(SquaredMutualInformation(), X, y, 2, random_state=0)
    >>> np.flatnonzero(selection.support)
    array([1, 4])
    """

    needs = ("draw", "rng", "best_cv_score", "score_of")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Strategy._parameter_constraints,
        "algorithm": [StrOptions({"path", "paper"})],
        "n_restarts": [COUNT, None],
        "max_iter": [COUNT, None],
        "explore_rows": [Interval(Integral, 100, None, closed="left"), None],
        "relative_step_size": [Interval(Real, 0, 1, closed="neither")],
        "keep": [Interval(Real, 0, 1, closed="neither")],
        "narrowness": ["array-like"],
        "n_judges": [COUNT],
        "agreement": [COUNT],
        "swap_width": [COUNT],
        "max_swaps": [COUNT_OR_NONE],
        "n_refined": [COUNT],
        "step_size": [POSITIVE],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "window": [COUNT],
        "initial_radius": [Interval(Real, 1e-12, 1e12, closed="both")],
        "max_doublings": [COUNT],
        "max_halvings": [COUNT_OR_NONE],
        "first_model_selections": [COUNT_OR_NONE],
        "model_selection_every": [COUNT],
        "zero": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        algorithm: str = "path",
        n_restarts: int | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        explore_rows: int | None = 10_000,
        relative_step_size: float = 0.15,
        keep: float = 0.85,
        narrowness: Sequence[float] = (8.0, 4.0, 16.0, 2.0),
        n_judges: int = 1,
        agreement: int = 2,
        swap_width: int = 3,
        max_swaps: int = 50,
        n_refined: int = 3,
        step_size: float = 1.0,
        tolerance: float = 1e-5,
        window: int = 3,
        initial_radius: float = 0.1,
        max_doublings: int = 20,
        max_halvings: int = 12,
        first_model_selections: int = 3,
        model_selection_every: int = 5,
        zero: float = 1e-8,
    ) -> None:
        self.algorithm = algorithm
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.explore_rows = explore_rows
        self.relative_step_size = relative_step_size
        self.keep = keep
        self.narrowness = narrowness
        self.n_judges = n_judges
        self.agreement = agreement
        self.swap_width = swap_width
        self.max_swaps = max_swaps
        self.n_refined = n_refined
        self.step_size = step_size
        self.tolerance = tolerance
        self.window = window
        self.initial_radius = initial_radius
        self.max_doublings = max_doublings
        self.max_halvings = max_halvings
        self.first_model_selections = first_model_selections
        self.model_selection_every = model_selection_every
        self.zero = zero

    def _search(self, problem: Problem, k: int, budget: Budget) -> WeightedSelection:
        check_all_positive(self, "narrowness")
        state = SearchState(problem.n_features)
        explored = self._sample(problem)
        jury = Jury(explored, self.n_judges)
        with Progress(self._n_restarts(), self.verbose) as progress:
            try:
                self._run(explored, k, budget, state, progress, jury)
                return conclude(problem, explored, k, state, jury, budget)
            except KeyboardInterrupt:
                budget.cancelled = True
                _best_so_far(explored, k, state)
                return conclude(problem, explored, k, state, jury, budget)

    def _at_hand(self, problem: Problem) -> Problem:
        """Take rows into memory that are few enough to be searched all."""
        few = self.explore_rows is not None and problem.table.n_rows <= self.explore_rows
        if isinstance(problem.table, Table) or not few:
            return problem
        taken: Problem = problem.on_rows(np.arange(problem.table.n_rows))  # type: ignore[attr-defined]
        return taken

    def _sample(self, problem: Problem) -> Problem:
        """The problem that is searched: on some rows where there are many."""
        if self.explore_rows is None or not hasattr(problem, "on_sample"):
            return problem
        if problem.table.n_rows <= self.explore_rows:
            return problem
        sample: Problem = problem.on_sample(self.explore_rows)
        return sample

    def _run(
        self, problem: Problem, k: int, budget: Budget, state: SearchState, progress: Any, jury: Jury
    ) -> None:
        if k >= problem.columns.size:
            state.best = tuple(int(j) for j in problem.columns)
            state.reason = StopReason.NOTHING_TO_CHOOSE
        elif self.algorithm == "path":
            settings = self._path_settings()
            _l1_path.search(problem, k, settings, budget, self.n_jobs, state, progress, jury)
        else:
            _l1_paper.search(problem, k, self._paper_settings(), budget, self.n_jobs, state, progress)

    def _n_restarts(self) -> int:
        if self.n_restarts is not None:
            return self.n_restarts
        return 8 if self.algorithm == "path" else 20

    def _path_settings(self) -> _l1_path.PathSettings:
        return _l1_path.PathSettings(
            n_restarts=self._n_restarts(),
            max_iter=4 if self.max_iter is None else self.max_iter,
            relative_step_size=self.relative_step_size,
            keep=self.keep,
            narrowness=tuple(self.narrowness),
            n_judges=self.n_judges,
            agreement=self.agreement,
            swap_width=self.swap_width,
            max_swaps=self.max_swaps,
            n_refined=self.n_refined,
        )

    def _paper_settings(self) -> _l1_paper.PaperSettings:
        return _l1_paper.PaperSettings(
            n_restarts=self._n_restarts(),
            max_iter=100 if self.max_iter is None else self.max_iter,
            step_size=self.step_size,
            tolerance=self.tolerance,
            window=self.window,
            initial_radius=self.initial_radius,
            max_doublings=self.max_doublings,
            max_halvings=self.max_halvings,
            first_model_selections=self.first_model_selections,
            model_selection_every=self.model_selection_every,
            zero=self.zero,
        )


def _best_so_far(problem: Problem, k: int, state: SearchState) -> None:
    """Settle an interrupted search on what it has, or give up where it has nothing."""
    state.reason = StopReason.INTERRUPTED
    if state.best is not None and len(state.best) == min(k, problem.columns.size):
        return
    if state.latest is None:
        raise KeyboardInterrupt
    heaviest = problem.columns[np.argsort(-state.latest[problem.columns], kind="stable")]
    wanted = [*(state.best or ()), *(int(j) for j in heaviest if int(j) not in (state.best or ()))]
    state.best = tuple(sorted(wanted[:k]))
