"""SPEC: features that are smooth on a similarity graph of the rows (Zhao and Liu, 2007)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi.baselines._columns import Scorer
from l1lsmi.baselines._graph_selector import GraphSelector
from l1lsmi.baselines._graphs import (
    graph_coordinates,
    neighbour_graph,
    rayleigh_quotients,
    spectral_scorer,
    within_class_variance,
)


class SPEC(GraphSelector):
    r"""Select features by spectral analysis of a similarity graph of the rows.

    The graph has weights :math:`S` and degrees :math:`D`; its normalised Laplacian
    :math:`I - D^{-1/2} S D^{-1/2}` has eigenvalues :math:`0 = \lambda_1 \le \lambda_2 \le \ldots \le 2`,
    and eigenvectors of small eigenvalues vary little between similar rows. With :math:`\alpha_j` the cosine
    of :math:`D^{1/2} f` and the j-th eigenvector, a standardised feature :math:`f` is smooth if
    :math:`\varphi_1 = \sum_j \alpha_j^2 \lambda_j` is small, or :math:`\varphi_2 = \varphi_1 / (1 -
    \alpha_1^2)`, or if :math:`\varphi_3 = \sum_{j=2}^{q+1} (2 - \lambda_j) \alpha_j^2` is large. Features are
    scored one by one: neither interactions nor redundancy are detected. The score for several targets is the
    mean over them.

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
    criterion : {"phi1", "phi2", "phi3"}, default="phi3"
        The score of a feature; see above.
    n_eigenvectors : int, default=4
        Number q of eigenvectors that "phi3" uses after the first one, which is trivial; all of them if there
        are fewer. Not used for classes, where q is the number of classes minus 1.
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
        :math:`-\varphi_1`, :math:`-\varphi_2` or :math:`\varphi_3`, so that higher is better; minus infinity
        for constant features.
    warnings_ : list of str
        Warnings about the data, one sentence each: for instance about columns that give away the target,
        columns that only number the rows, or copies of other columns. `fit` issues them as one warning.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    The graph of C classes has C eigenvalues 0 and all others 1. All three criteria then give the same
    ranking, by the fraction of the variance that is between the classes, as `LaplacianScore` does. In
    any graph "phi2" is the Laplacian score. A graph with more than q connected components has more than q
    eigenvectors with the eigenvalue 0, whose order is arbitrary: "phi3" then sums over all of them.

    Which of several equidistant rows are neighbours depends on the order of the rows.

    References
    ----------
    Z. Zhao and H. Liu, "Spectral feature selection for supervised and unsupervised learning", ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.baselines import SPEC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> y = X[:, 2] + X[:, 5] > 0
    >>> SPEC(2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "criterion": [StrOptions({"phi1", "phi2", "phi3"})],
        "n_eigenvectors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        graph: str = "supervised",
        criterion: str = "phi3",
        n_eigenvectors: int = 4,
        n_neighbors: int = 5,
        sigma: float | None = None,
        task: str = "auto",
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.graph = graph
        self.criterion = criterion
        self.n_eigenvectors = n_eigenvectors
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.task = task
        self.categorical_features = categorical_features

    def _scorer(self, table: Table, target: Target | None, weights: HostArray | None) -> Scorer:
        if target is not None and target.is_classification:
            codes = target.codes
            return lambda z, widths: self._score_classes(z, codes, weights, widths)
        points = graph_coordinates(table, target)
        graph = neighbour_graph(points, self.n_neighbors, self.sigma, weights)
        if self.criterion == "phi3":
            return spectral_scorer(graph, self.n_eigenvectors, banded=points.shape[1] == 1)
        return lambda z, widths: -rayleigh_quotients(z, graph, self.criterion == "phi2", widths)

    def _score_classes(
        self, z: HostArray, codes: HostArray, weights: HostArray | None, widths: HostArray | None
    ) -> HostArray:
        # All degrees are 1 and z is centred: the first cosine is 0, and phi1 is phi2.
        within = within_class_variance(z, codes, weights, widths)
        return 2 * (1 - within) if self.criterion == "phi3" else -within
