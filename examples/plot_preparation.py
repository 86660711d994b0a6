"""
A table from a spreadsheet
==========================

Cells such as "12,3", "€1,234", "12.3 %", "n/a" and "-" stand for numbers and missing values.
`TablePreparation` reads them as such, says which cells it could not read, and does the same with new rows.
"""

# %%
# A table as it is exported
# -------------------------
# The table has patients with diabetes, with units, decimal commas and missing values as in a spreadsheet.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

patients = load_diabetes(as_frame=True, scaled=False)
rng = np.random.default_rng(0)
clean = patients.data
table = pd.DataFrame({
    "patient": [f"P{i:04d}" for i in range(len(clean))],
    "bmi": [f"{value:.1f}".replace(".", ",") for value in clean["bmi"]],
    "pressure": [f"{value:.0f} mmHg" if rng.random() < 0.01 else f"{value:.0f}" for value in clean["bp"]],
    "hdl": np.where(rng.random(len(clean)) < 0.05, "n/a", clean["s3"].map("{:.1f}".format)),
    "sugar": clean["s6"].map("{:.1f} %".format),
    "cost": [f"€{value:,.0f}" for value in rng.uniform(900, 5000, len(clean))],
    "sex": clean["sex"].map({1.0: "A", 2.0: "B"}),
})  # fmt: skip
print(table.head(3).to_string())

# %%
# How the columns are read
# ------------------------
from l1lsmi.preparation import TablePreparation

preparation = TablePreparation().fit(table)
for use in preparation.columns_:
    print(f"{use.name:<10}{use.used_as}")
print(*preparation.notes_, sep="\n")

# %%
# In a pipeline
# -------------
# What was learned from the training rows is applied to new ones. Nothing is imputed.
from sklearn.pipeline import make_pipeline

from l1lsmi import L1LSMI

pipeline = make_pipeline(TablePreparation(), L1LSMI(3, p_value=False)).fit(table, patients.target)
print("selected:", *pipeline[-1].get_feature_names_out())
ready = pipeline[0].fit_transform(table)
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.scatter(ready["bmi"], patients.target, s=10)
_ = ax.set(xlabel="bmi", ylabel="progression of the disease")
