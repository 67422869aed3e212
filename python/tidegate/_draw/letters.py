"""How wide words are, for pictures that are drawn without a library that has the font.

Widths are those of DejaVu Sans; Verdana, which stands in for it where it is missing, is as wide.
"""

from __future__ import annotations

#: The letters of the tables below: ASCII from the space on, then what pictures write besides.
_LETTERS = "".join(map(chr, range(32, 127))) + "·–…×±≥≤▲▼✓✗→−’“”"
#: Thousandths of the font's size.
# fmt: off
_PLAIN = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775,
    752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390,
    337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838, 318, 500, 1000, 838, 838,
    838, 838, 769, 769, 838, 838, 838, 838, 318, 518, 518,
)
_BOLD = (
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821,
    837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457,
    365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687,
    716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838, 380, 500, 1000, 838, 838,
    838, 838, 769, 769, 838, 838, 838, 838, 380, 657, 657,
)
# fmt: on
_WIDTHS = {
    bold: dict(zip(_LETTERS, widths, strict=True)) for bold, widths in ((False, _PLAIN), (True, _BOLD))
}
#: Any other letter is taken to be a wide one.
_OTHER = 800


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text is, the longest of its lines, in the unit of ``size``."""
    each = _WIDTHS[bold]
    return max(sum(each.get(letter, _OTHER) for letter in line) for line in text.split("\n")) * size / 1000
