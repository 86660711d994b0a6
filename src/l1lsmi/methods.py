"""All selectors by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from l1lsmi._base import Selector
from l1lsmi.baselines import MRMR, QPFS, SPEC, LaplacianScore, LassoK, ReliefF
from l1lsmi.measures import HSIC, Measure, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.selectors import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.selectors._combined import PartsSelector
from l1lsmi.strategies import Backward, Forward, Ranking, Strategy

__all__ = ["DEFAULT", "METHODS", "Method", "find_method"]


@dataclass(frozen=True)
class Method:
    """A named selector: how it is built, and what it can do.

    Attributes
    ----------
    name : str
        The name, as on the command line.
    title : str
        The name in texts.
    summary : str
        One sentence on what it does.
    has_time_limit : bool
        Whether it can be stopped early with the best set found so far.
    build : callable
        Called with the number of features and the keyword arguments of `make`; returns the selector.

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

    @property
    def chooses_k(self) -> bool:
        """Whether it can choose the number of features: ``make("auto")``."""
        return isinstance(self.make(), PartsSelector)

    def make(
        self,
        k: int | float | str | None = None,
        *,
        task: str = "auto",
        random_state: Any = None,
        time_limit: float | None = None,
        verbose: int = 0,
    ) -> Selector:
        """An unfitted selector.

        Parameters
        ----------
        k : int, float, "auto" or None, default=None
            Number of features, or a fraction of all features strictly between 0 and 1; None selects half.
            "auto" chooses the number, only for methods with ``chooses_k``.
        task : {"auto", "classification", "regression", "survival"}, default="auto"
        random_state : int, RandomState instance or None, default=None
            Seed of methods with a random part.
        time_limit : float or None, default=None
            Seconds; only for methods with ``has_time_limit``.
        verbose : int, default=0
            1 shows progress, for methods with ``has_time_limit``; ignored by the others.

        Returns
        -------
        selector : estimator
        """
        if time_limit is not None and not self.has_time_limit:
            raise ValueError(
                f"time_limit={time_limit!r} is not supported by the method {self.name!r}: leave it out, or "
                f"use {DEFAULT!r}."
            )
        if k == "auto" and not self.chooses_k:
            raise ValueError(
                f"k='auto' is not supported by the method {self.name!r}: pass a number, or use {DEFAULT!r}."
            )
        return self.build(k, task=task, random_state=random_state, time_limit=time_limit, verbose=verbose)


def find_method(name: str) -> Method:
    """Find a method by its name.

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
        "Finds the set of features that is most informative about the target, including interactions.",
        True,
        _l1(L1LSMI),
    ),
    Method(
        "l1-lsmi-paper",
        "l1-LSMI, algorithm of the paper",
        "The same criterion by Algorithm 1 of the paper, which takes much longer.",
        True,
        _l1(L1LSMI, algorithm="paper"),
    ),
    Method(
        "l1-hsic",
        "l1-HSIC",
        "The same search with the Hilbert-Schmidt independence criterion, which needs no model selection.",
        True,
        _l1(L1HSIC),
    ),
    Method(
        "pearson",
        "Correlation ranking",
        "Ranks features by their correlation with the target; detects linear dependence only.",
        True,
        _parts(Pearson, Ranking),
    ),
    Method(
        "hsic-ranking",
        "HSIC ranking",
        "Ranks features by the HSIC of each with the target.",
        True,
        _parts(HSIC, Ranking),
    ),
    Method(
        "smi-ranking",
        "SMI ranking",
        "Ranks features by the squared-loss mutual information of each with the target.",
        True,
        _parts(SquaredMutualInformation, Ranking),
    ),
    Method(
        "mi-ranking",
        "MI ranking",
        "Ranks features by the mutual information of each with the target.",
        True,
        _parts(MutualInformation, Ranking),
    ),
    Method(
        "hsic-forward",
        "F-HSIC",
        "Adds one feature at a time, the one that increases the HSIC most.",
        True,
        _parts(HSIC, Forward),
    ),
    Method(
        "smi-forward",
        "F-LSMI",
        "Adds one feature at a time, the one that increases the squared-loss mutual information most.",
        True,
        _parts(SquaredMutualInformation, Forward),
    ),
    Method(
        "hsic-backward",
        "B-HSIC",
        "Removes one feature at a time, the one that decreases the HSIC least; for few features.",
        True,
        _parts(HSIC, Backward),
    ),
    Method(
        "smi-backward",
        "B-LSMI",
        "Removes one feature at a time, the one that decreases the squared-loss mutual information least.",
        True,
        _parts(SquaredMutualInformation, Backward),
    ),
    Method(
        "mrmr",
        "mRMR",
        "Adds features with high relevance to the target and low redundancy with those selected before.",
        False,
        _baseline(MRMR, is_random=True),
    ),
    Method(
        "qpfs",
        "QPFS",
        "Maximises correlation with the target and minimises correlation between features.",
        False,
        _baseline(QPFS, is_random=True),
    ),
    Method(
        "lasso",
        "Lasso",
        "Selects the features with non-zero coefficients in an l1-penalised linear model.",
        False,
        _baseline(LassoK),
    ),
    Method(
        "relieff",
        "ReliefF",
        "Selects the features that differ between neighbouring rows with different targets.",
        False,
        _baseline(ReliefF),
    ),
    Method(
        "spec",
        "SPEC",
        "Selects the features that vary smoothly on a graph of rows with similar targets.",
        False,
        _baseline(SPEC),
    ),
    Method(
        "laplacian",
        "Laplacian score",
        "Selects the features that have similar values in rows with similar targets.",
        False,
        _baseline(LaplacianScore),
    ),
)

#: Every method by its name, the default first.
METHODS: dict[str, Method] = {method.name: method for method in _ALL}
#: Name of the default method.
DEFAULT = "l1-lsmi"
