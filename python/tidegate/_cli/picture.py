"""Options that choose what a picture of a study shows."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from tidegate._cli.options import split_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate._study.picture import Picture

_AGAINST = (
    click.option("--x", metavar="NAME", help="Draw one number against another: the number on the x axis."),
    click.option("--y", metavar="NAME", help="With --x: the number on the y axis; default: goodput_bps."),
)
KIND = click.option(
    "--kind",
    metavar="lines|map",
    help="Draw lines, or a heat map over two keys with numbers; default: a map from 5 by 5 values on.",
)
_OPTIONS = (
    click.option("--metric", metavar="NAME", help="The number to draw; default: goodput_bps."),
    click.option(
        "--axis", metavar="KEY", help="The varied key on the x axis; default: the key with the most values."
    ),
    click.option("--facet", metavar="KEY", help="Draw one panel for each value of this varied key."),
    click.option(
        "--only", multiple=True, metavar="KEY=A,B", help="Draw only these values of a varied key; repeatable."
    ),
    *_AGAINST,
    click.option(
        "--cdf",
        metavar="NAME",
        help="Draw the cumulative distribution of a number over the runs.",
    ),
    click.option("--box", metavar="NAME", help="Draw a box plot of a number over the runs."),
    KIND,
)


#: Named in messages where these options do not fit.
PICTURE_OPTIONS = "--metric, --axis, --facet, --only, --x, --y, --cdf, --box and --kind"


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose what a picture of a study shows; the command gets them as one ``shows``."""

    @functools.wraps(command)
    def with_picture(
        *,
        metric: str | None,
        axis: str | None,
        facet: str | None,
        only: Sequence[str],
        x: str | None,
        y: str | None,
        cdf: str | None,
        box: str | None,
        kind: str | None,
        **others: Any,
    ) -> Any:
        return command(shows=lambda: _picture_of(metric, axis, facet, only, x, y, cdf, box, kind), **others)

    for option in reversed(_OPTIONS):
        with_picture = option(with_picture)
    return with_picture


def against_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a comparison's picture; the command gets ``x``, ``y`` and ``kind``."""
    for option in reversed((*_AGAINST, KIND)):
        command = option(command)
    return command


def _picture_of(
    metric: str | None,
    axis: str | None,
    facet: str | None,
    only: Sequence[str],
    x: str | None,
    y: str | None,
    cdf: str | None,
    box: str | None,
    kind: str | None,
) -> Picture:
    """Return the choices that the options make.

    Raises:
        click.UsageError: an ``--only`` is not KEY=VALUE.
    """
    from tidegate._study.picture import Picture

    chosen: dict[str, list[str]] = {}
    for option in only:
        key, equals, text = option.partition("=")
        values = split_values(text)
        if not equals or not key.strip() or not all(values):
            raise click.UsageError(
                f'--only {option}: read "{option}"; write a varied key and its values, such as cc=cubic'
            )
        chosen.setdefault(key.strip(), []).extend(values)
    return Picture(metric, axis, facet, chosen, x, y, cdf, box, kind)


SHOW = click.option(
    "--show",
    metavar="A,B,C",
    help="Panels of the picture, of buffer, bitrate, cwnd, goodput, delay, responses, queue, tokens.",
)


def panels(text: str | None) -> list[str] | None:
    """Read ``--show cwnd,delay``; None: what says something.

    Raises:
        UnknownNameError: there is no panel of a name.
    """
    from tidegate._base.nearest import nearest
    from tidegate._run.words import PANELS
    from tidegate.errors import UnknownNameError

    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in PANELS:
            raise UnknownNameError(nearest("panel", name, PANELS))
    if not names:
        raise click.UsageError(f'--show: read "{text}"; name one or more of {", ".join(PANELS)}')
    return names
