"""German credit."""

from experiments.data.recipe import UCI, Recipe
from experiments.real import Real

DATASET = Real(
    name="german",
    n_rows=1000,
    n_features=20,
    class_counts=(700, 300),
    source=UCI("static/public/144/statlog+german+credit+data.zip", ("german.data",), delimiter=None),
    recipe=Recipe(
        labels=("1", "2"),
        # As in the paper's copy, code A410 becomes 410 beside 40 to 49.
        code_prefix="A",
        feature_names=(
            *("checking_status", "duration", "credit_history", "purpose", "credit_amount"),
            *("savings_status", "employment", "installment_rate", "personal_status", "other_parties"),
            *("residence_since", "property", "age", "other_payment_plans", "housing"),
            *("existing_credits", "job", "num_dependents", "telephone", "foreign_worker"),
        ),
    ),
    class_names=("good", "bad"),
    citation="Hofmann (1994), Statlog (German Credit Data), UCI, doi:10.24432/C5NC77",
)
