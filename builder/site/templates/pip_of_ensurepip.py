import ensurepip, glob, os, runpy, sys, sysconfig
own = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
for folder in (sysconfig.get_config_var("WHEEL_PKG_DIR"), own, "/usr/share/python-wheels"):
    for wheel in glob.glob(os.path.join(folder, "pip-*.whl")) if folder else ():
        sys.path.insert(0, wheel)
        runpy.run_module("pip", run_name="__main__", alter_sys=True)
