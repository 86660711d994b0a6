"""From scores to features."""

import numpy as np
import pytest

from l1lsmi._numerics.ranking import first_best


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([0.1, 0.3, 0.3 + 1e-13, 0.2], 1),  # equal but for the order of summation
        ([0.1, 0.3, 0.3 + 1e-6, 0.2], 2),
        ([-9.592518045e-8, -9.592518005e-8], 0),  # without dependence, by an iterative fit
        ([np.nan, -np.inf, -3.0], 2),
        ([np.nan, np.nan], 0),
    ],
)
def test_of_equal_scores_the_first_is_best(scores, best):
    assert first_best(np.array(scores)) == best


def test_of_equal_scores_the_lowest_column_is_best():
    assert first_best(np.array([0.3, 0.1, 0.3 + 1e-13]), np.array([7, 1, 4])) == 2
