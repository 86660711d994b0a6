"""Squared-loss mutual information: least-squares density ratios and the leave-one-out loss."""
