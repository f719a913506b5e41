"""``python -m textassay``."""

import sys

from textassay.cli import main

sys.exit(main())
