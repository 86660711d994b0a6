"""
Credit risk: categories, missing values and a rare class
========================================================

**Question.** Which of the entries in an application form say whether a loan will not be repaid, and how well
do a few of them predict it?

The table has numbers, text, missing values, and a column that must not be used. No column is encoded
and no value is imputed before the selection.
"""

# %%
# The data
# --------
# The table is **simulated**, so that the right answer is known. Whether a loan defaults depends on the rate
# (instalment as a share of the income), on the purpose together with the kind of employment, and on whether
# the savings are stated at all. About one loan in eight defaults.
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
n = 1500
loans = pd.DataFrame(
    {
        "age": rng.integers(20, 70, n),
        "income": rng.lognormal(8, 0.4, n).round(),
        "purpose": rng.choice(["car", "house", "business", "education"], n),
        "employment": rng.choice(["employee", "self-employed", "civil servant"], n, p=[0.5, 0.3, 0.2]),
        "region": rng.choice([f"region {letter}" for letter in "ABCDEFGH"], n),
        "rate": rng.beta(2, 6, n),
        "savings": rng.lognormal(7, 1, n).round(),
        "accounts": rng.poisson(2, n),
        "phone": rng.choice(["yes", "no"], n),
        "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D"),
    }
)
silent = rng.random(n) < 0.25
loans.loc[silent, "savings"] = np.nan
loans.loc[rng.random(n) < 0.1, "income"] = np.nan
risky = (loans["purpose"] == "business") & (loans["employment"] == "self-employed")
risk = -4.6 + 7 * loans["rate"] + 2.2 * risky + 1.2 * silent
default = pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "default", "repaid"))
# Reminders are sent after a default, but they are stored in the same table.
loans["reminders"] = np.where(default == "default", 3, 0)
print(default.value_counts().to_string())
print(loans.isna().sum().loc[lambda missing: missing > 0].to_string())

# %%
# Check first
# -----------
# ``warnings_`` names columns that give away the target. Such a column is not known when the loan is
# granted.
import textwrap
import warnings

from l1lsmi import L1LSMI

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    first = L1LSMI(4, random_state=0).fit(loans, default)
print(textwrap.fill(first.warnings_[0], 90))
loans = loans.drop(columns="reminders")

# %%
# Select
# ------
# Text is a category, which is one feature. A missing value stays missing. Where the target depends on
# *whether* a value is missing, "missing" is a value of its own. ``"auto"`` chooses the number of features
# by rows that the search has not seen.
selector = L1LSMI("auto", random_state=0).fit(loans, default)
print("selected:", *selector.get_feature_names_out())
print(f"p-value:  {selector.p_value_:.1e}")

# %%
# Four features predict unseen rows best, and these are the four that matter here. The same fit has the sets
# of other sizes.
print("three:", *loans.columns[selector.support_for(3)])
print("predicted:", *selector.validation_.mean[:6].round(3))

# %%
# Which features?
# ---------------
# Purpose and employment act together, as the share of defaults shows.
table = pd.crosstab(loans["purpose"], loans["employment"], (default == "default"), aggfunc="mean")
print(table.round(2).to_string())
without = loans["savings"].isna()
for name, rows in (("missing", without), ("given", ~without)):
    print(f"savings {name}: {(default[rows] == 'default').mean():.2f}")
_ = table.plot.bar(figsize=(6, 3), rot=0, xlabel="", ylabel="share of defaults")

# %%
# The honest error
# ----------------
# The accuracy says little here: "always repaid" is right for most rows. The area under the ROC curve and
# the balanced accuracy do not depend on the share of defaults. The selection is a step of the pipeline, so
# that no test row takes part in it.
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline

ready = loans.astype(dict.fromkeys(["purpose", "employment", "region", "phone"], "category"))
ready["since"] = (ready["since"] - ready["since"].min()).dt.days
model = HistGradientBoostingClassifier(class_weight="balanced", max_iter=60, learning_rate=0.05)
procedures = {"all columns": model} | {
    f"{k} columns": make_pipeline(L1LSMI(k, p_value=False, random_state=0), model) for k in (3, 4)
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
for name, procedure in procedures.items():
    scores = cross_validate(procedure, ready, default, cv=folds, scoring=["roc_auc", "balanced_accuracy"])
    area, balanced = scores["test_roc_auc"].mean(), scores["test_balanced_accuracy"].mean()
    print(f"{name:<12} AUC {area:.3f}, balanced accuracy {balanced:.3f}")

# %%
# What next
# ---------
# - :doc:`/rare_events`: class weights, and scores for a rare class.
# - :doc:`/tables`: columns of any kind, and how missing values are treated.
# - ``l1lsmi select loans.csv --target default -k auto --report report.html`` does the same with a file
#   (:doc:`/command_line`).
