"""The order of tutorials and examples: from the first idea to the whole of it."""

from __future__ import annotations

__all__ = ["ORDER", "TUTORIALS", "order"]

TUTORIALS = (
    "plot_gene_expression_study.py",
    "plot_credit_risk.py",
    "plot_sensors_over_time.py",
)

ORDER = (
    "plot_xor.py",
    "plot_redundancy.py",
    "plot_gene_expression.py",
    "plot_categories.py",
    "plot_missing_values.py",
    "plot_preparation.py",
    "plot_weights.py",
    "plot_several_targets.py",
    "plot_constraints.py",
    "plot_covariates.py",
    "plot_sparse.py",
    "plot_pipeline_grid_search.py",
    "plot_compare_methods.py",
    "plot_density_ratio.py",
    "plot_narrow_kernels.py",
    "plot_shrinking_ball.py",
)


def order(name: str) -> int:
    """Place of a tutorial or an example; one that is not listed comes last."""
    names = TUTORIALS + ORDER
    return names.index(name) if name in names else len(names)
