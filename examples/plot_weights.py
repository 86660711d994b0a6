"""
Weights of rows
===============

A row of weight 2 counts as two copies of it. Weights make a sample look like the population that it was drawn
from, or a rare class as important as the others.
"""

# %%
# A weight counts as copies
# -------------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from l1lsmi import L1LSMI
from l1lsmi.plots import PairDisplay

wines = load_wine()
weights = np.random.default_rng(0).integers(0, 3, size=len(wines.target))
weighted = L1LSMI(3, p_value=False).fit(wines.data, wines.target, sample_weight=weights)
copies = L1LSMI(3, p_value=False).fit(
    np.repeat(wines.data, weights, axis=0), np.repeat(wines.target, weights)
)
print("weighted:", *np.array(wines.feature_names)[weighted.support_])
print("copies:  ", *np.array(wines.feature_names)[copies.support_])
print("difference of the estimates:", abs(weighted.smi_ - copies.smi_))

# %%
# A rare class
# ------------
# Only ten bottles of the third wine are kept. With ``class_weight="balanced"`` all three wines have the same
# sum of weights, and columns that tell the third wine from the others have more influence.
rare = np.flatnonzero((wines.target != 2) | (np.cumsum(wines.target == 2) <= 10))
X, y = wines.data[rare], wines.target[rare]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, how in zip(axes, (None, "balanced"), strict=True):
    selector = L1LSMI(2, class_weight=how, p_value=False).fit(X, y)
    names = wines.feature_names
    display = PairDisplay.from_estimator(selector, X, y, feature_names=names, target_name="wine", ax=ax)
    print(f"class_weight={how!r}:", *display.names)
    ax.set_title(f"class_weight={how!r}")
