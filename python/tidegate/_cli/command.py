"""Commands as all of ours are: what has one value is given once."""

from __future__ import annotations

import click


class Command(click.Command):
    """A command that refuses an option given twice where it takes one value: click would drop the first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and refuse a second value of an option.

        Raises:
            click.UsageError: an option has two values.
        """
        seen: set[str | None] = set()
        for each in [] if ctx.resilient_parsing else self.make_parser(ctx).parse_args(args=list(args))[2]:
            if not isinstance(each, click.Option) or each.multiple or each.is_flag or each.count:
                continue
            if each.name in seen:
                raise click.UsageError(f"{_longest(each)} is given twice, and takes one value", ctx)
            seen.add(each.name)
        return super().parse_args(ctx, args)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command


def typed(name: str) -> bool:
    """Tell whether an option of the command that runs was given, and not its default taken."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)


def _longest(option: click.Option) -> str:
    return max(option.opts, key=len)
