"""Plots of a fitted selector with matplotlib (``pip install 'l1lsmi[plot]'``).

Each function draws on the given axes, or on those of a new figure, and returns them. No function calls
``plt.show`` or changes ``rcParams``.
"""

from l1lsmi.plots.path import plot_path
from l1lsmi.plots.scores import plot_interactions, plot_score_by_k, plot_weights

__all__ = ["plot_interactions", "plot_path", "plot_score_by_k", "plot_weights"]
