"""Rules as JSON, and back."""

from __future__ import annotations

from typing import Any

from l1lsmi._columns.dates import FORMATS
from l1lsmi._columns.numbers import STYLES, Convention
from l1lsmi._columns.rules import Rule


def saved_rule(rule: Rule) -> dict[str, Any]:
    """A rule for JSON.

    Examples
    --------
    >>> from l1lsmi._columns.rules import Rule
    >>> from l1lsmi._columns.saved import restored_rule, saved_rule
    >>> rule = Rule("category", "category with 2 levels", ("f", "m"))
    >>> restored_rule(saved_rule(rule)) == rule
    True
    """
    return {
        "kind": rule.kind,
        "used_as": rule.used_as,
        "levels": list(rule.levels),
        "ordered": rule.ordered,
        "numbers": None if rule.numbers is None else list(rule.numbers),
        "dates": rule.dates,
    }


def restored_rule(found: Any) -> Rule | None:
    """A rule of JSON, which may have been changed by hand; None if it is none."""
    keys = ("kind", "used_as", "levels", "ordered", "numbers", "dates")
    if not isinstance(found, dict) or not all(key in found for key in keys):
        return None
    kind, used_as, levels, ordered, numbers, dates = (found[key] for key in keys)
    is_rule = (
        isinstance(kind, str)
        and isinstance(used_as, str)
        and _are_texts(levels)
        and isinstance(ordered, bool)
        and (numbers is None or (_are_texts(numbers) and len(numbers) == 3 and tuple(numbers[:2]) in STYLES))
        and (dates is None or dates in FORMATS)
        and len({*levels}) == len(levels)
        and (kind != "yes/no" or len(levels) in (0, 2))
    )
    if not is_rule:
        return None
    return Rule(
        kind, used_as, tuple(levels), ordered, None if numbers is None else Convention(*numbers), dates
    )


def _are_texts(items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(item, str) for item in items)
