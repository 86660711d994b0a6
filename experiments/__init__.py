"""The paper's experiments: methods and datasets as files, results as Parquet, tables and figures."""
