"""Selection with a limited share of false discoveries, by knockoffs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter

from l1lsmi._arrays import HostArray
from l1lsmi._base import Selector
from l1lsmi._progress import Progress
from l1lsmi._validation.features import check_features
from l1lsmi._validation.parameters import seed_of
from l1lsmi.inference._fits import (
    check_beside,
    check_rows,
    check_selector,
    in_order,
    routing_of,
    take_names,
    takes_several_targets,
    task_of,
)
from l1lsmi.inference._gaussian import draw_knockoffs
from l1lsmi.inference._statistics import STATISTICS, Statistic, importances


class KnockoffSelector(Selector):
    r"""Select features so that the expected share of false discoveries is limited.

    Every column gets a knockoff: a column with the same distribution, and the same relations to all other
    columns, that was made without the target. A selector is fitted to columns and knockoffs together. A
    column that adds no information to the other columns is as likely to be less important than its knockoff
    as to be more important. The knockoffs therefore show how many columns look important by chance (model-X
    knockoffs [1]_, with the knockoff+ filter [2]_).

    Parameters
    ----------
    selector : estimator
        A selector or model with weights, scores, importances or coefficients after ``fit``: see
        ``statistic``. It is cloned, and all its random states are drawn from ``random_state``.
    fdr : float, default=0.1
        Limit on the false discovery rate: the expected share, among the selected features, of those that are
        independent of the target given all others. With ``offset=1`` at least 1 / fdr features are selected,
        or none.
    knockoffs : {"copula", "gaussian"}, array-like of the shape of X or callable, default="copula"
        How knockoffs are made. "gaussian" keeps the means and covariances of the columns, which suffices if
        they are normally distributed. "copula" does so after a transformation of each column to normal
        scores, and transforms back: heavy tails, binary columns and counts keep their distribution. An array
        contains the knockoffs; a function ``knockoffs(X, rng)`` returns them.
    offset : {0, 1}, default=1
        1 is the knockoff+ filter, which limits the false discovery rate. 0 selects more features, and limits
        only a modified rate.
    statistic : {"auto", "scores", "sizes", "frequency"} or callable, default="auto"
        Number by which a column is compared with its knockoff. "scores" takes the first of these that exists:
        ``weights_`` or ``scores_`` of the selector, ``feature_importances_`` or ``coef_`` of its
        ``estimator_``, or ``feature_importances_`` or ``coef_`` of the selector itself. "sizes" fits the
        selector with up to four numbers of features, and counts how often a column is selected; the largest
        number is ``n_features_to_select`` or, if that is None or "auto", a quarter of the number of features
        and knockoffs together. "frequency" counts from how many of 20 halves of the rows a column is
        selected. "auto" is "sizes" for a selector with ``weights_`` and ``n_features_to_select``, and
        "scores" for others. A function gets the fitted selector, and returns an importance for each of its
        columns. These are first the features and then their knockoffs, but some features have changed places
        with their knockoffs.
    n_draws : int, default=1
        Number of times that knockoffs are drawn. Several draws are combined by their e-values [3]_: the
        result then depends less on chance, but with ``offset=1`` a draw selects at least 2 / fdr features, or
        none.
    random_state : int, RandomState instance or None, default=None
        Seed of the knockoffs, and of the random states of the selector.
    n_jobs : int or None, default=None
        Draws run in parallel in threads, or by the backend of joblib that is set; the answer does not depend
        on it.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    statistics_ : ndarray of float, shape (n_draws, n_features)
        Importance of each feature minus that of its knockoff.
    threshold_ : ndarray of float, shape (n_draws,)
        Lowest statistic at which a feature is selected; infinite if no feature is.
    e_values_ : ndarray of float, shape (n_features,)
        Evidence for each feature, the mean over draws: large values are unlikely for false discoveries.
    knockoffs_ : ndarray of float, shape (n_samples, n_features)
        The knockoffs of the last draw.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    See Also
    --------
    StabilitySelector : Limits the number of false selections.

    Notes
    -----
    Features are exchanged at random with their knockoffs before the fit, so that a selector which prefers the
    first of equal columns favours neither. Covariances are shrunk (Ledoit and Wolf). The distances between
    columns and knockoffs are chosen so that each can be reconstructed from the others as little as possible
    [4]_. Making knockoffs of m columns takes time of order m^3.

    The limit holds if the knockoffs have the required distribution, which cannot be checked from the data:
    relations between columns other than those of a Gaussian copula make the limit less reliable.

    References
    ----------
    .. [1] E. Candes, Y. Fan, L. Janson and J. Lv, "Panning for gold: model-X knockoffs for high dimensional
       controlled variable selection", Journal of the Royal Statistical Society B 80, 2018.
    .. [2] R. F. Barber and E. J. Candes, "Controlling the false discovery rate via knockoffs", Annals of
       Statistics 43, 2015.
    .. [3] Z. Ren and R. F. Barber, "Derandomised knockoffs: leveraging e-values for false discovery rate
       control", Journal of the Royal Statistical Society B 86, 2024.
    .. [4] A. Spector and L. Janson, "Powerful knockoffs via minimizing reconstructability", Annals of
       Statistics 50, 2022.

    Examples
    --------
    One of eleven features is a false discovery, which a rate of 0.2 allows:

    >>> import numpy as np
    >>> from l1lsmi.baselines import LassoK
    >>> from l1lsmi.inference import KnockoffSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 40))
    >>> y = X[:, :10].sum(axis=1) + rng.normal(size=300)
    >>> KnockoffSelector(LassoK(), fdr=0.2, random_state=0).fit(X, y).get_support(indices=True)
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 26])
    """

    _supports_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit"])],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "knockoffs": [StrOptions({"copula", "gaussian"}), "array-like", callable],
        "offset": [Options(Integral, {0, 1})],
        "statistic": [StrOptions(set(STATISTICS)), callable],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        selector: Any,
        fdr: float = 0.1,
        *,
        knockoffs: Any = "copula",
        offset: int = 1,
        statistic: Statistic = "auto",
        n_draws: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.selector = selector
        self.fdr = fdr
        self.knockoffs = knockoffs
        self.offset = offset
        self.statistic = statistic
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:  # type: ignore[override]  # any parameters
        """Select features, with knockoffs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NumPy, pandas, polars, or any array API library.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target, or several.
        **params : array-like of n_samples rows
            Further arguments of the selector's ``fit``, such as ``sample_weight``. Knockoffs are made from
            all rows, whatever their weights.

        Returns
        -------
        self : object
        """
        self._validate_params()
        check_selector(self.selector)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: pass what the "
                "features should predict."
            )
        checked = clone(self)
        x, labels, target = check_rows(X, y, task_of(self.selector), checked)
        assert target is not None
        self._check_knockoffs(x)
        beside = check_beside(self, params, len(x))
        seed = seed_of(self.random_state)
        items = [(self, x, labels, target.codes, beside, (seed, draw)) for draw in range(self.n_draws)]
        found = []
        with Progress(self.n_draws, self.verbose, "draw", "fitting knockoffs") as progress:
            for draw in in_order(_draw_statistics, items, self.n_jobs):
                found.append(draw)
                progress.advance()
        take_names(self, checked)
        self.knockoffs_ = found[-1][1]
        self._decide(np.array([statistics for statistics, _ in found]))
        if not self.support_.any():
            warnings.warn(self._why_empty(), UserWarning, stacklevel=2)
        return self

    def _check_knockoffs(self, x: HostArray) -> None:
        if isinstance(self.knockoffs, str) or callable(self.knockoffs):
            return
        shape = check_features(self.knockoffs).shape
        if shape != x.shape:
            raise ValueError(
                f"knockoffs has shape {tuple(shape)}, but X has shape {x.shape}: pass one knockoff for each "
                "column of X."
            )
        if self.n_draws > 1:
            raise ValueError(
                f"n_draws={self.n_draws} is given, but knockoffs is an array, which is one draw: pass "
                "n_draws=1, or a function that draws knockoffs."
            )

    def _decide(self, statistics: HostArray) -> None:
        """The knockoff filter for each draw, and that of Benjamini and Hochberg for the mean e-values."""
        m = statistics.shape[1]
        # With several draws, thresholds for half the rate have the most power (Ren and Barber).
        rate = self.fdr if self.n_draws == 1 else self.fdr / 2.0
        self.statistics_ = statistics
        self.threshold_ = np.array([knockoff_threshold(w, rate, self.offset) for w in statistics])
        reached = statistics >= self.threshold_[:, None]
        below = (statistics <= -self.threshold_[:, None]).sum(axis=1)
        self.e_values_ = (m * reached / (1.0 + below)[:, None]).mean(axis=0)
        if self.n_draws == 1:
            self.support_ = reached[0]
            return
        ordered = np.sort(self.e_values_)[::-1]
        enough = np.flatnonzero(np.arange(1, m + 1) * ordered >= m / self.fdr * (1.0 - 1e-12))
        self.support_ = self.e_values_ >= (ordered[enough[-1]] if enough.size else np.inf)

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which arguments ``fit`` takes in addition to X and y, and which of them are for the selector.

        Returns
        -------
        MetadataRouter
        """
        return routing_of(self)

    def _takes_several_targets(self) -> bool:
        return takes_several_targets(self.selector)

    def _why_empty(self) -> str:
        least = int(np.ceil((1 if self.n_draws == 1 else 2) / self.fdr - 1e-9))
        clear = "clearly more important than their knockoffs"
        if self.offset == 0:
            return f"No feature is selected: too few features are {clear} for fdr={self.fdr}."
        return (
            f"No feature is selected: fdr={self.fdr} needs at least {least} features that are {clear}; a "
            "higher fdr needs fewer."
        )


