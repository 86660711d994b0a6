"""Displays of a fitted selector with matplotlib (``pip install 'l1lsmi[plot]'``).

They work like the displays of scikit-learn. ``Display.from_estimator(selector, ...)`` computes the numbers
from a fitted selector, and draws them. The constructor takes numbers that are already computed, for example
by `l1lsmi.explain`; each call of ``plot(ax)`` draws them. ``from_estimator`` and ``plot`` draw on the given
axes, or on the axes of a new figure. The axes are stored as ``ax_``, their figure as ``figure_``, and what
was drawn in further attributes. Colours follow the background, light or dark. No display calls ``plt.show``
or changes ``rcParams``.
"""

from l1lsmi.plots.bars import ContributionsDisplay, FrequencyDisplay, WeightsDisplay
from l1lsmi.plots.matrices import InteractionsDisplay, RedundancyDisplay
from l1lsmi.plots.pair import PairDisplay
from l1lsmi.plots.path import SelectionPathDisplay
from l1lsmi.plots.score_by_size import ScoreBySizeDisplay

__all__ = [
    "ContributionsDisplay",
    "FrequencyDisplay",
    "InteractionsDisplay",
    "PairDisplay",
    "RedundancyDisplay",
    "ScoreBySizeDisplay",
    "SelectionPathDisplay",
    "WeightsDisplay",
]
