"""What unseen rows say about a selection, in sentences that the command line and the report share.

Unseen rows are rows that the search has not seen: see `l1lsmi.strategies.validation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._warnings import Sentence, column_parts
from l1lsmi.explain._fitted import selected_columns
from l1lsmi.explain.contributions import Contributions
from l1lsmi.selectors._combined import EVIDENCE, NO_EVIDENCE, NO_FEATURES
from l1lsmi.strategies.judged import Validation
from l1lsmi.strategies.selection import StopReason
from l1lsmi.strategies.validation import STRONG_EVIDENCE

#: Smaller p-values are not told apart.
LEAST_P_VALUE = 1e-4
UNSEEN = "in rows that the search has not seen"
#: How warnings begin that say the same as `evidence`.
WARNINGS = tuple(warning.split(":")[0] for warning in (NO_EVIDENCE, NO_FEATURES))


def is_automatic(selector: Any) -> bool:
    """Whether a selector chooses the number of features."""
    return isinstance(number := getattr(selector, "n_features_to_select", None), str) and number == "auto"


def curve_of(selector: Any) -> Validation | None:
    """The validation of a fitted selector where it compares several numbers of features, else None."""
    validation: Validation | None = getattr(selector, "validation_", None)
    return None if validation is None or np.count_nonzero(validation.k) < 2 else validation


def has_evidence(selector: Any) -> bool | None:
    """Whether there is evidence that the target depends on the features; None where nothing is known."""
    p_value = getattr(selector, "p_value_", None)
    return None if p_value is None else bool(p_value <= EVIDENCE)


def evidence(selector: Any) -> str | None:
    r"""One sentence on whether the selected features predict the target; None where nothing is known.

    Parameters
    ----------
    selector : fitted selector

    Returns
    -------
    sentence : str or None

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain._evidence import evidence
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> print(evidence(L1LSMI(1).fit(X, X[:, 1] > 0)).replace(", ", ",\n"))
    In rows that the search has not seen,
    this feature predicts 98 % of the variation of the target (p < 0.0001).
    """
    p_value = getattr(selector, "p_value_", None)
    if p_value is None:
        return None
    validation: Validation | None = getattr(selector, "validation_", None)
    n_selected = selected_columns(selector).size
    p = _p_text(p_value)
    if n_selected == 0:
        return _why_empty(p_value, p)
    these = "this feature predicts" if n_selected == 1 else "these features predict"
    if not has_evidence(selector):
        return f"There is no evidence that {these} the target: {UNSEEN}, {p}."
    if validation is None:
        return f"The effects in all rows are clear evidence that the target depends on the features ({p})."
    share = validation.mean[_place(validation, n_selected)]
    if share <= 0:
        return (
            f"{_capital(UNSEEN)}, predictions agree with the target ({p}), but their errors are not "
            "smaller than without features."
        )
    return f"{_capital(UNSEEN)}, {these} {percent(share)} of the variation of the target ({p})."


def how_many(selector: Any) -> str | None:
    """How the number of features was chosen, in one sentence; None where it was given, or none are selected.

    Parameters
    ----------
    selector : fitted selector

    Returns
    -------
    sentence : str or None
    """
    n_selected = selected_columns(selector).size
    if not is_automatic(selector) or n_selected == 0:
        return None
    validation: Validation | None = selector.validation_
    if validation is None:
        return (
            "The search was stopped before it chose a number of features: the largest number that it "
            "considered is selected."
        )
    top, own = int(validation.mean.argmax()), _place(validation, n_selected)
    largest = int(validation.k[top])
    if largest == n_selected and getattr(selector, "stop_reason_", None) == StopReason.ALL_CHOSEN:
        return None  # the stop reason says how
    if largest == n_selected:
        return "No other number of features that was tried predicts more."
    return (
        f"{_capital(_count(largest))} predict most, {_share(validation, top)}; {n_selected:,} "
        f"{'predicts' if n_selected == 1 else 'predict'} nearly as much, {_share(validation, own)}."
    )


def told_dispensable(selector: Any, contributions: Contributions | None) -> str | None:
    """Which of a given number of features are not needed, and what to do; None where all are needed.

    Parameters
    ----------
    selector : fitted selector
    contributions : Contributions or None

    Returns
    -------
    sentence : str or None

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import contributions
    >>> from l1lsmi.explain._evidence import told_dispensable
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> selector = L1LSMI(2, random_state=0).fit(X, X[:, 1] > 0)
    >>> print(told_dispensable(selector, contributions(selector, X, X[:, 1] > 0)).split(":")[0])
    Without 'x3', the other feature predicts held-out rows better
    """
    found = None if contributions is None else contributions.dispensable
    # A number that unseen rows chose is explained by `how_many`.
    if contributions is None or found is None or contributions.share <= 0:
        return None
    if is_automatic(selector) or has_evidence(selector) is False:
        return None
    n_left, n_found = contributions.columns.size - len(found.names), len(found.names)
    others = "the other feature predicts" if n_left == 1 else f"the other {n_left:,} features predict"
    how = "better" if found.lost < -found.standard_error else "about as well"
    it = "it contributes" if n_found == 1 else "together they contribute"
    contributed = f"{_tenths(found.lost)} ± {_tenths(found.standard_error)} %"
    # Selectors that judge sets by unseen rows can also choose their number.
    advice = ', or "auto",' if hasattr(selector, "p_value_") else ""
    names = Sentence(column_parts(range(n_found), noun=False), found.names)
    return (
        f"Without {names}, {others} held-out rows {how}: {it} {contributed}. A smaller number of "
        f"features{advice} may be enough."
    )


def _tenths(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:.1f}"


def _share(validation: Validation, place: int) -> str:
    return f"{100 * validation.mean[place]:.1f} %"


def told_stop_reason(selector: Any) -> str | None:
    """Why the search ended, where that says something about the selection, and what it was limited to."""
    reason: str | None = getattr(selector, "stop_reason_", None)
    # Why there are no features is said by `evidence`.
    if reason is None or (is_automatic(selector) and reason == StopReason.NO_EVIDENCE):
        return None
    validation: Validation | None = getattr(selector, "validation_", None)
    if validation is None or validation.best_pool == validation.pool[-1]:
        return reason
    less = f"{UNSEEN.replace('the search', 'it')}, sets from all features predict less."
    if reason == StopReason.WHOLE_POOL:
        return f"{reason} {_capital(less)}"
    largest = f"the {validation.best_pool:,} features with the largest effects of their own"
    return f"{reason} The search was limited to {largest}: {less}"


def told_left_out(left_out: list[str]) -> list[str]:
    """What there was no time for, in a sentence; none where that is nothing."""
    return [f"Left out because of the time limit: {' and '.join(left_out)}."] if left_out else []


def percent(share: float) -> str:
    """A share in percent, as in "83 %"."""
    rounded = f"{100 * share:.0f}"
    return f"{rounded} %" if rounded not in ("0", "-0") or share == 0 else f"{100 * share:.1g} %"


def _why_empty(p_value: float, p: str) -> str:
    if p_value > EVIDENCE:
        return f"No features are selected: there is no evidence that any predict the target ({UNSEEN}, {p})."
    if p_value >= STRONG_EVIDENCE:
        return (
            f"No features are selected: the evidence that any predict the target is weak ({UNSEEN}, {p}, and "
            f"p < {STRONG_EVIDENCE:g} is required)."
        )
    return (
        f"No features are selected: {UNSEEN}, no set of features has clearly smaller errors than no "
        f"features ({p})."
    )


def _p_text(p_value: float) -> str:
    return f"p < {LEAST_P_VALUE:.4f}" if p_value < LEAST_P_VALUE else f"p = {p_value:.2g}"


def _place(validation: Validation, n_selected: int) -> int:
    """The largest size that was judged and is no larger than the set, which may have constant columns."""
    return int(np.flatnonzero(validation.k <= n_selected)[-1])


def _count(n: int) -> str:
    return f"{n:,} feature{'' if n == 1 else 's'}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
