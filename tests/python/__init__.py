"""Tests of the Python face, against the installed package: `make py`."""
