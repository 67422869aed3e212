"""Papers on TCP over links whose rate is controlled: their claims measured and judged, their figures drawn.

>>> import tidegate_papers as papers
>>> papers.reproduce("dtm/first-change").report()

``pip install "tidegate[papers]"`` brings it, and with it the command ``tidegate reproduce``. A paper is a
folder in here; ``tidegate_papers.api`` is what such a folder may use.
"""

from tidegate._base.calls import checked as _checked

from tidegate_papers._reproduce.start import reproduce as _reproduce
from tidegate_papers._reproduce.value import Reproduction as Reproduction

reproduce = _checked(_reproduce)

__all__ = ["Reproduction", "reproduce"]
