"""
Several targets
===============

One set of features can be selected for several targets: numbers, classes, or both. A target can also be times
until an event, some of them censored.
"""

# %%
# Two targets of diabetes patients
# --------------------------------
# The targets are how the disease progresses within a year, and whether the blood pressure is high. Each
# target alone gives other columns; for both together, one set is selected.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from l1lsmi import L1LSMI
from l1lsmi.plots import WeightsDisplay

patients = load_diabetes(as_frame=True, scaled=False)
X = patients.data.drop(columns="bp")
targets = pd.DataFrame({"progression": patients.target, "pressure": patients.data["bp"] > 100})
for name in targets:
    print(f"{name}:", *L1LSMI(3, p_value=False).fit(X, targets[name]).get_feature_names_out())
both = L1LSMI(4, p_value=False).fit(X, targets)
print("both:", *both.get_feature_names_out())

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
WeightsDisplay.from_estimator(both, ax=ax)
_ = ax.set_xlabel("weight for both targets")

# %%
# Times until an event
# --------------------
# As in scikit-survival, a structured array has events and times: here the time is 400 minus the score of
# the disease, and it is censored for three in ten patients. The times become martingale residuals.
rng = np.random.default_rng(0)
survival = np.zeros(len(X), dtype=[("event", bool), ("time", float)])
survival["time"] = 400 - patients.target
survival["event"] = rng.random(len(X)) > 0.3
survival["time"][~survival["event"]] *= rng.uniform(0.3, 1, size=(~survival["event"]).sum())
print("survival:", *L1LSMI(3, p_value=False).fit(X, survival).get_feature_names_out())
