"""Write the pictures of the guide into docs/images: those that the examples of the gallery draw.

Run it as ``python docs/write_pictures.py`` after a change to one of these examples. The gallery itself draws
its pictures anew at every build; these are kept so that the pages are complete on a code host as well.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
EXAMPLES = ("xor", "density_ratio", "narrow_kernels", "shrinking_ball")


def main() -> None:
    """Run the examples and keep what they draw."""
    mpl.use("Agg")
    for name in EXAMPLES:
        plt.close("all")
        runpy.run_path(str(ROOT / "examples" / f"plot_{name}.py"))
        numbers = plt.get_fignums()
        for number in numbers:
            path = ROOT / "docs" / "images" / (f"{name}_{number}.png" if len(numbers) > 1 else f"{name}.png")
            plt.figure(number).savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main()
