"""
In a pipeline, with a grid search for k
=======================================

A selector is a step of a scikit-learn pipeline. How many features to take is then a parameter like any other,
and cross-validation can choose it.
"""

# %%
# Features with names
# -------------------
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from l1lsmi import L1LSMI

X, y = load_wine(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
print(f"{X_train.shape[0]} rows to learn from, {X_test.shape[0]} to test on, {X.shape[1]} features")

# %%
# The search for k
# ----------------
# The selector sits *inside* the pipeline, so that every fold selects anew from its own training rows.
# Selecting once on all rows, before the folds are made, would let the test rows have a say.
pipeline = make_pipeline(L1LSMI(random_state=0), StandardScaler(), SVC())
search = GridSearchCV(pipeline, {"l1lsmi__n_features_to_select": [1, 2, 4, 6]}, cv=3)
search.fit(X_train, y_train)

sizes = [params["l1lsmi__n_features_to_select"] for params in search.cv_results_["params"]]
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.errorbar(
    sizes,
    search.cv_results_["mean_test_score"],
    search.cv_results_["std_test_score"],
    marker="o",
    capsize=3,
)
ax.set(xlabel="number of features", ylabel="accuracy on the left-out fold", xticks=sizes)
ax.set_title("how many features are enough?")
print(f"k = {search.best_params_['l1lsmi__n_features_to_select']} is best")
print(f"accuracy on rows that nothing has seen: {search.score(X_test, y_test):.2f}")

# %%
# Data frames in, data frames out
# -------------------------------
# With ``set_output`` the selected columns keep their names.
selector = L1LSMI(4, random_state=0).set_output(transform="pandas")
selected = selector.fit(X_train, y_train).transform(X_test)
selected.head(3)

# %%
# ``ranking_`` puts the other features in order: those that held out longest come first.
import pandas as pd

pd.Series(selector.ranking_, index=selector.feature_names_in_, name="rank").sort_values().head(8)
