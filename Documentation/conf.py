# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx configuration of `make docs`."""

import pathlib
import re
import sys

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.ext.graphviz import graphviz
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(pathlib.Path(__file__).parent / "tools"))
sys.dont_write_bytecode = True

import abi  # noqa: E402
import dashboard  # noqa: E402
import sequence  # noqa: E402

project = "RTRS and RNBD"
html_title = project
html_theme = "alabaster"
html_theme_options = {"page_width": "1400px", "fixed_sidebar": True}
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

extensions = ["sphinx.ext.graphviz"]
graphviz_output_format = "svg"

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


class Abi(SphinxDirective):
    """``.. abi:: sysfs-class-rtrs-client`` shows a file of ABI/testing: fields as a list, descriptions as they are."""

    required_arguments = 1

    def run(self):
        """Nodes of the file."""
        path = pathlib.Path(self.env.srcdir) / "ABI/testing" / self.arguments[0]
        self.env.note_dependency(str(path))
        entries = nodes.definition_list()
        for entry in abi.read(path.parent)[path]:
            for item in entry.items:
                entries += self.item(item, entry.description if item is entry.items[-1] else None)
        return [entries]

    @staticmethod
    def item(item, description):
        """One path or key, with what all those above it share."""
        term = nodes.term()
        term += nodes.literal(text=item.name)
        about = nodes.definition()
        fields = "; ".join(f"{name.lower()}: {item.fields[name]}" for name in abi.FIELDS
                           if name in item.fields and not item.is_dir)
        if fields:
            about += nodes.paragraph(text=fields)
        if description:
            text = "\n".join(description)
            about += nodes.literal_block(text, text, language="none")
        return nodes.definition_list_item("", term, about)


class Sequence(SphinxDirective):
    """``.. sequence::`` draws messages that are written as text, see tools/sequence.py."""

    has_content = True
    option_spec = {"alt": directives.unchanged_required}

    def run(self):
        """Node of the picture."""
        if "alt" not in self.options:
            raise self.error("a picture needs :alt:")
        try:
            code = sequence.to_dot("\n".join(self.content))
        except sequence.Bad as bad:
            raise self.error(f"no message: {bad}")
        node = graphviz()
        node["code"] = code
        node["alt"] = self.options["alt"]
        node["options"] = {"docname": self.env.docname}
        return [node]


class Dashboard(SphinxDirective):
    """``.. dashboard:: pictures/dashboard.metrics`` draws the one for Grafana, see tools/dashboard.py."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}

    def run(self):
        """Node of the picture."""
        if "alt" not in self.options:
            raise self.error("a picture needs :alt:")
        metrics = pathlib.Path(self.env.srcdir) / self.arguments[0]
        for path in (metrics, dashboard.DASHBOARD):
            self.env.note_dependency(str(path))
        try:
            svg = dashboard.draw(dashboard.DASHBOARD.read_text(encoding="utf-8"),
                                 metrics.read_text(encoding="utf-8"), self.options["alt"])
        except dashboard.Bad as bad:
            raise self.error(f"cannot be drawn: {bad}")
        return [nodes.raw("", svg, format="html")]


def setup(app):
    app.add_directive("abi", Abi)
    app.add_directive("sequence", Sequence)
    app.add_directive("dashboard", Dashboard)
    app.connect("doctree-read", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
