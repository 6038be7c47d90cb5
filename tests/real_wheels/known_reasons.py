"""Why we and another tool disagree about a real wheel: (wheel, member, fields, reason), patterns of fnmatch, the first that fits
counts. A row is written only after the bytes were looked at; compare.py --all fails on a row that explains nothing any more, unless
it depends on what the machine has (OF_THE_MACHINE)."""

OF_THE_MACHINE = "auditwheel adds the needs of libraries that it finds on the machine it runs on"

REASONS = [
    ("xformers-0.0.35-*", "", {"glibc"},
     "The dynamic linker, `ld-linux-x86-64.so.2`, must provide GLIBC_2.3; auditwheel omits its versions, glibc checks them like any other."),
    ("pydantic_core-2.50.4-*-musllinux_*", "", {"auditwheel"},
     "auditwheel looks for `libc.so` among the libraries of the machine it runs on, finds glibc's linker script of that name, and gives up."),
    ("jax_rocm60_pjrt-0.5.0-*", "", {"glibc", "sym_tag"},
     OF_THE_MACHINE + ": GLIBC_2.33 is what Debian 12's `libnuma.so.1` needs."),
    ("triton-3.9.0-*", "", {"overall_tag"},
     "`libtriton.so` is in another folder of the wheel, which the RPATHs of the plugins that need it do not reach (they name the build "
     "machine). We count everything in the wheel as inside; auditwheel follows the RPATHs."),
    ("bitsandbytes-0.*", "bitsandbytes/libbitsandbytes_cuda12[012]*.so", {"cuda_sm", "cuda_ptx", "cuobjdump_error"},
     "cuobjdump 13.5 rejects cubins for sm_70 and above that CUDA 12.0 to 12.2 linked, also when their fatbin is extracted, and stops "
     "listing. The headers of the entries have the same layout as in the files for CUDA 11.8 and for 12.3 or 12.4, where the lists agree."),
    ("*", "*", {"cuda_family"},
     "Code for a family (`sm_100f`): cuobjdump 13.5 lists it as plain `sm_100`; the cubins' own notes say `-arch sm_100f`."),
    ("nvidia_cusolver_cu11-*", "nvidia/cusolver/lib/libcusolver*.so.11", {"cuda_sm", "cuda_ptx", "cuobjdump_error"},
     "cuobjdump 13.5 stops at code for sm_35, which CUDA 12 no longer knows. 2,249 entries of `libcusolver.so.11` hold plain cubins, and "
     "the SM in the `e_flags` of each is that of its entry's header."),
    ("nvidia_nvshmem_cu13-*", "", {"glibc", "sym_tag"},
     OF_THE_MACHINE + ": no file of the wheel needs more than GLIBC_2.17. With `--ldpaths` and an empty folder it agrees."),
    ("opencv_python-5.0.*", "", {"glibc", "sym_tag"},
     OF_THE_MACHINE + ": no file of the wheel needs more than GLIBC_2.28. With `--ldpaths` and an empty folder it agrees."),
    ("mpi4py-*", "", {"glibc", "sym_tag"},
     OF_THE_MACHINE + ", where one has an MPI. With `--ldpaths` and an empty folder it agrees."),
]
