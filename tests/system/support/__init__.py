"""What the system tests stand on: a farm in a temporary folder, wheels made for the purpose, and real clients."""
