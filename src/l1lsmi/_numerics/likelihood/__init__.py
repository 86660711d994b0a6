"""Mutual information: maximum-likelihood density ratios."""
