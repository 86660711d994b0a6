"""
Gene expression: a few genes of thousands
=========================================

**Question.** Which few genes tell two types of leukaemia apart, and how often is a prediction from these
genes wrong?

The steps are those of every study with far more columns than rows: load the table, select, ask whether
there is any evidence, look at the selected genes, and measure the error on samples that took no part in the
selection.
"""

# %%
# The data
# --------
# The data set ALLAML has the expression of 7,129 genes in 72 patients with acute lymphoblastic (ALL) or acute
# myeloid (AML) leukaemia. It is not part of this package. This page uses the data set if the environment
# variable ``L1LSMI_DATA`` names a directory with the file ``ALLAML.npz``. Otherwise it uses a **simulated**
# table of the same form, and the next output says so.
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

file = Path(os.environ.get("L1LSMI_DATA", "")) / "ALLAML.npz"
if file.is_file():
    data = np.load(file, allow_pickle=False)
    kind = pd.Series(np.where(data["y"] == data["y"][0], "ALL", "AML"), name="type")
    genes = pd.DataFrame(data["X"], columns=data["feature_names"].astype(str))
    source = "ALLAML, real data"
else:
    rng = np.random.default_rng(0)
    kind = pd.Series(np.repeat(["ALL", "AML"], [47, 25]), name="type")
    values = rng.normal(size=(72, 3000))
    programs = rng.normal(size=(72, 30))  # groups of genes that are expressed together
    values[:, :1500] = 0.6 * values[:, :1500] + 0.8 * np.repeat(programs, 50, axis=1)
    values[:, [10, 60, 110]] += 2.2 * (kind == "AML").to_numpy()[:, None]
    genes = pd.DataFrame(values, columns=[f"gene_{j}" for j in range(3000)])
    source = "simulated data"
print(f"{source}: {genes.shape[0]} samples, {genes.shape[1]} genes")
print(kind.value_counts().to_string())

# %%
# Select, and let the data choose the number
# ------------------------------------------
# With ``"auto"``, samples that the search has not seen choose the number of genes.
from l1lsmi import L1LSMI

selector = L1LSMI("auto", random_state=0).fit(genes, kind)
selected = list(selector.get_feature_names_out())
print("selected:", *selected)

# %%
# Is there evidence?
# ------------------
# ``p_value_`` is the probability of predictions as good as these if the type did not depend on the genes. The
# plot shows how well sets of each size predict unseen samples, with one standard error. A value of 0 is no
# better than a prediction without genes.
from l1lsmi.plots import ScoreBySizeDisplay

print(f"p-value: {selector.p_value_:.1e}")
print("the search chose among", selector.pool_size_, "genes")
_ = ScoreBySizeDisplay.from_estimator(selector)

# %%
# Which genes?
# ------------
# A small set is one of several. Genes that are expressed together can replace each other, and the method
# keeps one of them. Look for the replacements before you interpret the set. A gene that looks the same in
# both groups can still be useful together with another one.
correlation = genes.corrwith(genes[selected[0]]).abs().sort_values(ascending=False)
print(f"most correlated with {selected[0]}:")
print(correlation.iloc[1:4].round(2).to_string())

figure, axes = plt.subplots(
    1, len(selected), figsize=(2.6 * len(selected), 3), layout="constrained", squeeze=False
)
for ax, gene in zip(axes[0], selected, strict=True):
    ax.boxplot([genes.loc[kind == group, gene] for group in ("ALL", "AML")], tick_labels=["ALL", "AML"])
    ax.set_title(gene)

# %%
# The honest error
# ----------------
# The selection is a step of the pipeline, so that every fold selects its genes anew, without its test
# samples. The set above is not used here: the error is that of the procedure "select this number of genes,
# then fit". ``pool=300`` limits the search to the 300 genes with the largest effects of their own, which
# saves time.
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
model = make_pipeline(StandardScaler(), SVC())
procedures = {
    "most frequent class": DummyClassifier(),
    "all genes": model,
    "selected genes": make_pipeline(L1LSMI(len(selected), pool=300, p_value=False, random_state=0), model),
}
for name, procedure in procedures.items():
    errors = 1 - cross_val_score(procedure, genes, kind, cv=folds)
    print(f"{name:<20} error {errors.mean():.3f}")

# %%
# The number of genes was chosen with all samples, which biases the last error a little. With
# ``L1LSMI("auto")`` in the pipeline there is no such bias, but every fold takes as long as the first
# selection.
#
# What next
# ---------
# - :doc:`/wide_tables`: what can and what cannot be found with few rows.
# - :doc:`/inference`: genes with a bound on the number of false ones.
# - :doc:`/honest_error`: why the selection belongs inside the cross-validation.
# - Test the selected genes on samples of another study. No computation replaces that.
