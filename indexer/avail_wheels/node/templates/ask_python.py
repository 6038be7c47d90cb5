# Says as JSON what this interpreter is, and where it looks for modules as `site` computes it without -I and -S:
# the folder of a user counts unless the environment (venv) leaves it out. Path lines of .pth files count, their
# code is not run. Folders that do not exist yet are listed, too, because the answer is cached.
import json
import os
import sys
import sysconfig


def utf8(path):
    return path.encode("utf-8", "replace").decode()


def libc():
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "none"
    except (AttributeError, OSError, ValueError):
        return "none"


def module_folders():
    import site

    site.exec = lambda *line: None
    site.ENABLE_USER_SITE = not os.environ.get("PYTHONNOUSERSITE")
    known = site.venv(set())
    users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    site.addsitepackages(site.addusersitepackages(known))
    return list(dict.fromkeys(sys.path + users + site.getsitepackages()))


variable = sysconfig.get_config_var
answer = {
    "name": sys.implementation.name,
    "version": ".".join(map(str, sys.version_info[:3])),
    "free_threaded": bool(variable("Py_GIL_DISABLED")),
    "debug": bool(variable("Py_DEBUG")),
    "soabi": variable("SOABI") or "",
    "libc": libc(),
    "executable": utf8(sys.executable or ""),
    "folders": [],
}
try:
    answer["folders"] = [utf8(folder) for folder in module_folders()]
except Exception:
    pass
print(json.dumps(answer))
