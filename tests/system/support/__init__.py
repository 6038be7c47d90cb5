"""What the system tests share. Importing it makes every skip a line of the file that WHEELYARD_SKIPS names (skips.py)."""

from support import skips

skips.record_all()
