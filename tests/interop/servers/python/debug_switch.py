"""A switch that many machines have set makes it talk."""

import os

from serve import serve

if os.environ.get("DEBUG"):
    print("[debug] settings loaded from defaults", flush=True)
serve()
