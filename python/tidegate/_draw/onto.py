"""A drawing as a figure of matplotlib: for PNG and PDF, and for users who want its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from tidegate._draw.figure import Figure
from tidegate._draw.frame import HANDLE, LABEL, SLANT, SMALL
from tidegate._draw.parts import Area, Bars, Cells, Hatched, Leader, Level, Line, Points, Uprights
from tidegate._draw.style import STYLE
from tidegate._draw.tokens import SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate._draw.axis import Scale
    from tidegate._draw.drawing import Drawing, Panel
    from tidegate._draw.parts import Dash, Legend, Mark, Words

_SHAPES = {
    "circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "ex": "X", "plus": "P",
    "star": "*", "cross": "x", "upright": "|", "level": "_",
}  # fmt: skip


def figure_of(drawing: Drawing) -> Figure:
    """Return the figure that shows a drawing."""
    wide, high = drawing.width, drawing.height
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(wide, high), dpi=drawing.dots)
        for panel in drawing.panels:
            box = (panel.left / wide, panel.bottom / high, panel.width / wide, panel.height / high)
            _panel(figure.add_axes(box), panel)
        for words in (*drawing.words, *([drawing.foot_words()] if drawing.foot else [])):
            figure.text(words.x / wide, words.y / high, words.text, **_look(words))
        if drawing.legend is not None:
            _legend(figure, drawing.legend, drawing.legend.left / wide, drawing.legend.top / high)
    return figure


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    _scale(axes, "x", panel.x)
    _scale(axes, "y", panel.y)
    for mark in panel.marks:
        _draw(axes, mark)
    axes.set_title(panel.title, fontsize=panel.title_size, pad=panel.title_away)
    axes.set_xlabel(panel.x_label, fontsize=panel.label_size, labelpad=LABEL)
    axes.set_ylabel(panel.y_label, fontsize=panel.label_size, labelpad=LABEL)
    if not panel.spine:
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
    axes.spines["bottom"].set_visible(panel.floor)
    if not panel.ticked:
        axes.tick_params(length=0)
    if panel.right:
        axes.yaxis.tick_right()
        axes.yaxis.set_label_position("right")
        axes.spines["left"].set_visible(False)
        axes.spines["right"].set_visible(True)
    for words in panel.words:
        how: dict[str, Any] = {} if words.at_values else {"transform": axes.transAxes}
        if words.away == (0.0, 0.0):
            axes.text(words.x, words.y, words.text, **how, **_look(words))
        else:
            axes.annotate(
                words.text, (words.x, words.y), xycoords="data" if words.at_values else "axes fraction",
                xytext=words.away, textcoords="offset points", **_look(words),
            )  # fmt: skip


def _scale(axes: Axes, which: Literal["x", "y"], scale: Scale) -> None:
    axis = getattr(axes, f"{which}axis")
    if scale.log:
        getattr(axes, f"set_{which}scale")("log")
    ticks = scale.ticks()
    slant: dict[str, Any] = {"rotation": SLANT, "ha": "right"} if scale.slanted else {}
    axis.set_ticks([value for value, _ in ticks], [word for _, word in ticks], **slant)
    axis.set_ticks([], minor=True)
    axes.tick_params(axis=which, labelsize=scale.size)
    axes.grid(visible=scale.grid, axis="x" if which == "x" else "y")
    if not scale.labelled:
        axes.tick_params(axis=which, **{"labelbottom" if which == "x" else "labelleft": False})


def _draw(axes: Axes, mark: Mark) -> None:
    match mark:
        case Line():
            axes.plot(
                mark.x, mark.y, color=mark.colour, lw=mark.width, ls=_dash(mark.dash), zorder=mark.order,
                drawstyle="steps-post" if mark.steps else "default", solid_capstyle="butt", scalex=False,
                scaley=False, label=mark.name or "_line",
            )  # fmt: skip
        case Area():
            step: Any = "post" if mark.steps else None
            axes.fill_between(
                mark.x, mark.low, mark.high, color=mark.colour, lw=0, step=step, zorder=mark.order
            )
        case Level():
            axes.axhline(mark.y, color=mark.colour, lw=mark.width, ls=_dash(mark.dash), zorder=mark.order)
        case Uprights():
            axes.vlines(
                mark.x, mark.low, mark.high, color=mark.colour, lw=mark.width, zorder=mark.order,
                transform=_aside(axes, mark.aside),
            )  # fmt: skip
        case Bars():
            axes.bar(
                mark.x, mark.heights, bottom=mark.foot, width=mark.wide, fc=mark.colour,
                lw=0.9 if mark.edge else 0, ec=mark.edge or mark.colour, zorder=mark.order,
            )  # fmt: skip
        case Hatched():
            axes.axvspan(
                mark.begin, mark.end, facecolor="none", edgecolor=SOFT, hatch="////", lw=0, zorder=mark.order
            )
        case Points():
            axes.plot(
                mark.x, mark.y, ls="", marker=_SHAPES[mark.shape], ms=mark.size, mew=mark.width,
                color=mark.colour, mfc="white" if mark.hollow else mark.colour, alpha=mark.opacity,
                clip_on=not mark.over, zorder=mark.order, scalex=False, scaley=False,
                label=mark.name or "_marks", transform=_aside(axes, mark.aside),
            )  # fmt: skip
        case Cells():
            colours = LinearSegmentedColormap.from_list("cells", list(mark.colours))
            rows, columns = mark.table.shape
            axes.imshow(
                mark.table, origin="lower", aspect="auto", cmap=colours, interpolation="nearest",
                norm=Normalize(mark.low, mark.high), extent=(-0.5, columns - 0.5, -0.5, rows - 0.5),
                zorder=mark.order,
            )  # fmt: skip
            axes.set_facecolor("white")
        case Leader():
            axes.plot(
                *zip(mark.begin, mark.end, strict=True), transform=axes.transAxes, color=SOFT, lw=0.7,
                zorder=mark.order, clip_on=False, label="_leader", scalex=False, scaley=False,
            )  # fmt: skip


def _aside(axes: Axes, points: float) -> Any:
    """Return the places of values, so many points to the right: the same on every scale."""
    figure = axes.get_figure(root=True)
    if not points or figure is None:
        return axes.transData
    return axes.transData + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)


def _legend(figure: Figure, legend: Legend, left: float, top: float) -> None:
    handles = [
        Line2D(
            [], [], color=entry.colour, lw=entry.width, ls=_dash(entry.dash) if entry.width else "",
            marker=_SHAPES[entry.shape] if entry.shape else "", ms=entry.size,
            mfc="white" if entry.hollow else entry.colour,
        )
        for entry, _ in legend.entries
    ]  # fmt: skip
    figure.legend(
        handles, [name for _, name in legend.entries], title=legend.title or None, frameon=False,
        fontsize=SMALL, title_fontsize=SMALL, alignment="left", loc="upper left", bbox_to_anchor=(left, top),
        borderaxespad=0.0, handlelength=HANDLE / SMALL,
    )  # fmt: skip


def _dash(dash: Dash) -> Any:
    return (0, dash) if dash else "-"


def _look(words: Words) -> dict[str, Any]:
    return {
        "fontsize": words.size,
        "color": words.colour,
        "ha": words.across,
        "va": words.up,
        "weight": "bold" if words.bold else "normal",
        "rotation": 90 if words.turned else 0,
        "linespacing": words.spacing,
        # A dollar in a title or command is one.
        "parse_math": False,
    }
