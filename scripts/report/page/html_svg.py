"""A figure's SVG as a part of the page. What matplotlib wrote is read as XML and written again from
lists of what is known, so that nothing in it can run, load or style anything but itself."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
# a figure's own style sheet would hold for the whole page: page.css has its one rule
TAGS = frozenset(
    "svg g defs clipPath pattern path rect circle use image a text tspan".split(),
)
TEXT = ("text", "tspan")
ATTRIBUTES = frozenset(
    "viewBox d x y cx cy r dx dy width height transform style clip-path clip-rule fill"
    " fill-opacity stroke stroke-width opacity patternUnits preserveAspectRatio".split(),
)
REFERRED_TO = ("clipPath", "pattern", "path")  # the others' ids name only parts
PICTURE = "data:image/png;base64,"


def embedded(svg, prefix, links):
    """The SVG with `prefix` before its ids, so that those of many figures differ, and without
    whitespace, group names and decimals that no screen shows. `links` is {a link to a cell as it
    is drawn: as the page has it}; a link to anything else is left out. ParseError if it is no
    XML."""
    root, out = ElementTree.fromstring(svg), []
    for side in ("width", "height"):  # as wide as its place
        root.attrib.pop(side, None)
    _write(root, prefix, links, out)
    return "".join(out)


def _write(element, prefix, links, out):
    tag = element.tag.removeprefix(SVG)
    if tag not in TAGS:
        return
    attributes = _attributes(tag, element.attrib, prefix, links)
    # a group that says nothing, a link to nothing: only what is in it
    is_written = attributes or tag not in ("g", "a")
    if is_written:
        out.append(f"<{tag}{''.join(attributes)}>")
    if tag in TEXT:
        out.append(escape(element.text or "", quote=False))
    for child in element:
        _write(child, prefix, links, out)
        if tag in TEXT:
            out.append(escape(child.tail or "", quote=False))
    if is_written:
        out.append(f"</{tag}>")


def _attributes(tag, attributes, prefix, links):
    written = []
    for name, value in attributes.items():
        if name in ("id", "href", HREF):
            name, value = name.rpartition("}")[2], _reference(tag, name, value, prefix, links)
        elif name not in ATTRIBUTES:
            continue
        elif name == "d":
            value = re.sub(r"(\.\d\d)\d+", r"\1", " ".join(value.split()))
        elif name == "style":  # page.css names the font
            value = re.sub(r"\s*([:;])\s*", r"\1", value).rstrip(";")
            value = re.sub(r"font-family:[^;]*;?", "", value)
        if "(" in value and name in ATTRIBUTES - {"transform", "d"}:
            value = _own(value, prefix)
        if value:
            written.append(' {}="{}"'.format(name, escape(value, False).replace('"', "&quot;")))
    if tag == "a" and written:
        written.append(' tabindex="-1"')  # from the keyboard the table is the shorter way
    return written


def _reference(tag, name, value, prefix, links):
    """An id, or what refers to one; "" for what the page has no use for."""
    if name == "id":
        return prefix + value if tag in REFERRED_TO else ""
    if tag == "a":
        return links.get(value, "")
    if tag == "image":
        return "".join(value.split()) if value.startswith(PICTURE) else ""
    return "#" + prefix + value[1:] if value.startswith("#") else ""


def _own(value, prefix):
    """With references to ids of this figure; nothing else in brackets but a colour's numbers."""
    value = re.sub(r"url\(['\"]?#([^)'\"]*)['\"]?\)", rf"url(#{prefix}\1)", value)
    others = re.findall(r"([\w-]*)\((?!#)", value)
    return "" if set(others) - {"rgb", "rgba"} else value
