import json, os, platform, sys, sysconfig
try:
    libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
except (AttributeError, OSError, ValueError):
    libc = ""
print(json.dumps({
    "implementation": sys.implementation.name, "major": sys.version_info[0], "minor": sys.version_info[1],
    "full_version": platform.python_version(), "prefix": sys.prefix, "machine": platform.machine(), "libc": libc,
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED"))}))
