# System tests: the real programs, real clients.
