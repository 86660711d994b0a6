"""
Categories
==========

A category is one feature: two rows have the same level or not. A category is not replaced by
indicator columns, and the names of the levels do not matter.
"""

# %%
# A table with categories
# -----------------------
# The table has 442 patients with diabetes. Sex is a category. Age in decades and blood pressure in thirds
# become categories, too, with levels that have no order.
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_diabetes

patients = load_diabetes(as_frame=True, scaled=False)
table = patients.data.rename(columns={"s5": "triglycerides", "s3": "hdl", "bp": "pressure"})
table["sex"] = table["sex"].map({1.0: "A", 2.0: "B"}).astype("category")
table["age"] = ("decade " + (table["age"] // 10).astype(int).astype(str)).astype("category")
table["pressure"] = pd.qcut(table["pressure"], 3, labels=["low", "middle", "high"]).astype(str)
print(table.dtypes.to_string())

# %%
# Select
# ------
# Text and categorical types are recognised; ``categorical_features`` names other columns.
from l1lsmi import L1LSMI

selector = L1LSMI(3, p_value=False).fit(table, patients.target)
print("selected:", *selector.get_feature_names_out())
print("levels of pressure, the most frequent first:", selector.categories_[list(table).index("pressure")])

# %%
# Other names of the levels change nothing.
renamed = table.assign(pressure=table["pressure"].map({"low": "z", "middle": "a", "high": "m"}))
print(
    "the same set:",
    bool((L1LSMI(3, p_value=False).fit(renamed, patients.target).support_ == selector.support_).all()),
)

# %%
# The selected columns stay as they are
# -------------------------------------
# ``transform`` returns a frame, so that a model that accepts categories can follow in a pipeline.
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

model = HistGradientBoostingRegressor(categorical_features="from_dtype", max_depth=3, learning_rate=0.05)
ready = table.assign(pressure=table["pressure"].astype("category"))
both = {"all columns": model, "selected": make_pipeline(L1LSMI(4, p_value=False), model)}
scores = {name: cross_val_score(one, ready, patients.target, cv=5) for name, one in both.items()}
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.boxplot(list(scores.values()), orientation="horizontal", tick_labels=list(scores))
_ = ax.set(xlabel="R2 on held-out rows", title="five folds")
