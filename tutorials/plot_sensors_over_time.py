"""
Sensors over time: rows that belong together
============================================

**Question.** Which sensors announce the failure of a machine, and how well do they predict it for a machine
that has never been measured before?

Rows that follow each other in time, or that come from the same machine, are not independent. Both the
selection and the error have to take this into account.
"""

# %%
# The data
# --------
# The data are **simulated**. 60 machines are observed for 200 time steps by 12 sensors. Half of the
# machines have a worn bearing. A worn machine vibrates more under load, a good one when it idles. So
# neither the load nor the strength of the vibration is informative alone. Every sensor also has an offset
# that is specific to the machine, and drifts.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n_machines, n_steps, n_sensors = 60, 200, 12
worn = rng.permutation(np.repeat([True, False], n_machines // 2))
load = (rng.random((n_machines, 5)) < 0.5).repeat(n_steps // 5, axis=1)  # high or low, in turns
signals = rng.normal(size=(n_machines, n_steps, n_sensors))
signals += 3 * rng.normal(size=(n_machines, 1, n_sensors))  # offsets
signals += np.cumsum(rng.normal(scale=0.05, size=(n_machines, n_steps, n_sensors)), axis=1)  # drift
signals[:, :, 0] = 4 * load + rng.normal(size=load.shape)  # the sensor of the load
loud = np.where(load, worn[:, None], ~worn[:, None])  # a good machine vibrates when it idles
signals[:, :, 1] += rng.normal(size=load.shape) * np.where(loud, 0.8, 0)

# %%
# From signals to a table
# -----------------------
# A row is a window of 40 steps of one machine. Its columns are the mean, the standard deviation and the
# trend of every sensor.
windows = signals.reshape(n_machines * 5, 40, n_sensors)
steps = np.arange(40) - 19.5
parts = {
    "mean": windows.mean(axis=1),
    "sd": windows.std(axis=1),
    "trend": np.einsum("wts,t->ws", windows, steps) / (steps**2).sum(),
}
table = pd.DataFrame(
    {f"sensor{j}_{what}": values[:, j] for what, values in parts.items() for j in range(n_sensors)}
)
table = table.rename(columns=lambda name: name.replace("sensor0", "load").replace("sensor1_", "vibration_"))
machine = np.repeat(np.arange(n_machines), 5)
state = np.where(worn[machine], "worn", "good")
print(f"{len(table)} windows of {n_machines} machines, {table.shape[1]} columns")

# %%
# Select, with machines kept together
# -----------------------------------
# With ``groups``, the windows of a machine are never split between rows that a search sees and rows that
# judge its result.
from l1lsmi import L1LSMI

selector = L1LSMI("auto", random_state=0).fit(table, state, groups=machine)
selected = list(selector.get_feature_names_out())
print("selected:", *selected)
print(f"p-value:  {selector.p_value_:.1e}")

# %%
# Which features?
# ---------------
# The two columns act together. Alone, each has the same distribution for both states.
figure, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
for name, colour in (("good", "tab:blue"), ("worn", "tab:orange")):
    rows = table[state == name]
    ax.scatter(rows["load_mean"], rows["vibration_sd"], color=colour, s=12, label=name)
ax.set(xlabel="mean of the load", ylabel="standard deviation of the vibration")
_ = ax.legend(frameon=False)

# %%
# The honest error
# ----------------
# The question is about a *new* machine. So a machine must be either in the training rows or in the test
# rows. Random folds break this rule: the offsets identify the machine, and its state is known from the
# training rows. The error of a model with all columns then looks better than it is.
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

forest = RandomForestClassifier(200, random_state=0)
errors = {}
for way, folds in (
    ("random folds", StratifiedKFold(5, shuffle=True, random_state=0)),
    ("folds by machine", StratifiedGroupKFold(5, shuffle=True, random_state=0)),
):
    wrong = {"all columns": [], "selected columns": []}
    groups = machine if isinstance(folds, StratifiedGroupKFold) else None
    for train, test in folds.split(table, state, groups):
        search = L1LSMI(len(selected), p_value=False, random_state=0)
        search.fit(table.iloc[train], state[train], groups=machine[train])
        for what, columns in (("all columns", slice(None)), ("selected columns", search.support_)):
            model = clone(forest).fit(table.iloc[train].loc[:, columns], state[train])
            wrong[what].append(1 - model.score(table.iloc[test].loc[:, columns], state[test]))
    errors[way] = {what: np.mean(values) for what, values in wrong.items()}
print(pd.DataFrame(errors).round(3).to_string())

# %%
# The error to report is the last number of the second row: selected columns, folds by machine.
#
# What next
# ---------
# - :doc:`/tasks_and_targets`: groups in every part of the package.
# - If the question is about the *future* of the same machines, split by time instead, with
#   ``sklearn.model_selection.TimeSeriesSplit``.
# - :doc:`/interactions`: how to find and to show columns that act together.
