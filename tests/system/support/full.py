"""What only `scripts/test --full` runs: it sets WHEELYARD_FULL=1."""

import os
import unittest

IS_FULL = os.environ.get("WHEELYARD_FULL") == "1"
full = unittest.skipUnless(IS_FULL, "scripts/test --full runs this")
