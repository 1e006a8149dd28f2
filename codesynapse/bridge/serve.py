"""What an agent program starts: ``PYTHON -I -S serve.py``, the stdio MCP server.

A launcher without logic, so that the compiled modules do the work: a script itself is compiled
anew at each start.
"""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rsplit("codesynapse", 1)[0])

from codesynapse.bridge.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
