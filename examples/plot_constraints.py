"""
Constraints
===========

Constraints are columns that must be selected or must not, columns that go together, and a budget for the
costs of columns.
"""

# %%
# Groups of columns
# -----------------
# A table of tumours has ten measurements, each with its mean, its standard error and its worst value. A
# device that measures one of them gives all three: the columns of a measurement are in or out together.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from l1lsmi import L1LSMI

data = load_breast_cancer(as_frame=True)
data.data, data.target = data.data[:200], data.target[:200]
measurement = [name.replace("mean ", "").replace(" error", "").replace("worst ", "") for name in data.data]
together = L1LSMI(2, feature_groups=measurement, p_value=False).fit(data.data, data.target)
print("two measurements:", *together.get_feature_names_out(), sep="\n  ")

# %%
# At most one column of each measurement, and none of the errors
# --------------------------------------------------------------
errors = [name for name in data.data if name.endswith("error")]
single = L1LSMI(
    3,
    feature_groups=measurement,
    max_per_group=1,
    must_exclude=errors,
    must_include=["mean texture"],
    p_value=False,
).fit(data.data, data.target)
print("three columns:", *single.get_feature_names_out(), sep="\n  ")

# %%
# A budget
# --------
# Say that a worst value costs 3 and everything else 1. The output shows the sets for several budgets, the
# plot how well they predict the diagnosis.
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

costs = {name: 3.0 if name.startswith("worst") else 1.0 for name in data.data}
budgets, accuracy = [2, 4, 6], []
for budget in budgets:
    chosen = L1LSMI(costs=costs, budget=budget, p_value=False).fit(data.data, data.target)
    model = make_pipeline(StandardScaler(), SVC())
    accuracy.append(cross_val_score(model, chosen.transform(data.data), data.target, cv=5).mean())
    print(f"budget {budget}:", ", ".join(chosen.get_feature_names_out()))
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(budgets, np.array(accuracy), marker="o")
_ = ax.set(xlabel="budget", ylabel="accuracy, five folds")
