"""LibreOffice's profile: made by a run without windows that ends by itself, then edited.

A profile whose maker was killed shows "Document Recovery" at every later start.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from .desktop import HOME, in_session, wait_for_end

REGISTRY = HOME / ".config/libreoffice/4/user/registrymodifications.xcu"
OOR = "http://openoffice.org/2001/registry"
XSD = "http://www.w3.org/2001/XMLSchema"
FACTORY = "/org.openoffice.Setup/Office/Factories/org.openoffice.Setup:Factory['com.sun.star.%s']"

# No tip and no release notes at the start; files are saved in Microsoft's formats, as OSWorld's tasks expect.
ITEMS = (
    ("/org.openoffice.Office.Common/Misc", "FirstRun", "false"),
    ("/org.openoffice.Office.Common/Misc", "ShowTipOfTheDay", "false"),
    ("/org.openoffice.Setup/Product", "ooSetupLastVersion", "7.4"),
    (FACTORY % "text.TextDocument", "ooSetupFactoryDefaultFilter", "MS Word 2007 XML"),
    (FACTORY % "sheet.SpreadsheetDocument", "ooSetupFactoryDefaultFilter", "Calc MS Excel 2007 XML"),
    (FACTORY % "presentation.PresentationDocument", "ooSetupFactoryDefaultFilter", "Impress MS PowerPoint 2007 XML"),
)


def make_profile() -> None:
    """Let LibreOffice write its profile and put our items into the registry."""
    in_session("soffice", "--headless", "--norestore", "--terminate_after_init", limit_s=120)
    wait_for_end("soffice.bin")
    write_items(REGISTRY)


def write_items(registry: Path) -> None:
    """Set every item of ITEMS in the registry file, keeping its owner."""
    for prefix, uri in (("oor", OOR), ("xs", XSD), ("xsi", f"{XSD}-instance")):
        ElementTree.register_namespace(prefix, uri)
    tree = ElementTree.parse(registry)
    root = tree.getroot()
    for path, name, value in ITEMS:
        for item in [item for item in root if _is_item(item, path, name)]:
            root.remove(item)
        item = ElementTree.SubElement(root, "item", {f"{{{OOR}}}path": path})
        prop = ElementTree.SubElement(item, "prop", {f"{{{OOR}}}name": name, f"{{{OOR}}}op": "fuse"})
        ElementTree.SubElement(prop, "value").text = value
    tree.write(registry, encoding="UTF-8", xml_declaration=True)


def missing_items(registry: Path) -> list[str]:
    """Name the items that the registry file does not hold with the wanted value."""
    root = ElementTree.parse(registry).getroot()
    return [
        f"{path}/{name}"
        for path, name, value in ITEMS
        if not any(_is_item(item, path, name) and item.findtext("prop/value") == value for item in root)
    ]


def _is_item(item: ElementTree.Element, path: str, name: str) -> bool:
    prop = item.find("prop")
    return item.get(f"{{{OOR}}}path") == path and prop is not None and prop.get(f"{{{OOR}}}name") == name
