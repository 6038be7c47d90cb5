"""The site's modules from the facts: Lua files by a real Lmod, with the variables and programs that the facts name. What compiles is this
machine's GCC and Open MPI behind the site's names; what has no stand-in here only prints its name.
"""

import os
import re
import subprocess
from pathlib import Path

from support.box.facts import BoxFacts, Module
from support.box.pbs import client_text
from support.site import PYTHON, PYTHON_VERSION

LMOD = Path("/usr/share/lmod/lmod/init/bash")
TREE = Path("/opt/site/modules")
HOMES = Path("/opt/site")
STOCK = Path("/opt/stock")  # what prefixes are made of
TEMPLATE = STOCK / "venv"  # an environment with pip, copied for each `-m venv`: ensurepip takes seconds

# The machine's own Python; a copy of TEMPLATE in place of ensurepip's work.
QUICK_PYTHON = f"""#!/bin/bash
test "${{1-}} ${{2-}}" != "-m venv" || {{
    test "$3" = --without-pip && exec {PYTHON} "$@"
    mkdir -p "$3" && cp -a {TEMPLATE}/. "$3"
    exit
}}
exec {PYTHON} "$@"
"""
CONDA_SH = """conda() {
    test "$1" = activate || { echo "conda: $*" >&2; return 1; }
    test -e "$2/conda-meta" || { echo "EnvironmentLocationNotFound: Not a conda environment: $2" >&2; return 1; }
    echo "$undefined_in_conda_activate" > /dev/null
    export CONDA_PREFIX=$2 PATH=$2/bin:$PATH
    false # as scripts in activate.d may end
}
"""
# `conda create -y -p PREFIX python=X.Y`, and the installer of Miniconda for X.Y: `bash Miniconda3-pyXY_… -b -p PREFIX`.
MAKE_PREFIX = """#!/bin/bash
set -eu
prefix= version=@VERSION@ packages=()
while test $# -gt 0; do
    case $1 in
    create|-y|-b) shift ;;
    -p) prefix=$2; shift 2 ;;
    -c) shift 2 ;;
    python=*) version=${1#python=}; shift ;;
    [a-z]*) packages+=("$1"); shift ;;
    *) echo "conda: unknown argument $1" >&2; exit 2 ;;
    esac
done
test "$version" = @SITE@ || { echo "conda: the site's document has Python @SITE@, not $version" >&2; exit 1; }
mkdir -p "$prefix/bin" "$prefix/conda-meta" "$prefix/etc/profile.d"
cp @STOCK@/python "$prefix/bin/python@OURS@"
ln -sf python@OURS@ "$prefix/bin/python"
cp @STOCK@/conda.sh "$prefix/etc/profile.d/conda.sh"
for package in "${packages[@]}"; do
    test -d "@STOCK@/$package" || { echo "PackagesNotFoundError: $package"; exit 1; }
    cp -r "@STOCK@/$package/." "$prefix"
done
"""
# Starts ranks as Open MPI's mpirun does in a job of Slurm: up to two are bound to a core each, unless told otherwise. Ranks of its own node have its variables; only those of -x surely go to other nodes.
MPIRUN = r"""#!/bin/bash
set -eu
ranks=1 names=() bound=yes
while :; do
    case ${1-} in
    --bind-to) test "$2" != none || bound=no; shift 2 ;;
    -n) ranks=$2; shift 2 ;;
    -x) names+=("$2"); shift 2 ;;
    -*) echo "mpirun: unrecognized argument $1" >&2; exit 1 ;;
    *) break ;;
    esac
done
kept=PATH,LD_LIBRARY_PATH,LOADEDMODULES,CUDA_VISIBLE_DEVICES,HOME,USER,TMPDIR,OMP_NUM_THREADS,WHEELYARD_ENVIRONMENT
export=ALL
test "${SLURM_JOB_NUM_NODES-1}" = 1 || export=$kept$(printf ',%s' "${names[@]}")
test "$ranks" -le 2 || bound=no
exec srun --ntasks="$ranks" --export="$export" bash -c '
test "$0" = no || taskset -cp "$(($(taskset -cp $$ | sed "s/.*: //; s/[-,].*//")))" $$ >/dev/null
export OMPI_COMM_WORLD_RANK=$SLURM_PROCID OMPI_COMM_WORLD_SIZE=$SLURM_NTASKS OMPI_COMM_WORLD_LOCAL_RANK=$SLURM_LOCALID
exec "$@"' "$bound" "$@"
"""
COMPILERS = {"icx": "gcc", "icpx": "g++", "cc": "mpicc", "CC": "mpicxx", "mpicc": "mpicc", "mpicxx": "mpicxx", "gcc": "gcc", "g++": "g++", "hipcc": "g++"}
GPU_LIBRARIES = {"cuda/": "libcudart.so.@", "cudatoolkit/": "libcudart.so.@", "CUDA/": "libcudart.so.@", "rocm/": "libamdhip64.so.@", "oneapi/": "libsycl.so.8"}
# What a build looks for in the folder of a module or a package of Conda.
FILES = {"magma": "include/magma.h", "cusparselt": "include/cusparseLt.h", "flexiblas": "include/flexiblas/cblas.h", "foss": "include/flexiblas/cblas.h",
         "nccl": "lib/libnccl.so", "mkl": "lib/libmkl_core.a", "libcudss": "include/cudss.h"}
