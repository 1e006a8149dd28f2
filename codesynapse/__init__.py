"""CodeSynapse: memory for coding agents.

Importing the package costs nothing: hooks start through it, so it imports no module of its own.
"""

__version__ = "0.1.0"
__all__ = ["__version__"]
