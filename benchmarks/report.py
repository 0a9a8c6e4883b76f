"""How large a report is, and how long Chromium takes to open it from disk with the network off.

Give a folder of scored runs, best of eight systems on all datasets. The page is written once and
opened in a fresh context for every round; a load is counted from the start of the navigation to
the end of the load event, as the browser's own clock has it. Prints one JSON object with the
median and the slowest, in seconds, and the size in megabytes.
"""

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from pronominal.eval.report import write_report

ROUNDS = 7
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def seconds_to_open(browser: Browser, page: Path) -> float:
    context = browser.new_context(offline=True)
    opened = context.new_page()
    opened.goto(page.as_uri())
    milliseconds = opened.evaluate(LOADED)
    context.close()
    return float(milliseconds) / 1000


def main(runs: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        started = time.process_time()
        number = write_report(runs, page)
        written = time.process_time() - started
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        seconds = [seconds_to_open(browser, page) for _ in range(ROUNDS)]
        browser.close()
        result = {
            "runs": number,
            "megabytes": round(page.stat().st_size / 1e6, 2),
            "write_cpu_seconds": round(written, 2),
            "open_seconds_median": round(statistics.median(seconds), 2),
            "open_seconds_slowest": round(max(seconds), 2),
        }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
