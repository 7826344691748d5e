"""Functions that a model may call: from servers of the Model Context Protocol (MCP), as processes or over HTTP."""
