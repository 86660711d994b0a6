"""A standing attack: generated inputs over all selectors and all roads, and damaged files.

Every case follows from its seed alone. What is allowed is a result that keeps its contract, or one sentence.
"""
