"""
Missing values
==============

A missing value carries no information, and nothing is imputed. Where the target depends on whether a value is
missing, "missing" is a value of its own.
"""

# %%
# Values missing at random
# ------------------------
# Up to 40 % of the entries of a table of tumours are removed at random, and three features are selected. The
# error is that of a model that accepts missing values, on held-out rows.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from l1lsmi import L1LSMI

data = load_breast_cancer()
rng = np.random.default_rng(0)
shares, errors = [0.0, 0.2, 0.4], []
for share in shares:
    X = np.where(rng.random(data.data.shape) < share, np.nan, data.data)
    X_train, X_test, y_train, y_test = train_test_split(X, data.target, test_size=0.4, random_state=0)
    selector = L1LSMI(3, p_value=False).fit(X_train, y_train)
    model = HistGradientBoostingClassifier(max_iter=50).fit(selector.transform(X_train), y_train)
    errors.append(1 - model.score(selector.transform(X_test), y_test))
    print(f"{share:.0%} missing:", *data.feature_names[selector.support_], sep="  ")
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(shares, errors, marker="o")
_ = ax.set(xlabel="share of missing values", ylabel="error on held-out rows", ylim=(0, None))

# %%
# Values missing for a reason
# ---------------------------
# Here, a test is mostly done if the tumour is malignant. Its result is noise, but whether the result is
# missing is informative.
X = data.data[:, :10].copy()
done = (data.target == 0) ^ (rng.random(len(X)) < 0.1)
test = np.where(done, rng.normal(size=len(X)), np.nan)
table = np.column_stack([rng.normal(size=(len(X), 9)), test])
for missing in ("auto", "ignore"):
    found = L1LSMI(1, missing=missing, p_value=False).fit(table, data.target)
    name = "the test" if found.support_[-1] else "a column of noise"
    print(f"missing={missing!r}: {name}, SMI estimate {found.smi_:.2f}")
