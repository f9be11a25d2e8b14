"""A logger whose stream is stdout."""

import logging
import sys

from serve import serve

logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(levelname)s:%(name)s:%(message)s")
serve(before=lambda method: logging.getLogger("server").info("request %s", method))