def knockoff_threshold(statistics: HostArray, fdr: float, offset: int) -> float:
    """The smallest threshold at which the estimated share of false discoveries is at most ``fdr``.

    Parameters
    ----------
    statistics : numpy.ndarray of shape (m,)
    fdr : float
    offset : {0, 1}

    Returns
    -------
    float
        Infinite if there is no such threshold.
    """
    for threshold in np.unique(np.abs(statistics[statistics != 0])):
        above, below = (statistics >= threshold).sum(), (statistics <= -threshold).sum()
        if above and (offset + below) / above <= fdr * (1.0 + 1e-12):
            return float(threshold)
    return float(np.inf)


def _draw_statistics(
    owner: KnockoffSelector,
    x: HostArray,
    y: HostArray,
    codes: HostArray,
    beside: Mapping[str, Any],
    key: tuple[int, int],
) -> tuple[HostArray, HostArray]:
    """Importances of features minus those of their knockoffs, and the knockoffs."""
    rng = np.random.default_rng(key)
    if isinstance(owner.knockoffs, str):
        knockoffs = draw_knockoffs(x, owner.knockoffs, rng)
    elif callable(owner.knockoffs):
        knockoffs = np.asarray(owner.knockoffs(x, rng), dtype=np.float64)
        if knockoffs.shape != x.shape:
            raise ValueError(
                f"knockoffs returns an array of shape {knockoffs.shape}, but X has shape {x.shape}: return "
                "one knockoff for each column of X."
            )
    else:
        knockoffs = np.asarray(check_features(owner.knockoffs), dtype=np.float64)
    exchanged = rng.random(x.shape[1]) < 0.5
    both = np.hstack([np.where(exchanged, knockoffs, x), np.where(exchanged, x, knockoffs)])
    found = importances(owner.selector, owner.statistic, both, y, codes, rng, beside)
    m = x.shape[1]
    return np.where(exchanged, -1.0, 1.0) * (found[:m] - found[m:]), knockoffs
