"""
In a pipeline, with a grid search for k
=======================================

A selector is a step of a scikit-learn pipeline. The number of features is then a parameter that
cross-validation can choose.
"""

# %%
# The data
# --------
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from l1lsmi import L1LSMI
from l1lsmi.plots import ScoreBySizeDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
print(f"{X_train.shape[0]} training rows, {X_test.shape[0]} test rows, {X.shape[1]} features")

# %%
# The search for k
# ----------------
# The selector is *inside* the pipeline, so that it is fitted to the training rows of every fold. A selection
# on all rows, before the folds are made, would use the test rows and bias the score.
pipeline = make_pipeline(L1LSMI(random_state=0), StandardScaler(), SVC())
search = GridSearchCV(pipeline, {"l1lsmi__n_features_to_select": [1, 2, 4, 6]}, cv=3)
search.fit(X_train, y_train)

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
display = ScoreBySizeDisplay(
    [params["l1lsmi__n_features_to_select"] for params in search.cv_results_["params"]],
    search.cv_results_["mean_test_score"],
    standard_errors=search.cv_results_["std_test_score"] / 3**0.5,
    n_selected=search.best_params_["l1lsmi__n_features_to_select"],
    score_name="accuracy on held-out folds",
).plot(ax)
print(f"k = {search.best_params_['l1lsmi__n_features_to_select']} is best")
print(f"accuracy on the test rows: {search.score(X_test, y_test):.2f}")

# %%
# Data frames in, data frames out
# -------------------------------
# With ``set_output`` the selected columns keep their names.
selector = L1LSMI(4, random_state=0).set_output(transform="pandas")
selected = selector.fit(X_train, y_train).transform(X_test)
selected.head(3)

# %%
# ``ranking_`` is 1 for selected features and orders the others by how long they stayed on the search path.
import pandas as pd

pd.Series(selector.ranking_, index=selector.feature_names_in_, name="rank").sort_values().head(8)
