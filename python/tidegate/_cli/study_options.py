"""What the commands about studies share: options, and how a study is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate._base.files import write_text
from tidegate._base.written import check_target
from tidegate._cli.names import OUT_DIR, OUTPUT, Whole
from tidegate._cli.options import say, tell, warn

if TYPE_CHECKING:
    from tidegate._study.picture import Picture
    from tidegate._study.points import Prepared
    from tidegate._study.until import Until
    from tidegate._study.value import Study

VARY = click.option(
    "vary",
    "--vary",
    multiple=True,
    metavar="KEY=A,B,C",
    help="A key and its values, in addition to the file's [[sweep]]; several --vary give every combination.",
)
RUNS = click.option(
    "--runs",
    metavar="N",
    type=Whole("runs"),
    help="Number of replications of each point; default: the file's runs.",
)
UNTIL = click.option(
    "--until",
    metavar="METRIC:±X%",
    help="Repeat each point until the interval of this number is that narrow, such as goodput_bps:±2%.",
)
MAX_RUNS = click.option(
    "--max-runs",
    metavar="N",
    type=Whole("runs", 2),
    help="With --until: largest number of replications of a point; default: 256.",
)
OUT = click.option(
    "--out", metavar="DIR", type=OUT_DIR, help="Write a folder: manifest, study.json, Parquet tables."
)
PICTURE = click.option(
    "picture",
    "--plot",
    metavar="FILE",
    type=OUTPUT,
    help="Draw the study; the name ends in .png, .svg or .pdf.",
)
BASELINE = click.option(
    "bases",
    "--baseline",
    multiple=True,
    metavar="KEY=VALUE",
    help="What differences are taken from; repeatable. Default: the first line.",
)
COLUMNS = click.option(
    "--columns", metavar="A,B,C", help="The columns of the table; default: the usual ones."
)
GATE = click.option(
    "--gate", metavar="NAME", help="The gate to report; default: the gate that limits the flows most."
)


@dataclass(frozen=True)
class Shown:
    """How a study is shown: on the terminal, and in which files."""

    picture: str | None
    chosen: Picture
    csv: str | None
    page: str | None
    columns: str | None
    baseline: dict[str, str] | None
    folder: str | None
    as_json: bool

    @property
    def names(self) -> list[str] | None:
        """The columns of the table; None: the usual ones."""
        if self.columns is None:
            return None
        return [name.strip() for name in self.columns.split(",")]

    def check_early(self, prepared: Prepared) -> None:
        """Refuse columns of which no run can have numbers, as far as that is known before the runs.

        Raises:
            UnknownNameError: there is no such number, flow or gate.
        """
        prepared.check_names(self.names or [])

    def check(self, study: Study) -> None:
        """Refuse columns that the study does not have, before anything is written.

        Raises:
            UnknownNameError: there is no such number.
        """
        for metric in self.names or []:
            study.values(metric, 0)

    def write(self, study: Study) -> None:
        """Write picture, page and table."""
        figure = None if self.picture is None else self.chosen.drawn(study)
        if self.page is not None:
            from tidegate._study.page import study_page
            from tidegate._study.picture import Picture

            drawn = None if self.chosen == Picture() else self.chosen
            text = study_page(study, drawn, self.names, self.baseline)
            write_text(self.page, text)
        if self.picture is not None and figure is not None:
            from tidegate._draw.write import write_picture

            write_picture(figure, Path(self.picture))
        if self.csv is not None:
            write_text(self.csv, study.table.write_csv())


def show_study(study: Study, shown: Shown) -> None:
    """Print a study."""
    if shown.as_json:
        say(study.to_json(shown.names, shown.baseline))
        warn(study.warnings)
        return
    text = study.report(shown.names, shown.baseline)
    tell(study, as_json=False, folder=shown.folder, picture=shown.picture, page=shown.page, report=text)
    if shown.csv is not None:
        say(f"Table: {shown.csv}")


def until_of(until: str | None, runs: int | None, most: int | None) -> Until | None:
    """Read when a point has enough replications.

    Raises:
        click.UsageError: a largest number without an interval.
        ArgumentError: the text is none.
    """
    from tidegate._study.until import Until

    if most is not None and until is None:
        raise click.UsageError("--max-runs needs --until METRIC:±X%")
    least = None if runs is None else max(runs, 2)
    if most is not None and most < (least or 2):
        raise click.UsageError(
            f"--max-runs: read {most}; an interval needs 2 runs"
            if runs is None or runs < 2
            else f"--max-runs: read {most}, fewer than --runs {runs}, with which each point begins"
        )
    return None if until is None else Until.parse(until, at_least=least, at_most=most)


def check_study_picture(
    picture: str, chosen: Picture, axes: Sequence[str], values: Sequence[Mapping[str, str]]
) -> None:
    """Refuse a picture that cannot be drawn of these points.

    Raises:
        click.UsageError: nothing is varied, or the name is none of a picture.
        UnknownNameError, ArgumentError: what it shall show is not there.
    """
    from tidegate._study.points import Point

    check_target(picture, "picture")
    if not axes and chosen.cdf is None:
        raise click.UsageError("--plot: no key is varied, so the picture has no axis; --cdf NAME needs none")
    chosen.check(list(axes), [Point(number, dict(each), "") for number, each in enumerate(values)])


def baseline_of(
    options: Sequence[str], axes: Sequence[str], values: Sequence[Mapping[str, str]]
) -> dict[str, str] | None:
    """Read what differences are taken from; None: the first line.

    Raises:
        click.UsageError: an option is not KEY=VALUE.
        UnknownNameError: nothing has this key or value.
    """
    from tidegate._base.nearest import nearest
    from tidegate._study.layout import find_key
    from tidegate.errors import UnknownNameError

    found: dict[str, str] = {}
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals or not key or not value:
            raise click.UsageError(
                f'--baseline {option}: read "{option}"; write a varied key and a value of it, such as cc=reno'
            )
        name = find_key(list(axes), key)
        known = list(dict.fromkeys(each[name] for each in values))
        if value not in known:
            raise UnknownNameError(nearest(f"value of {name}", value, known))
        if name in found:
            raise click.UsageError(
                f"--baseline: {name} is there twice, as {found[name]} and as {value}; keep one of the two"
            )
        found[name] = value
    return found or None
