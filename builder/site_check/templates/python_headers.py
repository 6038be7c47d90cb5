import os, sys, sysconfig
folders = [sysconfig.get_path(name) for name in ("include", "platinclude")]
folders += [folder for name in ("CPATH", "C_INCLUDE_PATH") for folder in os.environ.get(name, "").split(":")]
folders = list(dict.fromkeys(filter(None, folders)))
for folder in folders:
    if os.path.isfile(os.path.join(folder, "Python.h")):
        print(os.path.join(folder, "Python.h"))
        sys.exit(0)
sys.exit("no Python.h in " + ", ".join(folders))
