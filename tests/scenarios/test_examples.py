"""Every example runs, says what it is, and does what its head promises to show."""

from __future__ import annotations

import importlib.util
import tomllib
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

SCENARIOS = sorted(EXAMPLES.glob("*.toml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    head = text[: text.index("title =")]
    assert "Look at:" in head
    assert f"tidegate run examples/{path.name}" in head
    assert tomllib.loads(text)["seed"] >= 1, "an example gives the same picture to everyone"
    run = tg.run(path)
    assert run.warnings == []
    assert sum(flow["goodput_bps"] for flow in run.flows) > 1e5
    run.plot(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 20_000


def test_commands_in_the_heads_are_right() -> None:
    """Each ``tidegate compare`` line in a head names keys that the scenario takes."""
    import shlex

    from tidegate._cli.options import parse_vary
    from tidegate._compare.start import prepare

    seen = 0
    for path in SCENARIOS:
        for line in path.read_text().splitlines():
            if not line.startswith("#   tidegate compare"):
                continue
            words = shlex.split(line.removeprefix("#"))
            assert words[2] == f"examples/{path.name}"
            vary = [words[i + 1] for i, word in enumerate(words) if word == "--vary"]
            prepare([path], parse_vary(vary))
            seen += 1
    assert seen >= len(SCENARIOS) - 1


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    comparison = demo.main(tmp_path / "demo")
    assert len(comparison.variants) == 6
    assert (tmp_path / "demo" / "comparison.png").stat().st_size > 50_000
    said = capsys.readouterr().out
    for word in ("linux-6.18", "cubic", "bbr", "none", "fq_codel", "goodput", "p99", "loss", "used"):
        assert word in said
    variants = [
        (variant.changes["flow.bulk.tcp.cc"], variant.changes["gate.bottleneck.queue.aqm"])
        for variant in comparison.variants
    ]
    rows = dict(zip(variants, comparison.rows(), strict=True))
    calls = {
        which: variant.run.traffic["call"]["delay_p99_ms"]
        for which, variant in zip(variants, comparison.variants, strict=True)
    }
    for cc in ("cubic", "bbr"):
        plain, codel, fair = (cc, "none"), (cc, "codel"), (cc, "fq_codel")
        assert rows[plain]["queue_delay_p99_ms"] > rows[codel]["queue_delay_p99_ms"]
        assert rows[plain]["goodput_bps"] > rows[codel]["goodput_bps"]
        assert calls[plain] > calls[codel] > calls[fair]
