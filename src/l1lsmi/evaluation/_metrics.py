"""How good predictions of held-out rows are, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from l1lsmi._arrays import HostArray

#: Smallest probability in a log loss.
LEAST = 1e-6


@dataclass(frozen=True)
class Estimate:
    """A number that is estimated from held-out rows.

    Attributes
    ----------
    value : float
    standard_error : float
    """

    value: float
    standard_error: float


def class_metrics(
    truth: HostArray,
    predicted: HostArray,
    scores: HostArray | None,
    are_probabilities: bool,
    folds: HostArray,
) -> dict[str, Estimate]:
    """Error rate, balanced accuracy, area under the ROC curve, and log loss of probabilities.

    Parameters
    ----------
    truth, predicted : numpy.ndarray of int, shape (n,)
        Codes of classes.
    scores : numpy.ndarray of shape (n, classes) or None
    are_probabilities : bool
    folds : numpy.ndarray of int, shape (n,)
        Fold in which each row was held out.
    """
    wrong = (predicted != truth).astype(np.float64)
    found = {"error rate": _rate(wrong, folds), "balanced accuracy": _balanced_accuracy(truth, wrong)}
    if scores is not None and np.unique(truth).size > 1:
        found["AUC"] = _area(truth, scores, folds)
        if are_probabilities:
            likely = np.clip(scores[np.arange(truth.size), truth], LEAST, 1)
            found["log loss"] = _mean(-np.log(likely), folds)
    return found


def number_metrics(
    truth: HostArray, predicted: HostArray, folds: HostArray, unit: float = 1.0
) -> dict[str, Estimate]:
    """Root mean squared error, mean absolute error and R² of numbers.

    Parameters
    ----------
    truth, predicted : numpy.ndarray of shape (n,)
    folds : numpy.ndarray of int, shape (n,)
        Fold in which each row was held out.
    unit : float
        What the errors are multiplied by.
    """
    squares, around = (predicted - truth) ** 2, (truth - truth.mean()) ** 2
    squared, variance = _mean(squares, folds), float(around.mean()) or 1.0
    root, unpredicted = float(np.sqrt(squared.value)), squared.value / variance
    absolute = _mean(np.abs(predicted - truth), folds)
    # Of a ratio: rows far from the mean enlarge the error and the variance alike.
    of_ratio = _mean(squares - unpredicted * around, folds).standard_error / variance
    return {
        "root mean squared error": Estimate(
            unit * root, unit * (squared.standard_error / (2 * root)) if root else 0.0
        ),
        "mean absolute error": Estimate(unit * absolute.value, unit * absolute.standard_error),
        "R²": Estimate(1 - unpredicted, of_ratio),
    }


def _mean(losses: HostArray, folds: HostArray) -> Estimate:
    """Mean over rows; its standard error is that of rows or that of folds, whichever is larger.

    Rows say nothing about how much models of other training rows differ, folds little where they are few.
    """
    of_rows = losses.std() / np.sqrt(losses.size)
    counts = np.bincount(folds)
    means = np.bincount(folds, losses)[counts > 0] / counts[counts > 0]
    of_folds = means.std(ddof=1) / np.sqrt(means.size) if means.size > 1 else 0.0
    return Estimate(float(losses.mean()), float(max(of_rows, of_folds)))


def _rate(wrong: HostArray, folds: HostArray) -> Estimate:
    """Share of wrong predictions, whose standard error is not 0 where there are none."""
    found = _mean(wrong, folds)
    share = (wrong.sum() + 1) / (wrong.size + 2)  # the rule of succession
    return Estimate(found.value, max(found.standard_error, float(np.sqrt(share * (1 - share) / wrong.size))))


def of_overlapping_folds(metrics: dict[str, Estimate], n_tested: int, n_train: int) -> dict[str, Estimate]:
    """Standard errors of the procedure, and not only of the predictions that were tested.

    The models of all folds share most of their training rows, so that their errors differ less than those of
    models of other rows. The variance is enlarged by the factor 1 + tested / training rows (Nadeau and
    Bengio, Inference for the generalization error, Machine Learning 52, 2003).
    """
    factor = np.sqrt(1 + n_tested / n_train)
    return {name: Estimate(one.value, float(factor * one.standard_error)) for name, one in metrics.items()}


def _balanced_accuracy(truth: HostArray, wrong: HostArray) -> Estimate:
    counts = np.bincount(truth)
    present = counts > 0
    right = 1 - np.bincount(truth, wrong)[present] / counts[present]
    variance = right * (1 - right) / counts[present]
    return Estimate(float(right.mean()), float(np.sqrt(variance.sum()) / right.size))


def _area(truth: HostArray, scores: HostArray, folds: HostArray) -> Estimate:
    """Area under the ROC curve, of more than two classes the mean of each against the others."""
    if scores.shape[1] == 2:
        return _area_in_folds(truth == 1, scores[:, 1] - scores[:, 0], folds)
    areas = [_area_in_folds(truth == one, scores[:, one], folds) for one in np.unique(truth)]
    # The standard error of a mean is at most the mean of the standard errors.
    values, errors = zip(*((area.value, area.standard_error) for area in areas), strict=True)
    return Estimate(float(np.mean(values)), float(np.mean(errors)))


def _area_in_folds(positive: HostArray, score: HostArray, folds: HostArray) -> Estimate:
    """The mean over folds, each counting by its pairs of a positive and a negative row.

    Scores of different models are not compared: a constant prediction has an area of exactly 1/2. If no fold
    has rows of both kinds, as with groups of one class each, all rows are compared.
    """
    inside = [folds == fold for fold in np.unique(folds)]
    inside = [rows for rows in inside if 0 < positive[rows].sum() < rows.sum()]
    inside = inside or [np.ones(positive.size, dtype=bool)]
    areas = [_area_of(positive[rows], score[rows]) for rows in inside]
    pairs = np.array([float(positive[rows].sum() * (~positive[rows]).sum()) for rows in inside])
    shares = pairs / pairs.sum()
    values, errors = np.array([(area.value, area.standard_error) for area in areas]).T
    return Estimate(float(shares @ values), float(np.sqrt(shares**2 @ errors**2)))


def _area_of(positive: HostArray, score: HostArray) -> Estimate:
    """By ranks (Mann and Whitney), with the standard error of Hanley and McNeil."""
    n, m = int(positive.sum()), int((~positive).sum())
    area = (rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * m)
    both, other = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (n - 1) * (both - area**2) + (m - 1) * (other - area**2)
    return Estimate(float(area), float(np.sqrt(max(variance, 0.0) / (n * m))))


def standardised(errors: list[Estimate], guesses: list[float]) -> Estimate:
    """Mean over targets of the error over that of a constant prediction."""
    shares = [
        (one.value / guess, one.standard_error / guess) for one, guess in zip(errors, guesses, strict=True)
    ]
    values, parts = zip(*shares, strict=True)
    return Estimate(float(np.mean(values)), float(np.sqrt(np.square(parts).sum()) / len(parts)))
