"""How well a model predicts with the selected features, in sentences that terminal and report share."""

from __future__ import annotations

import math

from l1lsmi.evaluation._metrics import Estimate
from l1lsmi.evaluation.selection_scores import ALL, NONE, SELECTED, SelectionScores

#: Metrics that are shares, shown in percent.
SHARES = ("error rate", "balanced accuracy")
#: Metrics beside the error that a sentence tells.
BESIDE = ("balanced accuracy", "AUC", "R²")


#: R² above which features may have been computed from the target.
NEARLY_EXACT = 0.995


def shown(estimate: Estimate, metric: str) -> str:
    """An estimate with its standard error, as in "8.4 ± 2.1 %".

    Examples
    --------
    >>> from l1lsmi.evaluation import Estimate
    >>> from l1lsmi.evaluation._words import shown
    >>> shown(Estimate(0.0837, 0.0214), "error rate"), shown(Estimate(1234.5, 67.8), "mean absolute error")
    ('8.4 ± 2.1 %', '1230 ± 70')
    """
    factor, unit = (100, " %") if metric in SHARES else (1, "")
    value, error = factor * estimate.value, factor * estimate.standard_error
    if not math.isfinite(value):
        return "unknown"
    # Two digits of the standard error, of one that begins with a large digit one.
    least = error if error > 0 else abs(value) / 10 or 1.0
    digits = -math.floor(math.log10(least)) + (1 if f"{least:e}"[0] in "123" and error > 0 else 0)
    decimals = max(0, digits)
    value, error = round(value, digits) + 0.0, round(error, digits)
    return f"{value:.{decimals}f} ± {error:.{decimals}f}{unit}"


def model_sentences(scores: SelectionScores, n_features: int) -> list[str]:
    """The error of a model with the selected features, with all, with those of the best rival, and with none.

    If all features, or those of the rival, are clearly better, a sentence says so.

    Parameters
    ----------
    scores : SelectionScores
    n_features : int
        Number of all features.
    """
    metric = scores.metric
    found = {name: one.metrics[metric] for name, one in scores.sets.items() if one.metrics}
    others = []
    if ALL in found:
        others.append(f"with all {n_features:,} features {shown(found[ALL], metric)}")
    rival = scores.best_rival
    if rival is not None:
        others.append(f"with the features of {rival} {shown(found[rival], metric)}")
    if NONE in found:
        others.append(f"without features {shown(found[NONE], metric)}")
    article = "an" if metric[0] in "aeiou" else "a"
    model = scores.model[:1].upper() + scores.model[1:]
    told = [
        f"{model} with the selected features has {article} {metric} of {shown(found[SELECTED], metric)} on "
        f"held-out rows; {', '.join(others)}."
    ]
    beside = {name: one for name, one in scores.sets[SELECTED].metrics.items() if name in BESIDE}
    if beside:
        parts = [f"{name} is {shown(one, name)}" for name, one in beside.items()]
        told.append(f"With the selected features, {' and '.join(parts)}.")
    # Of a rare class, nothing else may be predicted by the best model either, whose AUC is high.
    worse = NONE in found and found[SELECTED].value >= found[NONE].value
    if worse and _clearly_better(scores, SELECTED, NONE) is None:
        told.append("In held-out rows, this model is no better with the selected features than without any.")
    exact = scores.sets[SELECTED].metrics.get("R²")
    if exact is not None and exact.value > NEARLY_EXACT:
        told.append("The target is predicted nearly exactly: check that no feature is computed from it.")
    better = _clearly_better(scores, ALL)
    if better is not None:
        told.append(f"With all {n_features:,} features, {better}: more features may be needed.")
    better = None if rival is None else _clearly_better(scores, rival)
    if better is not None:
        told.append(f"With the features of {rival}, {better}.")
    return told


def _clearly_better(scores: SelectionScores, name: str, than: str = SELECTED) -> str | None:
    """The first metric by which a set of features is clearly better than another, in words.

    That is by more than two standard errors of the difference of independent estimates. Those of the same
    rows mostly vary together, so that their difference varies less.
    """
    if name not in scores.sets:
        return None
    base, other = scores.sets[than].metrics, scores.sets[name].metrics
    for metric in (scores.metric, *BESIDE):
        if metric not in base or metric not in other:
            continue
        gain = other[metric].value - base[metric].value
        gain = -gain if metric == scores.metric else gain
        if gain > 2 * math.hypot(base[metric].standard_error, other[metric].standard_error):
            if metric == scores.metric:  # the first sentence has its value
                return f"the {metric} is clearly lower"
            return f"the {metric} is clearly higher, {shown(other[metric], metric)}"
    return None


def how_tested(scores: SelectionScores) -> str:
    """Which rows were held out, in one sentence."""
    if scores.n_folds == 1:
        return (
            f"Features are selected and the model is fitted on {scores.n_train:,} rows, and tested on "
            f"{scores.n_tested:,} others."
        )
    return (
        f"In each of {scores.n_folds} folds, features are selected and the model is fitted without the rows "
        f"of the fold; all {scores.n_tested:,} rows are tested once. ± is one standard error."
    )
