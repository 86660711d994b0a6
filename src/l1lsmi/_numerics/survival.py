r"""Times until an event, some of them censored, as one number per row.

Of a row that was observed until time :math:`t`, with :math:`\delta = 1` where the event happened then and 0
where the row was censored, the number is the martingale residual of the model without features,

.. math:: \delta - \hat H(t), \qquad \hat H(t) = \sum_{t_j \le t} \frac{d_j}{n_j},

where :math:`d_j` of the :math:`n_j` rows that were still observed at the time :math:`t_j` had the event
(Nelson, 1972; Aalen, 1978). It is the number of events beyond what was expected of such a row, has mean 0,
and depends on the features where the hazard does (Therneau, Grambsch and Fleming, 1990).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from l1lsmi._arrays import HostArray


@dataclass(frozen=True)
class CumulativeHazard:
    """The Nelson-Aalen estimate: a step function of time.

    Attributes
    ----------
    times : numpy.ndarray of shape (e,)
        Different times of events, in order.
    values : numpy.ndarray of shape (e,)
        The cumulative hazard from each of them on.
    """

    times: HostArray
    values: HostArray

    @classmethod
    def of(cls, time: HostArray, event: HostArray, row_weights: HostArray | None = None) -> CumulativeHazard:
        """Estimate it; events at the same time are one step.

        Parameters
        ----------
        time : numpy.ndarray of float, shape (n,)
        event : numpy.ndarray of bool, shape (n,)
        row_weights : numpy.ndarray of shape (n,) or None

        Returns
        -------
        CumulativeHazard
        """
        weights = np.ones(time.size) if row_weights is None else row_weights
        times, places = np.unique(time, return_inverse=True)
        leaving = np.bincount(places.ravel(), weights)
        events = np.bincount(places.ravel(), weights * event)
        at_risk = np.cumsum(leaving[::-1])[::-1]
        steps = events > 0
        return cls(times[steps], np.cumsum(events[steps] / at_risk[steps]))

    def at(self, time: HostArray) -> HostArray:
        """The cumulative hazard at some times."""
        return np.concatenate([[0.0], self.values])[np.searchsorted(self.times, time, side="right")]

    def residuals(self, time: HostArray, event: HostArray) -> HostArray:
        """Martingale residuals: events less the cumulative hazard."""
        return np.asarray(event.astype(np.float64) - self.at(time))
