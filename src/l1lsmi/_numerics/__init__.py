"""Pure functions on arrays: no estimators, no parameters to remember, no scikit-learn."""
