"""The Laplacian score: features that vary little between similar rows (He, Cai and Niyogi, 2005)."""

from __future__ import annotations

from typing import Any

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi.baselines._columns import Scorer
from l1lsmi.baselines._graph_selector import GraphSelector
from l1lsmi.baselines._graphs import (
    graph_coordinates,
    neighbour_graph,
    rayleigh_quotients,
    within_class_variance,
)


class LaplacianScore(GraphSelector):
    r"""Select features by the Laplacian score of a similarity graph of the rows.

    The graph has weights :math:`S`, degrees :math:`D` and the Laplacian :math:`L = D - S`. With
    :math:`\tilde f` a feature minus its mean weighted by the degrees, the score of the feature is
    :math:`L_r = \tilde f^\top L \tilde f / \tilde f^\top D \tilde f`, which is small if similar rows have
    similar values. Features are scored one by one: neither interactions nor
    redundancy are detected.

    A category counts as one 0/1 column for each level; its score is the sum of their numerators over the sum
    of their denominators. A missing value counts as the mean. With a target, a category of more than 40
    levels is first encoded as a number.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or a fraction of all features strictly between 0 and 1; None selects half.
    graph : {"supervised", "unsupervised"}, default="supervised"
        "supervised" connects the rows of a class of size c with weight 1/c, or each row with its nearest
        neighbours in the ranks of a numeric target; "unsupervised" connects each row with its nearest
        neighbours in all features and needs no target.
    n_neighbors : int, default=5
        Number of nearest neighbours of each row, all other rows if there are fewer; not used for classes.
    sigma : float or None, default=None
        Width of the weights :math:`\exp(-d^2 / (2 \sigma^2))` of neighbours, in standard deviations of the
        features or in ranks of the target; None is the median distance of neighbours. Not used for classes.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" treats labels and up to 20 distinct integers as classes, everything else as a numeric target;
        not used if the graph is "unsupervised". With several targets, the task of each target is decided
        separately. "survival" takes times until an event, some of them censored, as a structured array or as
        columns (time, event), and uses their martingale residuals.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that are categories: names, indices or a mask. "from_dtype" takes columns of text and of
        categorical types.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others by decreasing score.
    scores_ : ndarray of float, shape (n_features,)
        :math:`-L_r`, from -2 to 0, higher is better; minus infinity for constant features.
    warnings_ : list of str
        Warnings about the data, one sentence each: for instance about columns that give away the target,
        columns that only number the rows, or copies of other columns. `fit` issues them as one warning.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    With classes, :math:`L_r` is the fraction of the variance of a feature that is within the classes: the
    ranking is that of the Fisher score and of one-way analysis of variance.

    Which of several equidistant rows are neighbours depends on the order of the rows.

    References
    ----------
    X. He, D. Cai and P. Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.baselines import LaplacianScore
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> y = X[:, 2] + X[:, 5] > 0
    >>> LaplacianScore(2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        graph: str = "supervised",
        n_neighbors: int = 5,
        sigma: float | None = None,
        task: str = "auto",
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.task = task
        self.categorical_features = categorical_features

    def _scorer(self, table: Table, target: Target | None, weights: HostArray | None) -> Scorer:
        if target is not None and target.is_classification:
            codes = target.codes
            return lambda z, widths: -within_class_variance(z, codes, weights, widths)
        graph = neighbour_graph(graph_coordinates(table, target), self.n_neighbors, self.sigma, weights)
        return lambda z, widths: -rayleigh_quotients(z, graph, True, widths)
