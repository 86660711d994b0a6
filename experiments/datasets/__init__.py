"""One file per dataset; its name is the name of the file, and it defines ``DATASET``."""
