"""``python client.py``: runs pronominal commands, one for each line of JSON on stdin.

The Hub's client reads most of its settings once, at import: an interpreter of its own has them
from its environment. A command's token is set anew each time, as the client reads it each time.
"""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout

from pronominal.cli.main import main


def run(arguments: list[str], token: str | None) -> dict[str, object]:
    os.environ.pop("HF_TOKEN", None)
    if token is not None:
        os.environ["HF_TOKEN"] = token
    sys.argv = ["pronominal", *arguments]
    status: object = None
    with redirect_stdout(io.StringIO()) as stdout, redirect_stderr(io.StringIO()) as stderr:
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    return {"status": status, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
