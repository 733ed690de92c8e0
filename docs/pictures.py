"""Makes the pictures of docs/reports.md and docs/how.md: ``python docs/pictures.py``.

The report needs Chromium or Chrome; without one its picture is left as it is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pictures_how
from PIL import Image

HERE = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def example() -> dict[str, Any]:
    """Return the names that the first block of the page defines."""
    page = (HERE / "reports.md").read_text(encoding="utf-8")
    block = re.search(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert block is not None
    namespace: dict[str, Any] = {}
    exec(block[1], namespace)
    return namespace


def main() -> None:
    """Write all pictures."""
    matplotlib.use("Agg")
    pictures_how.main()
    names = example()
    X, y, est = names["X"], names["y"], names["est"]
    folder = HERE / "pictures"
    folder.mkdir(exist_ok=True)
    for kind in ("front", "fit", "tree", "convergence", "features"):
        est.plot(kind, X, y).figure.savefig(folder / f"{kind}.png", dpi=80)
        plt.close("all")
    browser = next((b for b in map(shutil.which, BROWSERS) if b), None)
    if browser is None:
        return
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "report.html"
        est.report(page, X, y)
        subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--window-size=1100,1000", f"--screenshot={folder / 'report.png'}", page.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
    with Image.open(folder / "report.png") as picture:
        small = picture.convert("RGB").quantize(64)
    small.save(folder / "report.png", optimize=True)


if __name__ == "__main__":
    main()
