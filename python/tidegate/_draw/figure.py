"""The figures that pictures are drawn on."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib import figure as _base

from tidegate._base.notebook import display, shell
from tidegate._draw.settle import settle
from tidegate._draw.style import METADATA, STYLE


class Figure(_base.Figure):
    """A figure without any global state, which a notebook shows all the same."""

    def savefig(self, *where: Any, **how: Any) -> None:
        """Write the picture, with room for every word of it."""
        settle(self)
        super().savefig(*where, **how)

    def _repr_png_(self) -> bytes:
        """Return the picture as a notebook shows it, without ``%matplotlib inline``."""
        buffer = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.savefig(buffer, format="png", dpi=_SCREEN, metadata=METADATA["png"])
        return buffer.getvalue()

    def show(self, *_: Any, **__: Any) -> None:
        """Show the picture in a notebook; elsewhere there is nothing to show it in.

        Raises:
            RuntimeError: this is no notebook; ``savefig`` writes the picture.
        """
        if shell() is None:
            raise RuntimeError('there is no notebook to show the picture in; savefig("NAME.png") writes it')
        display(self)


#: Dots per inch in a notebook.
_SCREEN = 100
