"""``python client.py``: runs pronominal commands, one for each line of JSON on stdin.

The Hub's client reads most of its settings once, at import: an interpreter of its own has them
from its environment. A command's tokens are set anew each time, as
they are read each time.
"""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout

from pronominal.cli.main import main


def run(arguments: list[str], token: str | None, stranger: str | None = None) -> dict[str, object]:
    for name, value in (("HF_TOKEN", token), ("PRONOMINAL_STRANGER_TOKEN", stranger)):
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
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
