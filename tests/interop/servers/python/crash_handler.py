"""A handler of last resort that prints the traceback to stdout; a setting that is no number brings it on."""

import os
import sys
import traceback

from serve import serve

try:
    LIMIT = int(os.environ.get("FAULT_LIMIT", "10"))
    serve()
except Exception:
    traceback.print_exc(file=sys.stdout)
    sys.exit(1)
