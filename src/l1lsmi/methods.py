"""Selectors by name: one table of what can be asked for in a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from l1lsmi._base import Selector
from l1lsmi.baselines import MRMR, QPFS, SPEC, LaplacianScore, LassoK, ReliefF
from l1lsmi.measures import HSIC, Measure, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.selectors import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.strategies import Backward, Forward, Ranking, Strategy

__all__ = ["DEFAULT", "METHODS", "Method", "find_method"]


@dataclass(frozen=True)
class Method:
    """A selector that has a name.

    Attributes
    ----------
    name : str
        What it is asked for by.
    title : str
        How it is written in a text.
    summary : str
        What it does, in a sentence.
    has_time_limit : bool
        Whether it can stop early with the best set so far.
    build : callable
        Takes the number of features and the settings of `make` by name, and returns the selector.

    Examples
    --------
    >>> from l1lsmi.methods import METHODS
    >>> METHODS["mrmr"].make(3, task="classification")
    MRMR(n_features_to_select=3, task='classification')
    """

    name: str
    title: str
    summary: str
    has_time_limit: bool
    build: Callable[..., Selector]

    def make(
        self,
        k: int | float | None = None,
        *,
        task: str = "auto",
        random_state: Any = None,
        time_limit: float | None = None,
        verbose: int = 0,
    ) -> Selector:
        """A selector that is yet to be fitted.

        Parameters
        ----------
        k : int, float or None, default=None
            Number of features, or their share strictly between 0 and 1; None selects half.
        task : {"auto", "classification", "regression"}, default="auto"
        random_state : int, RandomState instance or None, default=None
            For methods that draw something at random.
        time_limit : float or None, default=None
            Seconds; only for methods with ``has_time_limit``.
        verbose : int, default=0
            1 shows progress, for methods with ``has_time_limit``; the others are done in one go.

        Returns
        -------
        selector : estimator
        """
        if time_limit is not None and not self.has_time_limit:
            raise ValueError(
                f"time_limit={time_limit!r} cannot be kept by the method {self.name!r}: leave it out, or use "
                f"{DEFAULT!r}."
            )
        return self.build(k, task=task, random_state=random_state, time_limit=time_limit, verbose=verbose)


def find_method(name: str) -> Method:
    """The method of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Method

    Examples
    --------
    >>> from l1lsmi.methods import find_method
    >>> find_method("l1-hsic").title
    'l1-HSIC'
    """
    try:
        return METHODS[name]
    except (KeyError, TypeError):
        raise ValueError(f"method={name!r} is not known: pass one of {', '.join(METHODS)}.") from None


def _l1(cls: Callable[..., Selector], **fixed: Any) -> Callable[..., Selector]:
    def build(k: Any, **settings: Any) -> Selector:
        return cls(k, **fixed, **settings)

    return build


def _parts(measure: Callable[..., Measure], strategy: Callable[..., Strategy]) -> Callable[..., Selector]:
    def build(k: Any, *, task: str, random_state: Any, time_limit: Any, verbose: int) -> Selector:
        search = strategy(time_limit=time_limit, verbose=verbose)
        return FeatureSelector(measure(task=task), search, k, random_state=random_state)

    return build


def _baseline(cls: Callable[..., Selector], *, is_random: bool = False) -> Callable[..., Selector]:
    def build(k: Any, *, task: str, random_state: Any, **_: Any) -> Selector:
        return cls(k, task=task, random_state=random_state) if is_random else cls(k, task=task)

    return build


_ALL = (
    Method(
        "l1-lsmi",
        "l1-LSMI",
        "Finds the features that say most together, sees interactions, and prefers what adds something.",
        True,
        _l1(L1LSMI),
    ),
    Method(
        "l1-lsmi-paper",
        "l1-LSMI, algorithm of the paper",
        "The same aim by Algorithm 1 of the paper, which takes much longer.",
        True,
        _l1(L1LSMI, algorithm="paper"),
    ),
    Method(
        "l1-hsic",
        "l1-HSIC",
        "The same search with the Hilbert-Schmidt independence criterion, which chooses no model.",
        True,
        _l1(L1HSIC),
    ),
    Method(
        "pearson",
        "Correlation ranking",
        "Takes the features that correlate most with the target; sees straight lines only.",
        True,
        _parts(Pearson, Ranking),
    ),
    Method(
        "hsic-ranking",
        "HSIC ranking",
        "Takes the features that depend most on the target one by one, by the HSIC.",
        True,
        _parts(HSIC, Ranking),
    ),
    Method(
        "smi-ranking",
        "SMI ranking",
        "Takes the features that say most one by one, by squared-loss mutual information.",
        True,
        _parts(SquaredMutualInformation, Ranking),
    ),
    Method(
        "mi-ranking",
        "MI ranking",
        "Takes the features that say most one by one, by mutual information.",
        True,
        _parts(MutualInformation, Ranking),
    ),
    Method(
        "hsic-forward",
        "F-HSIC",
        "Adds one feature at a time, always the one that raises the HSIC most.",
        True,
        _parts(HSIC, Forward),
    ),
    Method(
        "smi-forward",
        "F-LSMI",
        "Adds one feature at a time, always the one that raises the squared-loss mutual information most.",
        True,
        _parts(SquaredMutualInformation, Forward),
    ),
    Method(
        "hsic-backward",
        "B-HSIC",
        "Takes one feature away at a time, always the one that the HSIC misses least; for few features.",
        True,
        _parts(HSIC, Backward),
    ),
    Method(
        "smi-backward",
        "B-LSMI",
        "Takes one feature away at a time, always the one that is missed least; for few features.",
        True,
        _parts(SquaredMutualInformation, Backward),
    ),
    Method(
        "mrmr",
        "mRMR",
        "Adds features that say much about the target and little about those already in.",
        False,
        _baseline(MRMR, is_random=True),
    ),
    Method(
        "qpfs",
        "QPFS",
        "Weighs features by correlation with the target against correlation with one another.",
        False,
        _baseline(QPFS, is_random=True),
    ),
    Method(
        "lasso",
        "Lasso",
        "Takes the features with coefficients in an l1-penalised linear model.",
        False,
        _baseline(LassoK),
    ),
    Method(
        "relieff",
        "ReliefF",
        "Takes the features that differ between near rows of different targets.",
        False,
        _baseline(ReliefF),
    ),
    Method(
        "spec",
        "SPEC",
        "Takes the features that vary smoothly over the graph of rows with the same target.",
        False,
        _baseline(SPEC),
    ),
    Method(
        "laplacian",
        "Laplacian score",
        "Takes the features that are nearly the same for rows with the same target.",
        False,
        _baseline(LaplacianScore),
    ),
)

#: Every method by its name, the default first.
METHODS: dict[str, Method] = {method.name: method for method in _ALL}
#: The name of the method to begin with.
DEFAULT = "l1-lsmi"
