"""Everything that is refused, in one place: one sentence that says what, and what to do."""
