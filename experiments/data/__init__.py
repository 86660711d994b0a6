"""Loading of the paper's real datasets: local copies, downloads, and their conversion to X and y."""
