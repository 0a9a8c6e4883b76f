"""``python -m pronominal``."""

from pronominal.cli.main import main

main()
