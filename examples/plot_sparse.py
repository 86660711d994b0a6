"""
Sparse matrices
===============

Word counts and other tables of mostly zeros can be passed to ``fit`` as sparse matrices, which are never made
dense as a whole. The result is that of the dense table.
"""

# %%
# Images of digits, half of whose pixels are empty
# ------------------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from l1lsmi import L1LSMI

digits = load_digits()
few = np.flatnonzero(np.isin(digits.target, [3, 5, 8]))
X, y = digits.data[few], digits.target[few]
sparse = csr_array(X)
print(f"{sparse.nnz / X.size:.0%} of {X.shape[0]} x {X.shape[1]} values are not 0")

selector = L1LSMI(8, p_value=False).fit(sparse, y)
dense = L1LSMI(8, p_value=False).fit(X, y)
print("the same pixels:", bool((selector.support_ == dense.support_).all()))
print("difference of the estimates:", abs(selector.smi_ - dense.smi_))
kept = selector.transform(sparse)
print("transform keeps it sparse:", type(kept).__name__, kept.shape)

# %%
# The selected pixels
# -------------------
# The selected pixels tell threes, fives and eights apart.
figure, axes = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
for ax, digit in zip(axes, (3, 5, 8), strict=True):
    ax.imshow(X[y == digit].mean(axis=0).reshape(8, 8), cmap="Greys")
    rows, columns = np.divmod(np.flatnonzero(selector.support_), 8)
    ax.scatter(columns, rows, marker="s", s=120, facecolors="none", edgecolors="tab:red")
    ax.set(title=f"mean of all {digit}s", xticks=[], yticks=[])
