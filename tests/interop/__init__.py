"""The SDK suite as a package, so that its modules import each other by name."""
