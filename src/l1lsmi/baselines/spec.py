"""SPEC: features that go along with the spectrum of a graph between rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._base import Selector
from l1lsmi._numerics.ranking import learned_from_scores
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._graphs import leading_shares, neighbour_graph, points_of, roughness, within_class_share


class SPEC(Selector):
    r"""Select features by spectral analysis of a graph between rows.

    Similar rows are linked by similarities :math:`S` with degrees :math:`D`; the normalised Laplacian
    :math:`I - D^{-1/2} S D^{-1/2}` has eigenvalues :math:`0 = \lambda_1 \le \lambda_2 \le \ldots \le 2`,
    and eigenvectors of small ones vary little between similar rows. With :math:`\alpha_j` the cosine of
    :math:`D^{1/2} f` and the j-th eigenvector, a standardised feature :math:`f` is smooth where
    :math:`\varphi_1 = \sum_j \alpha_j^2 \lambda_j` is small, or :math:`\varphi_2 = \varphi_1 / (1 -
    \alpha_1^2)`, or where :math:`\varphi_3 = \sum_{j=2}^{q+1} (2 - \lambda_j) \alpha_j^2` is large.
    Features are scored one by one: neither interactions nor redundancy are seen.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or their share strictly between 0 and 1; None selects half.
    graph : {"supervised", "unsupervised"}, default="supervised"
        What makes rows similar. "supervised" links the rows of a class of size c by 1/c, or each row with
        those nearest in the ranks of a numeric target; "unsupervised" links each row with those nearest in
        all features and needs no target.
    criterion : {"phi1", "phi2", "phi3"}, default="phi3"
        What features are scored by; see above.
    n_eigenvectors : int, default=4
        The number q of eigenvectors that "phi3" looks at, all where there are fewer; the first of all, which
        tells no rows apart, is left out. Not used for classes, where it is their number less 1.
    n_neighbors : int, default=5
        Nearest rows that each row is linked with, all other rows where there are fewer; not used for classes.
    sigma : float or None, default=None
        Width of the similarities :math:`\exp(-d^2 / (2 \sigma^2))` of linked rows, in standard deviations
        of the features or in ranks of the target; None is the median distance of nearest rows. Not used
        for classes.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes labels and up to 20 different whole numbers for classes, all else for a quantity;
        not used if the graph is "unsupervised".

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others by falling score.
    scores_ : ndarray of float, shape (n_features,)
        :math:`-\varphi_1`, :math:`-\varphi_2` or :math:`\varphi_3`, so that higher is better; minus infinity
        for constant features.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    The graph of C classes has C eigenvalues 0 and all others 1. All three criteria then rank features
    alike, by the share of their variance that lies between the classes, as `LaplacianScore` does. In
    any graph "phi2" is the Laplacian score. A graph of more than q pieces has more than q eigenvectors
    with the eigenvalue 0 and no order among them: "phi3" then sums over all of them.

    Where values tie, which of several equally near rows are linked depends on the order of the rows.

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
        **Selector._parameter_constraints,
        "graph": [StrOptions({"supervised", "unsupervised"})],
        "criterion": [StrOptions({"phi1", "phi2", "phi3"})],
        "n_eigenvectors": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "sigma": [Interval(Real, 1e-12, 1e12, closed="both"), None],
        "task": [StrOptions(set(TASKS))],
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
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.graph = graph
        self.criterion = criterion
        self.n_eigenvectors = n_eigenvectors
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.task = task

    def _uses_target(self) -> bool:
        return bool(self.graph == "supervised")

    def _learn(self, table: Table, target: Target | None, k: int) -> dict[str, Any]:
        z = to_numpy(table.take(np.arange(table.n_rows), table.varying))
        if target is not None and target.is_classification:
            scores = self._score_classes(z, target.codes)
        else:
            scores = self._score_graph(z, points_of(z, target))
        return learned_from_scores(scores, table.varying, table.n_columns, k)

    def _score_classes(self, z: HostArray, codes: HostArray) -> HostArray:
        # All degrees are 1 and z is centred: the first cosine is 0, and phi1 is phi2.
        within = within_class_share(z, codes)
        return 2 * (1 - within) if self.criterion == "phi3" else -within

    def _score_graph(self, z: HostArray, points: HostArray) -> HostArray:
        graph = neighbour_graph(points, self.n_neighbors, self.sigma)
        if self.criterion == "phi3":
            return leading_shares(z, graph, self.n_eigenvectors, narrow=points.shape[1] == 1)
        return -roughness(z, graph, centred=self.criterion == "phi2")
