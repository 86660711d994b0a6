"""One file per method; its name is the name of the file, and it defines ``METHOD``."""
