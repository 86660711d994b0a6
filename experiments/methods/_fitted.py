"""Helpers of the method files: the selected columns of a fitted selector, the best first."""

from __future__ import annotations

from typing import Any

import numpy as np

#: With more columns the paper does not run its forward searches.
MOST_FORWARD_COLUMNS = 200


def too_wide(problem: Any) -> str | None:
    """Why a forward search is not run on a dataset, or None."""
    if problem.n_features <= MOST_FORWARD_COLUMNS:
        return None
    return f"left out for its cost, as in the paper, where there are more than {MOST_FORWARD_COLUMNS} columns"


def chosen(selector: Any, X: Any, y: Any) -> list[int]:
    """Selected columns in ascending order."""
    return selector.fit(X, y).get_support(indices=True).tolist()


def by_score(selector: Any, X: Any, y: Any) -> list[int]:
    """Selected columns by decreasing score; ties in ascending order."""
    columns = np.array(chosen(selector, X, y))
    return columns[np.argsort(-selector.scores_[columns], kind="stable")].tolist()


def by_step(selector: Any, X: Any, y: Any) -> list[int]:
    """Columns selected by a forward search, in the order in which they were added."""
    columns = chosen(selector, X, y)
    added = [step.feature for step in selector.path_ if step.feature is not None]
    # Constant columns are added last.
    return [*added, *(column for column in columns if column not in added)]
