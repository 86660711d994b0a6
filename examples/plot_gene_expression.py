"""
Many columns and few rows
=========================

A table as in a study of gene expression: 100 samples and 5,000 genes. The data are **synthetic**, so that the
correct result is known. Genes are co-expressed, and a sample has the disease when gene A is active, *or* when
genes B and C are both active.
"""

# %%
# The synthetic data
# ------------------
# Half of the genes depend on one of 40 common factors. Three genes are active or not, with noise, and gene A
# has 20 co-expressed genes that correlate with it.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n, m = 100, 5000
expression = rng.normal(size=(n, m))
program = rng.integers(0, 80, size=m)
follows = program < 40
expression[:, follows] *= 0.6
expression[:, follows] += 0.8 * rng.normal(size=(n, 40))[:, program[follows]]

on = rng.uniform(size=(n, 3)) < (0.5, 0.6, 0.6)
switches = [100, 200, 300]
expression[:, switches] = np.where(on, 1.4, -1.4) + 0.5 * rng.normal(size=(n, 3))
expression[:, 101:121] = 0.8 * expression[:, [100]] + 0.6 * rng.normal(size=(n, 20))
disease = on[:, 0] | (on[:, 1] & on[:, 2])

names = [f"gene_{j}" for j in range(m)]
names[100], names[200], names[300] = "A", "B", "C"
names[101:121] = [f"like_A_{j}" for j in range(1, 21)]
table = pd.DataFrame(expression, columns=names)
print(f"{table.shape[0]} samples, {table.shape[1]} genes, {disease.mean():.0%} with the disease")

# %%
# Three genes of 5,000
# --------------------
# Rankings select A and genes that correlate with A. B and C matter together, and each is weak alone.
from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, ReliefF
from l1lsmi.measures import Pearson
from l1lsmi.strategies import Ranking

methods = {
    "Pearson ranking": FeatureSelector(Pearson(), Ranking(), 3),
    "MRMR": MRMR(3),
    "ReliefF": ReliefF(3),
    "L1LSMI": L1LSMI(3, random_state=0),
}
for name, method in methods.items():
    print(f"{name:<16}", *method.fit(table, disease).get_feature_names_out())

# %%
# The interaction
# ---------------
# Among samples with inactive A, the disease depends on B and C together.
from l1lsmi.plots import PairDisplay

off = table[table["A"] < 0]
figure, ax = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
names, classes = ("expression of B", "expression of C"), ("healthy", "disease")
PairDisplay(off["B"], off["C"], disease[off.index], names=names, classes=classes).plot(ax)
_ = ax.set_title("samples with inactive A")

# %%
# With 100 samples, a *pure* interaction of two genes among 5,000, in which neither has an effect alone,
# cannot be told from chance: :ref:`sphx_glr_auto_examples_plot_xor.py` has an example.
