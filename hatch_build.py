"""The readme of the package's page, where links to files of the repository must be addresses."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or an image whose target is a file of the repository.
LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?!https?:|#)(?P<path>[^)\s]+)\)")


class ReadmeWithAddresses(MetadataHookInterface):
    """Gives README.md as the readme, with addresses in the place of paths."""

    def update(self, metadata: dict) -> None:
        """Set the readme, which pyproject.toml declares as dynamic."""
        source = metadata["urls"]["Source"]

        def with_address(link: re.Match) -> str:
            kind = "raw" if link["image"] else "blob"
            return f"{link['image']}{link['text']}({source}/{kind}/HEAD/{link['path']})"

        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": LINK.sub(with_address, text)}
