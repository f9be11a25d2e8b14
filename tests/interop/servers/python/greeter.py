"""No server: a library that prints when it is imported; lazy_import.py imports it."""

print("pygreeter 2.6.1 (SDL 2.28.4). Hello from the greeter community.", flush=True)


def polite(text: str) -> str:
    """The text."""
    return text
