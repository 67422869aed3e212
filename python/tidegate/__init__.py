"""What TCP does over a link whose rate is controlled.

>>> import tidegate as tg
>>> run = tg.run("examples/lte.toml", seed=7)
>>> run.flows                                   # one row per flow
>>> run.gates["bottleneck"].series("queue")     # time_s, packets, bytes
>>> run.plot("lte.png")

Functions and classes are here, flat, and errors in ``tg.errors``; modules that begin with an underscore
are private. Units are in the names of results; in scenarios they are in the text. polars and matplotlib are
loaded when a table or a picture is asked for.

Parts that need no scenario are modules of their own, loaded when they are first named:
``tg.dtm``, the estimator behind ``rate.dtm``; ``tg.effcap``, the one behind ``rate.follow``;
``tg.gcra``, the rate limiter of ATM and of token
buckets; ``tg.tcp``, one TCP endpoint driven by hand; ``tg.theory``, what is known in closed form;
``tg.traces``, link traces as files.
``tg.gym`` is a scenario as an environment for learned congestion control; :class:`Network` has its gates
for transports of your own, and ``tg.transports`` judges one over the links that people test with.
"""

from tidegate import _early

_early.be_quiet()

import re as _re  # noqa: E402
from pathlib import Path as _Path  # noqa: E402

from tidegate._core import build_info  # noqa: E402

__version__ = build_info()["tidegate"]


def _listed() -> dict[str, str]:
    """Return each public name with its module, from the one list: ``__init__.pyi``.

    What comes from this package itself is a public module.
    """
    text = _Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in _re.findall(r"^from ([\w.]+) import (\w+) as \2$", text, _re.M)}


#: Imported when it is first named (PEP 562), so that a command starts at once.
_PLACES = _listed()

__all__ = sorted([*_PLACES, "__version__"])


def __getattr__(name: str) -> object:
    """Import what a public name means; then it is an attribute and not looked for again."""
    from importlib import import_module

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _PLACES[name] == __name__:
        return import_module(f"{__name__}.{name}")
    found = getattr(import_module(_PLACES[name]), name)
    if not isinstance(found, type):
        # Calls from outside say which argument is wrong; those from inside know what they give.
        found = import_module(f"{__name__}._base.calls").checked(found)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
