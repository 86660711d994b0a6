"""Stability selection with complementary pairs, for any selector."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter

from l1lsmi._arrays import HostArray
from l1lsmi._base import Selector
from l1lsmi._clock import Budget
from l1lsmi._progress import Progress
from l1lsmi._validation.columns import take_rows
from l1lsmi._validation.folds import check_groups
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import target_rows
from l1lsmi.inference._fits import (
    beside_rows,
    check_any_rows,
    check_beside,
    check_selector,
    fitted,
    in_order,
    routing_of,
    seeded,
    support_of,
    take_names,
    takes_several_targets,
    task_of,
)
from l1lsmi.inference._halves import draw_halves
from l1lsmi.inference.bounds import ROUNDING, FalseSelectionsBound, bounds_by_threshold, check_resamples

_ASSUMPTIONS = {"none": "worst_case", "unimodal": "unimodal", "r-concave": "r_concave"}


class StabilitySelector(Selector):
    r"""Select the features that a selector chooses from most halves of the rows.

    The rows are divided at random into two halves, again and again, and the selector is fitted to every half.
    A feature is stable if its selection frequency reaches a threshold. The expected number of false
    selections among the stable features is bounded, whatever the selector (stability selection [1]_ with
    complementary pairs [2]_).

    Parameters
    ----------
    selector : estimator
        Anything with ``fit`` and ``get_support``: selectors of this package and of scikit-learn, or a
        pipeline that ends in a selector and does not change the number of columns before it. It is cloned,
        and all its random states are drawn from ``random_state``.
    n_resamples : int, default=50
        Number of half-samples: an even number, because they come in pairs, each with the rows that the other
        leaves out.
    threshold : float or "auto", default=0.6
        Lowest frequency at which a feature is stable; "auto" is the lowest threshold at which the bound is at
        most ``max_false``.
    max_false : float, default=1.0
        With ``threshold="auto"``: bound on the expected number of false selections.
    assumption : {"none", "unimodal", "r-concave"}, default="r-concave"
        Assumption about the frequencies of false features: see `FalseSelectionsBound`. A stronger assumption
        gives a smaller bound.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves, and of the random states of the selector.
    n_jobs : int or None, default=None
        Pairs are fitted in parallel in threads, or by the backend of joblib that is set; the answer does not
        depend on it.
    time_limit : float or None, default=None
        Seconds after which no further pair is begun; the finished pairs give the answer, with a warning, as
        they do after Ctrl-C.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The stable features.
    frequency_ : ndarray of float, shape (n_features,)
        Share of the half-samples from which each feature was selected.
    simultaneous_ : ndarray of float, shape (n_features,)
        Share of the pairs of halves in which each feature was selected from both halves.
    mean_selected_ : float
        Number of features selected from a half-sample, on average (q).
    threshold_ : float
        The threshold; infinite if no threshold has a bound of at most ``max_false``.
    false_selections_bound_ : float
        Bound on the expected number of false selections: stable features whose probability of being selected
        from half of the rows is at most q / n_features, as in a random guess.
    bounds_ : FalseSelectionsBound
        The same for every assumption.
    n_resamples_ : int
        Number of half-samples that were used.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    See Also
    --------
    KnockoffSelector : Limits the share of false discoveries.
    false_selections_bound : The bound without data.

    Notes
    -----
    The bound counts features that are selected from half of the rows no more often than by a random guess of
    q features. It says nothing about features that are selected more often because they are related to
    features that matter. A small q gives a small bound: if the selector has a number of features to select,
    choose it near the number of features that you expect, and far below the number of columns.

    References
    ----------
    .. [1] N. Meinshausen and P. Buehlmann, "Stability selection", Journal of the Royal Statistical Society B
       72, 2010.
    .. [2] R. D. Shah and R. J. Samworth, "Variable selection with error control: another look at stability
       selection", Journal of the Royal Statistical Society B 75, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.baselines import LassoK
    >>> from l1lsmi.inference import StabilitySelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 50))
    >>> y = X[:, 3] - X[:, 20] + rng.normal(size=300)
    >>> selector = StabilitySelector(LassoK(5), threshold=0.9, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 3, 20])
    >>> round(selector.false_selections_bound_, 3)
    0.047
    """

    _supports_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit"])],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "max_false": [Interval(Real, 0, None, closed="neither")],
        "assumption": [StrOptions(set(_ASSUMPTIONS))],
        "random_state": ["random_state"],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        selector: Any,
        n_resamples: int = 50,
        threshold: float | str = 0.6,
        *,
        max_false: float = 1.0,
        assumption: str = "r-concave",
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.selector = selector
        self.n_resamples = n_resamples
        self.threshold = threshold
        self.max_false = max_false
        self.assumption = assumption
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(  # type: ignore[override]  # any parameters
        self, X: Any, y: Any = None, groups: Any = None, **params: Any
    ) -> Self:
        """Select the features that are stable.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            NumPy, pandas, polars, pyarrow, or any array API library. A dataframe with text, categories or
            dates is passed on to the selector as it is.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or None
            The target, or several; the halves are stratified if it has classes. None for a selector without
            target.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows with the same label are in the same half.
        **params : array-like of n_samples rows
            Further arguments of the selector's ``fit``, such as ``sample_weight`` or ``covariates``. Rows of
            weight 0 are left out; both halves have the same number of the other rows, whatever their weights.

        Returns
        -------
        self : object
        """
        self._validate_params()
        check_selector(self.selector)
        check_resamples(self.n_resamples)
        checked = clone(self)
        if y is None and self._uses_target():
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: pass what the "
                "features should predict."
            )
        x, labels, target = check_any_rows(
            X, y, task_of(self.selector), checked, allow_missing=self._takes_any_kind()
        )
        n_rows = x.shape[0]
        codes = np.zeros(n_rows, dtype=np.intp) if target is None else target.codes
        group_of_row = check_groups(groups, n_rows)
        beside = check_beside(self, params, n_rows)
        if "sample_weight" in beside:
            kept = np.flatnonzero(beside["sample_weight"])
            x, labels = take_rows(x, kept), None if labels is None else target_rows(labels, kept)
            codes, beside = codes[kept], beside_rows(beside, kept)
            group_of_row = None if group_of_row is None else group_of_row[kept]
        counts, both, sizes, stopped = self._count(x, labels, codes, group_of_row, beside)
        take_names(self, checked)
        self._decide(counts, both, sizes)
        if stopped:
            warnings.warn(
                f"The {stopped}: the result is from the {self.n_resamples_} of {self.n_resamples} "
                "half-samples that were finished.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if not self.support_.any():
            warnings.warn(self._why_empty(), UserWarning, stacklevel=2)
        return self

    def _count(
        self,
        x: Any,
        y: HostArray | None,
        codes: HostArray,
        groups: HostArray | None,
        beside: Mapping[str, Any],
    ) -> tuple[HostArray, HostArray, int, str]:
        """Selections by feature, pairs that agree, half-samples, and why it ended early, if it did."""
        seed, n_pairs = seed_of(self.random_state), self.n_resamples // 2
        counts, both = np.zeros(x.shape[1], dtype=np.intp), np.zeros(x.shape[1], dtype=np.intp)
        budget, done, stopped = Budget(self.time_limit), 0, ""
        items = [(self.selector, x, y, codes, groups, beside, (seed, pair)) for pair in range(n_pairs)]
        with Progress(n_pairs, self.verbose, "pair", "fitting halves") as progress:
            try:
                for first, second in in_order(_select_from_pair, items, self.n_jobs):
                    counts += first.astype(np.intp) + second
                    both += first & second
                    done += 1
                    progress.advance(
                        detail=f"{int((counts > done).sum())} features selected from most halves"
                    )
                    if budget.spent() and done < n_pairs:
                        stopped = "time limit was reached"
                        break
            except KeyboardInterrupt:
                if done == 0:
                    raise
                stopped = "fit was interrupted"
        return counts, both, 2 * done, stopped

    def _decide(self, counts: HostArray, both: HostArray, n_resamples: int) -> None:
        m = counts.size
        self.n_resamples_ = n_resamples
        self.frequency_ = counts / n_resamples
        self.simultaneous_ = both / (n_resamples // 2)
        self.mean_selected_ = float(counts.sum() / n_resamples)
        bounds = bounds_by_threshold(self.mean_selected_, m, n_resamples)
        if self.threshold == "auto":
            kept = [i for i, bound in enumerate(bounds) if self._bound(bound) <= self.max_false]
            needed = kept[0] + 1 if kept else np.inf
            self.threshold_ = float(needed / n_resamples)
        else:
            self.threshold_ = float(self.threshold)
            needed = int(np.ceil(self.threshold_ * n_resamples - ROUNDING))
        self.support_ = counts >= needed
        self.bounds_ = bounds[int(needed) - 1] if np.isfinite(needed) else FalseSelectionsBound(0.0, 0.0, 0.0)
        self.false_selections_bound_ = self._bound(self.bounds_)

    def _bound(self, bounds: FalseSelectionsBound) -> float:
        names = list(_ASSUMPTIONS.values())
        names = names[: list(_ASSUMPTIONS).index(self.assumption) + 1]
        return float(min(getattr(bounds, name) for name in names))

    def _why_empty(self) -> str:
        if np.isinf(self.threshold_):
            return (
                f"No threshold has a bound on false selections of at most max_false={self.max_false}: let "
                f"the selector select fewer features (it selects {self.mean_selected_:.1f} from half of the "
                "rows on average), or raise n_resamples or max_false."
            )
        return (
            f"No feature is stable: the highest selection frequency is {self.frequency_.max():.2f}, below "
            f"the threshold of {self.threshold_:.2f}."
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which arguments ``fit`` takes in addition to X and y, and which of them are for the selector.

        Returns
        -------
        MetadataRouter
        """
        return routing_of(self)

    def _takes_several_targets(self) -> bool:
        return takes_several_targets(self.selector)

    def _takes_any_kind(self) -> bool:
        try:
            return bool(get_tags(self.selector).input_tags.allow_nan)
        except (AttributeError, TypeError, ValueError):
            return False

    def _uses_target(self) -> bool:
        try:
            return bool(get_tags(self.selector).target_tags.required)
        except (AttributeError, TypeError, ValueError):
            return False


def _select_from_pair(
    selector: Any,
    x: Any,
    y: HostArray | None,
    codes: HostArray,
    groups: HostArray | None,
    beside: Mapping[str, Any],
    key: tuple[int, int],
) -> tuple[HostArray, HostArray]:
    """The features selected from each half of a pair."""
    rng = np.random.default_rng(key)
    found = []
    for rows in draw_halves(codes, groups, rng):
        copy = seeded(selector, int(rng.integers(2**31 - 1)))
        targets = None if y is None else target_rows(y, rows)
        once = fitted(copy, take_rows(x, rows), targets, beside_rows(beside, rows))
        found.append(support_of(once, x.shape[1]))
    return found[0], found[1]
