# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx configuration of `make docs`."""

import re

from docutils import nodes
from sphinx import addnodes

project = "RTRS and RNBD"
html_title = project
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "fixed_sidebar": True}
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

exclude_patterns = ["tools"]

# Text and literal blocks as they are: these pages are read in an editor as often as in a browser.
smartquotes = False
highlight_language = "none"


def link_pages(app, doctree):
    """``Documentation/some/page.rst`` in the text becomes a link, and a warning if there is no such page."""
    for node in list(doctree.findall(nodes.literal)):
        page = re.fullmatch(r"Documentation(/.*)\.rst", node.astext())
        if not page or isinstance(node.parent, addnodes.pending_xref):
            continue
        link = addnodes.pending_xref("", refdomain="std", reftype="doc", refexplicit=True, refwarn=True,
                                     reftarget=page.group(1), refdoc=app.env.docname)
        node.replace_self(link)
        link += nodes.inline("", node.astext())


def setup(app):
    app.connect("doctree-read", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
