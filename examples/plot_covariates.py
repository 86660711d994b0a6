"""
Beyond age, sex and weight
==========================

Which columns matter *beyond* what is known anyway? Covariates are in every set that is compared; they are
never selected, and a column that only repeats them adds nothing.
"""

# %%
# What predicts the progress of diabetes
# --------------------------------------
# Body mass index, blood pressure and a blood value predict the progress best.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from l1lsmi import L1LSMI

patients = load_diabetes(as_frame=True, scaled=False)
known = patients.data[["age", "sex", "bmi"]].astype({"sex": "category"})
blood = patients.data.drop(columns=known)
print("all columns:", *L1LSMI(3, p_value=False).fit(patients.data, patients.target).get_feature_names_out())

# %%
# What the blood adds to age, sex and body mass index
# ---------------------------------------------------
beyond = L1LSMI(2, p_value=False).fit(blood, patients.target, covariates=known)
print("beyond age, sex and bmi:", *beyond.get_feature_names_out())
print(f"they add {beyond.smi_:.3f} to the SMI estimate")

# %%
# A copy of a covariate with some noise is informative alone, and adds nothing:
import numpy as np

rng = np.random.default_rng(0)
noisy = known["bmi"] + 0.3 * known["bmi"].std() * rng.normal(size=len(blood))
with_proxy = blood.assign(waist=noisy)
alone = L1LSMI(2, p_value=False).fit(with_proxy, patients.target)
beside = L1LSMI(2, p_value=False).fit(with_proxy, patients.target, covariates=known)
print("without covariates:", *alone.get_feature_names_out())
print("with covariates:   ", *beside.get_feature_names_out())

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
places = np.arange(with_proxy.shape[1])
ax.barh(places - 0.2, alone.weights_, height=0.4, label="without covariates")
ax.barh(places + 0.2, beside.weights_, height=0.4, label="beyond age, sex and bmi")
ax.set(yticks=places, yticklabels=with_proxy.columns, xlabel="weight")
ax.invert_yaxis()
_ = ax.legend(frameon=False)
