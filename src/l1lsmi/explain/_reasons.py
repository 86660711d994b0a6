"""The reason why a feature was not selected, as a category and as a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from l1lsmi._arrays import HostArray
from l1lsmi.explain._noise_level import noise_levels
from l1lsmi.explain._pairwise import copied
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.explain.score_by_size import best_subset

#: Factor on the noise level, because five permutations do not show its maximum.
NOISE_FACTOR = 1.5
#: A smaller gain, as a share of the score, is a better estimate rather than more information.
MIN_GAIN = 0.05
#: A feature replaces a selected one only where their SMI is at least this.
MIN_SHARED = 0.1
#: A feature adds nothing to another where it adds less than this share of its score alone.
MIN_ADDED = 0.1
#: Two features carry the same information where their dependence is at least that of two normal features
#: which explain half of each other's variance: SMI 1/2, squared correlation 1/2.
SAME_SMI, SAME_CORRELATION = 0.5, 0.5**0.5


@dataclass(frozen=True)
class Reasons:
    """Thresholds of a selection, and the set to which features would be added."""

    scorer: SubsetScorer
    core: HostArray
    noise: float
    gain_noise: float

    @classmethod
    def measure(cls, scorer: SubsetScorer) -> Reasons:
        """Measure the thresholds on the data."""
        core = best_subset(scorer)
        alone, gain = noise_levels(scorer, core)
        gain_noise = max(NOISE_FACTOR * gain, MIN_GAIN * scorer.score(core))
        return cls(scorer, core, NOISE_FACTOR * alone, gain_noise)

    def gain(self, column: int) -> float:
        """How much the score of the set increases with a column."""
        return self.scorer.score((*self.core, column)) - self.scorer.score(self.core)

    def explain(self, column: int, nearest: int, smi: float, correlation: float) -> tuple[str, str]:
        """Category and sentence for a column, given its dependence on the nearest selected feature."""
        name, gain = self.scorer.names[column], self.gain(column)
        if gain > self.gain_noise:
            return "adds", f"{name} would add {gain:.3f} to the score of {self._core_name()}."
        kind, why = self._no_gain(column, nearest, smi, correlation)
        return kind, f"{name} is not selected because {why}."

    def _no_gain(self, column: int, nearest: int, smi: float, correlation: float) -> tuple[str, str]:
        other, alone = self.scorer.names[nearest], self.scorer.score((column,))
        is_same = smi >= SAME_SMI or correlation >= SAME_CORRELATION
        shared = _dependence(smi, correlation)
        if alone <= self.noise:
            if smi < MIN_SHARED or not self._replaces(column, nearest):
                one, level = _score(alone), _score(self.noise)
                if one == level:  # to the digits that are shown
                    return "silent", "its score alone does not exceed the noise level"
                return "silent", f"its score alone, {one}, does not exceed the noise level, {level}"
            if is_same:
                return "redundant", f"{other} carries the same information and more {shared}"
            return "redundant", f"{other} adds the same information to the other features of the set {shared}"
        same = copied(self.scorer.table, column, nearest, correlation)
        if same is not None:
            return "redundant", f"{same} {other}"
        added = self.scorer.score((nearest, column)) - self.scorer.score((nearest,))
        if added > max(self.gain_noise, MIN_ADDED * alone):
            return "redundant", (
                f"the selected features together carry its information (score alone {alone:.3f})"
                + (f"; the nearest is {other} {shared}" if smi >= MIN_SHARED else "")
            )
        if is_same:
            return "redundant", f"{other} carries the same information {shared}"
        shared = f" {shared}" if smi >= MIN_SHARED else ""
        return "redundant", f"it adds no information about the target to {other}{shared}"

    def _replaces(self, column: int, member: int) -> bool:
        """Whether a column adds to the score of the set without one of its members."""
        others = self.core[self.core != member]
        added = self.scorer.score((*others, column)) - self.scorer.score(others)
        return others.size < self.core.size and added > self.gain_noise

    def _core_name(self) -> str:
        if self.core.size == self.scorer.selected.size:
            return "the set"
        return f"the best {self.core.size} of the selected features"


def _dependence(smi: float, correlation: float) -> str:
    """How two features depend on each other, by the number that says more."""
    if smi < SAME_SMI and correlation >= SAME_CORRELATION:
        return f"(correlation of the two {correlation:.2f})"
    return f"(SMI between the two {smi:.2f})"


def _score(value: float) -> str:
    """A score with three decimals, or with one digit where these are all 0."""
    rounded = round(value, 3) + 0.0
    return f"{rounded:.3f}" if rounded or value <= 0 else f"{value:.1g}"