# Cray's wrappers take the target that a module of craype names, too.
WRAPPER = """#!/bin/bash
arguments=()
for one in "$@"; do
    case $one in
    -target-accel=*) test -n "$(echo "${LOADEDMODULES-}" | grep craype-accel)" || { echo "error: no module for $one" >&2; exit 1; } ;;
    *) arguments+=("$one") ;;
    esac
done
exec /usr/bin/@COMPILER@ "${arguments[@]}"
"""
SAYS_ITS_NAME = '#!/bin/bash\ncase "$*" in\n*" -o "*) touch "${!#}" ;;\n*) echo "${0##*/} 1.0.0" ;;\nesac\n'


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def program_of(name: str, facts: BoxFacts) -> str:
    if name == "mpirun":
        return MPIRUN
    if name == "mpiexec":
        return client_text(name)
    if name.startswith("python"):
        return QUICK_PYTHON
    if name == "conda":
        return maker_of_prefixes(facts, facts.python)
    if name in ("cc", "CC"):
        return WRAPPER.replace("@COMPILER@", COMPILERS[name])
    if name in COMPILERS:
        return f'#!/bin/bash\nexec /usr/bin/{COMPILERS[name]} "$@"\n'
    return SAYS_ITS_NAME


def maker_of_prefixes(facts: BoxFacts, version: str) -> str:
    words = {"@VERSION@": version, "@SITE@": facts.python, "@OURS@": PYTHON_VERSION, "@STOCK@": str(STOCK)}
    return re.sub("@[A-Z]+@", lambda match: words[match[0]], MAKE_PREFIX)


def make_modules(facts: BoxFacts) -> None:
    os.umask(0o022)
    write_program(STOCK / "python", QUICK_PYTHON)
    (STOCK / "conda.sh").write_text(CONDA_SH)
    for module in facts.modules:
        write_module(facts, module)
    for name in facts.conda_packages:
        write_files(STOCK / name, name)
    init = Path(facts.module_init)
    for old in Path("/etc/profile.d").iterdir():
        old.unlink()
    init.parent.mkdir(parents=True, exist_ok=True)
    init.write_text(f"unset MODULEPATH\nexport LMOD_SYSTEM_DEFAULT_MODULES=\n. {LMOD}\nmodule use {TREE}\n")


def write_library(path: Path) -> None:
    """A library without a symbol, for what is linked to the real one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["gcc", "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,{path.name}", "-o", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def write_files(home: Path, name: str) -> None:
    for project, file in FILES.items():
        if name.startswith(project):
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).touch()


def home_of(module: Module) -> Path:
    project, _, version = module.name.partition("/")
    return Path(module.home) if module.home else HOMES / project / (version or "1.0")


def gpu_libraries(facts: BoxFacts) -> list[Path]:
    """The library of the GPUs' toolkit, where a module brings it: upstream's wheels for CUDA do without."""
    modules = [one for one in facts.modules if one.name.startswith(tuple(GPU_LIBRARIES))]
    if not modules and facts.is_a("cuda"):
        return []
    [module] = modules
    [pattern] = [soname for prefix, soname in GPU_LIBRARIES.items() if module.name.startswith(prefix)]
    [library] = (home_of(module) / "lib").glob(pattern.replace("@", "*"))
    return [library]


def write_module(facts: BoxFacts, module: Module) -> None:
    project, _, version = module.name.partition("/")
    home = home_of(module)
    for name in module.programs:
        # A module of Python brings the site's version under its own name.
        path = home / "bin" / (f"python{PYTHON_VERSION}" if name == f"python{facts.python}" else name)
        write_program(path, program_of(name, facts))
    if "conda" in module.programs:
        (home / "etc/profile.d").mkdir(parents=True)
        (home / "etc/profile.d/conda.sh").write_text(CONDA_SH)
    for folder in ["lib", *module.folders]:
        (home / folder).mkdir(parents=True, exist_ok=True)
    write_files(home, project)
    for prefix, soname in GPU_LIBRARIES.items():
        if module.name.startswith(prefix):
            write_library(home / "lib" / soname.replace("@", version.rpartition("_")[2].partition(".")[0]))
    lines = [f'prepend_path("LD_LIBRARY_PATH", "{home}/lib")']
    if any(name.startswith("EBROOT") for name in module.sets):  # as EasyBuild's modules do
        lines.append(f'prepend_path("CMAKE_PREFIX_PATH", "{home}")')
    lines += [f'setenv("{name}", "{home}")' for name in module.sets] + [f'prepend_path("PATH", "{home}/bin")']
    for variable in {one.within for one in facts.modules if one.within}:
        if module == facts.modules[0]:  # that of the stack
            lines.append(f'prepend_path("MODULEPATH", pathJoin(os.getenv("{variable}") or "/nowhere", "modules"))')
    tree = Path(facts.variables("users")[module.within]) / "modules" if module.within else TREE
    file = tree / project / f"{version or '1.0'}.lua"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")
