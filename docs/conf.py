"""How the site is built: ``make docs``, or ``python -m sphinx -W --keep-going docs build/docs``."""

from __future__ import annotations

import sys
from pathlib import Path

import l1lsmi

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "l1lsmi"
author = "The l1lsmi developers"
version = release = l1lsmi.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "code_links",
    "example_report",
    "mathml",
    "names",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "auto_examples/*.ipynb", "auto_tutorials/*.ipynb"]
# What is in single backticks is linked where it is the name of something public.
default_role = "py:obj"
nitpicky = False

# -- pages in Markdown ------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# -- reference --------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says them in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of a class lists its methods
numpydoc_validation_checks = {
    *("GL03", "GL05", "GL06", "GL07", "GL09", "GL10"),  # layout and order of sections
    *("SS01", "SS02", "SS03", "SS04"),  # a summary, as a sentence
    *("PR02", "PR03", "PR05", "PR10"),  # no parameter that does not exist; names, types and order
    *("SA02", "SA03", "SA04"),  # references in full
}

# -- gallery ----------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": ["../tutorials", "../examples"],
    "gallery_dirs": ["auto_tutorials", "auto_examples"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"select_features\.py",
    "within_subsection_order": "gallery_order.order",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("l1lsmi",),
    "reference_url": {"l1lsmi": None},
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "thumbnail_size": (640, 448),
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

# -- looks ------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = f"l1lsmi {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
# Pages without pages below them need no navigation beside them.
html_sidebars = {page: [] for page in ("index", "install", "quick_start", "cite", "changelog")}
html_theme_options = {
    "logo": {"text": "l1lsmi"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["footer_text"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
