"""The paper's experiments: methods and datasets as files, run into Parquet, and what is made of it."""
