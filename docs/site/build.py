"""Builds the documentation site: ``make docs`` calls it, and a test with ``--no-pictures``.

    python docs/site/build.py [--out target/site] [--no-pictures] [--rust target/doc] [--reports DIR]

The site of one version is a folder of its own, named by the version: ``target/site/0.2.0``. Beside these
folders are ``versions.js``, which lists them for the choice in the sidebar, and an ``index.html`` that leads
to the newest. Building needs no network. A warning is an error, for example a link that leads nowhere.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import gallery
import laboratory
import links
import pages
import papers
import rust
import tidegate as tg

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
START = "README.html"


def main() -> int:
    """Build one version; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "site", help="folder of all versions")
    parser.add_argument("--no-pictures", action="store_true", help="leave out the gallery's pictures")
    parser.add_argument(
        "--rust", type=Path, help="folder that cargo doc wrote; left out, the site has no Rust"
    )
    parser.add_argument(
        "--reports", type=Path, help="folder that tidegate reproduce wrote, one folder a paper"
    )
    options = parser.parse_args()

    work = options.out.with_name(f"{options.out.name}-work")
    source = work / "pages"
    shutil.rmtree(source, ignore_errors=True)
    extra = work / "extra"
    shutil.rmtree(extra, ignore_errors=True)
    extra.mkdir(parents=True)

    pages.copy(ROOT, source)
    gallery.write(ROOT / "examples", source / "gallery", pictures=not options.no_pictures)
    papers.write(source / "papers", extra, options.reports)
    if options.rust is not None:
        rust.write(ROOT / "crates", options.rust, source, extra)
    pages.add_contents(source)
    if laboratory.is_there():
        laboratory.link_pages(source, ROOT / "examples")
    else:
        print("skipped: the site has no laboratory, because make wasm has not built its module")

    built = options.out / tg.__version__
    shutil.rmtree(built, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    command += ["-c", str(HERE), "-d", str(work / "trees"), "-D", f"version={tg.__version__}"]
    command += ["-D", f"html_title=Tidegate {tg.__version__}"]
    if subprocess.run([*command, str(source), str(built)], check=False).returncode != 0:
        return 1
    shutil.copytree(extra, built, dirs_exist_ok=True)
    if laboratory.is_there():
        laboratory.write(built)
    list_versions(options.out)
    problems = links.problems(built)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"The site starts at {options.out / 'index.html'}")
    return 0


def list_versions(out: Path) -> None:
    """List the versions that ``out`` holds, newest first, and write a page that leads to the newest."""
    found = [page.parent.name for page in out.glob(f"*/{START}")]
    found.sort(key=lambda name: [int(number) for number in re.findall(r"\d+", name)], reverse=True)
    # A script and not JSON: pages opened as files may load the one and not the other.
    (out / "versions.js").write_text(f"window.tidegateVersions = {json.dumps(found)};\n", encoding="utf-8")
    redirect(out / "index.html", f"{found[0]}/{START}")
    for version in found:
        redirect(out / version / "index.html", START)


def redirect(file: Path, target: str) -> None:
    """Write a page that leads to another one."""
    file.write_text(
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Tidegate</title>\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n'
        f'<p>The documentation starts at <a href="{target}">{target}</a>.</p>\n</html>\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
