"""How well a model predicts with the selected features, in rows that neither selection nor model has seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from l1lsmi._arrays import HostArray
from l1lsmi._blas import single_threaded_blas
from l1lsmi._clock import check_time
from l1lsmi._numerics.target import Target
from l1lsmi._validation.columns import Columns, take_rows
from l1lsmi._validation.folds import check_groups
from l1lsmi._validation.parameters import for_other_rows, seed_of
from l1lsmi._validation.target import plain_target, target_rows
from l1lsmi._warnings import of_part_of_rows
from l1lsmi.evaluation._checks import check_any_kind, check_task, required
from l1lsmi.evaluation._coordinates import learned_coordinates
from l1lsmi.evaluation._folds import fold_rows
from l1lsmi.evaluation._metrics import (
    Estimate,
    class_metrics,
    number_metrics,
    of_overlapping_folds,
    standardised,
)
from l1lsmi.evaluation._models import Predictions, model_name, predict_rows
from l1lsmi.evaluation._several import needs_standardised_error
from l1lsmi.evaluation.selectors import given_to_selectors

#: Names of the sets of features that are always there.
SELECTED, ALL, NONE = "selected", "all features", "no features"
#: Tables with more values are searched in three folds, those with fewer rows in ten, others in five.
MANY_VALUES, FEW_ROWS = 50_000, 150
#: Of more rows one fold of five is held out, which is enough to test.
MANY_ROWS, MAX_TESTED = 20_000, 10_000
#: Restarts of a search in a fold: more rarely change the error.
MAX_RESTARTS = 1


@dataclass(frozen=True, eq=False)
class SetScores:
    """How well a model predicts with a set of features.

    Attributes
    ----------
    name : str
        "selected", "all features", "no features", or the name of another selector.
    n_features : int
        Number of features, the median over folds.
    metrics : dict of str to Estimate
        By name, the most important one first; empty if the selector failed.
    failure : str or None
        First line of the error message, if the selector failed.
    """

    name: str
    n_features: int
    metrics: dict[str, Estimate]
    failure: str | None = None


@dataclass(frozen=True, eq=False)
class SelectionScores:
    """How well a model predicts with the selected features, with all features and with other selectors.

    Attributes
    ----------
    task : {"classification", "regression", "several", "survival"}
    metric : str
        Name of the first metric, by which sets are compared: an error, lower is better.
    model : str
        Name of the model.
    sets : dict of str to SetScores
    n_rows, n_train, n_tested : int
        Number of all rows, of training rows in the first fold, and of tested rows in all folds.
    n_folds : int
    """

    task: str
    metric: str
    model: str
    sets: dict[str, SetScores]
    n_rows: int
    n_train: int
    n_tested: int
    n_folds: int

    @property
    def best_rival(self) -> str | None:
        """Name of the other selector with the lowest error; None if there is no other selector."""
        others = [one for name, one in self.sets.items() if name not in (SELECTED, ALL, NONE) and one.metrics]
        return min(others, key=lambda one: one.metrics[self.metric].value).name if others else None


def selection_scores(
    selector: Any,
    X: Any,
    y: Any,
    *,
    model: Any = None,
    rivals: Mapping[str, Any] | None = None,
    task: str = "auto",
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    categorical_features: Any = "from_dtype",
    random_state: Any = 0,
) -> SelectionScores:
    """Measure how well a model predicts with the selected features.

    In each fold of a cross-validation, features are selected from the rows of the other folds, a model is
    fitted to the same rows, and the rows of the fold are predicted: neither the selection nor the model has
    seen them. The same is done with all features, with none, and with other selectors.

    Parameters
    ----------
    selector : selector, fitted or not
        Copies of it are fitted, with one restart and without a p-value. If it is fitted, the copies use the
        number of features, and the number of columns to choose from, that it has chosen.
    X : array-like or dataframe of shape (n, m)
        The model is fitted to standardised numbers, an indicator of each level of a category, and an
        indicator of missing values for each column that has any.
    y : array-like of shape (n,) or (n, t)
    model : estimator or None, default=None
        A classifier or regressor of scikit-learn. None is kernel ridge regression with Gaussian kernels,
        tuned by leave-one-out errors, or gradient boosting from 2,000 training rows on.
    rivals : mapping of str to selector, or None, default=None
        Other selectors, by name.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label are in the same fold.
    fit_params : mapping of str to array-like or None, default=None
        Further arguments of the selector's ``fit`` with one entry per row, such as ``sample_weight``.
    categorical_features : "from_dtype", None, or names, numbers or a mask of columns, default="from_dtype"
        Columns that are categories for the model.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    Returns
    -------
    SelectionScores
        Metrics for classes are error rate, balanced accuracy, AUC, and log loss if the model predicts
        probabilities; for numbers root mean squared error, mean absolute error and R². For several targets,
        and for times until an event, the only metric is the standardised error: the error divided by the
        error of a constant prediction, averaged over the targets.

    Notes
    -----
    There are three folds if X has more than 50,000 values; otherwise ten for up to 150 rows, and five for
    more. With more than 20,000 rows, a single fold of one fifth of the rows is held out, and at most 10,000
    of its rows are tested. Standard errors allow for the training rows that folds share (Nadeau and Bengio,
    2003).

    Examples
    --------
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.evaluation import selection_scores
    >>> X, y = make_xor(200, random_state=0)
    >>> found = selection_scores(L1LSMI(2, random_state=0), X, y)
    >>> found.model, found.sets["selected"].metrics["error rate"].value < 0.05
    ('kernel ridge regression', True)
    >>> found.sets["no features"].metrics["error rate"].value > 0.3
    True
    """
    check_task(task)
    columns, target = check_any_kind(X, required("y", y), task, categorical_features)
    _check_model(model, target)
    given = given_to_selectors(X, columns, {SELECTED: selector, **(rivals or {})})
    group_of_row = check_groups(groups, target.n_rows)
    rng = np.random.default_rng(seed_of(random_state))
    n_rows, n_values = target.n_rows, columns.x.size
    n_folds, n_used = _folds(n_rows, n_values)
    folds = fold_rows(target.codes, group_of_row, min(n_folds, n_rows), rng)
    others = {name: for_other_rows(one) for name, one in (rivals or {}).items()}
    quick = {SELECTED: quick_copy(selector), ALL: None, NONE: None, **others}
    data = _Data(given, columns, plain_target(y, task), target, model, dict(fit_params or {}))
    tried: dict[str, list[_Fold]] = {name: [] for name in quick}
    failures: dict[str, str] = {}
    for fold in range(min(n_used, int(folds.max()) + 1)):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        test = np.sort(rng.permutation(test)[:MAX_TESTED])
        for name, one in quick.items():
            if name in failures:
                continue
            try:
                support = data.support(name, one, train)
                tried[name].append(data.predict(support, train, test, rng))
            except Exception as error:
                if name == SELECTED:
                    raise
                failures[name] = (str(error).strip().splitlines() or [type(error).__name__])[0]
    first = tried[SELECTED]
    sets = {
        name: SetScores(name, 0, {}, failures[name])
        if name in failures
        else SetScores(name, int(np.median([f.n_features for f in found])), data.metrics(found, tried[NONE]))
        for name, found in tried.items()
    }
    return SelectionScores(
        task=target.task,
        metric=next(iter(sets[SELECTED].metrics)),
        model=model_name(model, first[0].n_train),
        sets=sets,
        n_rows=n_rows,
        n_train=first[0].n_train,
        n_tested=sum(fold.rows.size for fold in first),
        n_folds=len(first),
    )


def quick_copy(selector: Any) -> Any:
    """An unfitted copy for the training rows of a fold: as many features, one restart, no p-value."""
    quick = for_other_rows(selector)
    known = quick.get_params()
    if isinstance(getattr(selector, "n_features_to_select", None), str) and hasattr(selector, "support_"):
        quick.set_params(n_features_to_select=max(1, int(np.count_nonzero(selector.get_support()))))
    changed: dict[str, Any] = {}
    for name, value in known.items():
        last = name.split("__")[-1]
        if last == "n_restarts" and (value is None or value > MAX_RESTARTS):
            changed[name] = MAX_RESTARTS
        elif last == "p_value":
            changed[name] = False
        elif last == "verbose":
            changed[name] = 0
        elif last == "pool" and value == "auto" and hasattr(selector, "pool_size_"):
            changed[name] = int(selector.pool_size_)  # rows that its search has not seen have chosen it
    quick.set_params(**changed)
    if hasattr(quick, "_orders_features"):
        quick._orders_features = False
    return quick


def _folds(n_rows: int, n_values: int) -> tuple[int, int]:
    """Number of folds, and how many of them are held out one after the other."""
    if n_rows > MANY_ROWS:
        return 5, 1
    if n_values > MANY_VALUES:
        return 3, 3
    return (10, 10) if n_rows <= FEW_ROWS else (5, 5)


@dataclass(frozen=True, eq=False)
class _Fold:
    """Predictions of the rows of a fold, one for each target."""

    rows: HostArray
    n_train: int
    n_features: int
    predictions: list[Predictions]


@dataclass(frozen=True, eq=False)
class _Data:
    given: Any
    columns: Columns
    y: HostArray
    target: Target
    model: Any
    fit_params: dict[str, Any]

    @property
    def targets(self) -> list[Target]:
        return list(self.target.each()) if needs_standardised_error(self.target) else [self.target]

    def support(self, name: str, selector: Any, train: HostArray) -> HostArray:
        """Columns of a set, selected from training rows."""
        check_time()
        if selector is None:
            return np.arange(self.columns.x.shape[1] if name == ALL else 0)
        if self.target.is_classification and np.unique(self.target.codes[train]).size == 1:
            return np.arange(0)  # all rows of the other class are held out
        beside = {} if name != SELECTED else {key: take_rows(v, train) for key, v in self.fit_params.items()}
        with of_part_of_rows(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = selector.fit(take_rows(self.given, train), target_rows(self.y, train), **beside)
        if getattr(fitted, "stop_reason_", None) == "interrupted":
            raise KeyboardInterrupt
        return np.flatnonzero(fitted.get_support())

    @single_threaded_blas()
    def predict(
        self, support: HostArray, train: HostArray, test: HostArray, rng: np.random.Generator
    ) -> _Fold:
        check_time()
        known = self.columns.part(train, support)
        coordinates = learned_coordinates(known)
        seen, unseen = coordinates(known.x), coordinates(self.columns.part(test, support).x)
        predictions = [self._predictions(one, seen, train, unseen, rng) for one in self.targets]
        return _Fold(test, train.size, support.size, predictions)

    def _predictions(
        self, target: Target, seen: HostArray, train: HostArray, unseen: HostArray, rng: np.random.Generator
    ) -> Predictions:
        """Predictions of a target, of numbers in standard deviations."""
        if self.model is None or target.is_classification:
            return predict_rows(self.model, seen, _numbers(target)[train], unseen, _n_classes(target), rng)
        # A model that is given may need the units of the target, for instance numbers that are positive.
        found = predict_rows(self.model, seen, target.decoded()[train], unseen, 0, rng)
        return found._replace(values=target.encode(found.values))

    def metrics(self, found: list[_Fold], constant: list[_Fold]) -> dict[str, Estimate]:
        """Metrics over all folds."""
        of_targets = [self._of_target(i, found) for i in range(len(self.targets))]
        if not needs_standardised_error(self.target):
            return of_targets[0]
        errors = [next(iter(metrics.values())) for metrics in of_targets]
        guesses = [next(iter(self._of_target(i, constant).values())).value for i in range(len(errors))]
        return {"standardised error": standardised(errors, [guess or 1.0 for guess in guesses])}

    def _of_target(self, i: int, found: list[_Fold]) -> dict[str, Estimate]:
        target, rows = self.targets[i], np.concatenate([fold.rows for fold in found])
        fold_of_row = np.repeat(np.arange(len(found)), [fold.rows.size for fold in found])
        parts = [fold.predictions[i] for fold in found]
        truth, predicted = _numbers(target)[rows], np.concatenate([part.values for part in parts])
        n_train = found[0].n_train
        if not target.is_classification:
            metrics = number_metrics(truth, predicted, fold_of_row, float(target.scale))
            return of_overlapping_folds(metrics, rows.size, n_train)
        known = [part.scores for part in parts if part.scores is not None]
        scores = np.concatenate(known) if len(known) == len(parts) else None
        are_probabilities = all(part.are_probabilities for part in parts)
        metrics = class_metrics(truth, predicted, scores, are_probabilities, fold_of_row)
        return of_overlapping_folds(metrics, rows.size, n_train)


def _numbers(target: Target) -> HostArray:
    """Codes of classes, or numbers in standard deviations: squares of very large ones would overflow."""
    return target.codes if target.values is None else target.values


def _n_classes(target: Target) -> int:
    return 0 if not target.is_classification else int(target.class_shares().size)


def _check_model(model: Any, target: Target) -> None:
    if model is None:
        return
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "predict", "get_params")):
        what = f"the class {model.__name__}" if isinstance(model, type) else repr(model)[:60]
        raise ValueError(f"model is {what}: pass an estimator, such as RandomForestClassifier().")
    kind = get_tags(model).estimator_type
    parts = target.each() if needs_standardised_error(target) else [target]
    wanted = {"classifier" if one.is_classification else "regressor" for one in parts}
    if kind in ("classifier", "regressor") and wanted != {kind}:
        words = " and ".join(sorted(wanted))
        raise ValueError(
            f"model={type(model).__name__} is a {kind}, but the target needs a {words}: pass such a model, "
            "or None."
        )
