"""All checks of input and parameters; every error names what was wrong and what to do."""
