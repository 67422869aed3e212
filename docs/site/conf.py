"""What Sphinx needs to know; ``build.py`` calls it, and gives it the title and the version."""

project = "Tidegate"
author = "the authors of Tidegate"
root_doc = "README"
extensions = ["myst_parser"]

# As GitHub reads the pages: headings have the same names, "--" is two hyphens.
myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence"]
smartquotes = False

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js", "scroll.js"]
templates_path = ["templates"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/versions.html",
        "sidebar/scroll-end.html",
    ]
}
