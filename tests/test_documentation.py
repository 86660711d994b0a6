"""What the README shows must run."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_ten_lines_of_the_readme_run():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict = {}
    exec(code, names)
    assert names["selector"].get_support(indices=True).tolist() == [2, 5]
    assert names["X_selected"].shape == (300, 2)


def test_the_readme_names_files_that_exist():
    for path in re.findall(r"\]\(([^)]+)\)|`(benchmarks/\w+\.py)`", README.read_text()):
        assert (README.parent / "".join(path)).exists(), path
