// Environment modules derived from library search paths.
#include "lib/inspect/truth/libraries.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

TEST_CASE("a search path in a site's tree identifies its module") {
    struct Row {
        std::string_view path, module;
    };
    for (const Row& row : {
             Row{"/cvmfs/soft.example.org/easybuild/software/2023/x86-64-v3/Compiler/gcc12/cudacore/12.2.2/"
                 "lib64",
                 "cudacore/12.2.2"},
             Row{"/cvmfs/soft.example.org/easybuild/software/2023/x86-64-v3/Core/cudacore/12.2.2/targets/"
                 "x86_64-linux/lib",
                 "cudacore/12.2.2"},
             Row{"/sw/x/openmpi/4.1.5/lib", "openmpi/4.1.5"},
             Row{"/apps/easybuild/software/OpenMPI/4.1.5-GCC-12.3.0/lib", "OpenMPI/4.1.5-GCC-12.3.0"},
             Row{"/opt/cray/pe/mpich/8.1.27/ofi/gnu/9.1/lib", "cray-mpich/8.1.27"},
             Row{"/opt/cray/libfabric/1.15.2.0/lib64", "libfabric/1.15.2.0"},
             Row{"/opt/nvidia/hpc_sdk/Linux_x86_64/23.9/cuda/12.2/lib64", "nvhpc/23.9"},
             Row{"/opt/rocm-5.7.1/lib", "rocm/5.7.1"},
             Row{"/opt/spack/linux-rhel8-zen2/gcc-12.2.0/hdf5-1.14.0-4xjbnmzq2mkcdxzfzhc4yszkdcdtzhbm/lib",
                 "hdf5/1.14.0"},
             Row{"/sw/cuda/v12.2/lib64", "cuda/v12.2"},
             Row{"/cvmfs/soft.example.org/easybuild/software/2023/lib", ""},
             Row{"/sw/x86-64-v3/lib", ""},
             Row{"/cvmfs/soft.example.org/gentoo/lib64", ""},
             Row{"/usr/local/cuda-12.2/lib64", ""},
             Row{"/home/user/openmpi/4.1.5/lib", ""},
             Row{"/tmp/build/six-1.16.0/lib", ""},
             Row{"/sw/openmpi/4.1.5/../../evil/1.0/lib", ""},
             Row{"openmpi/4.1.5/lib", ""},
             Row{"/", ""},
             Row{"", ""},
         }) {
        CAPTURE(row.path);
        CHECK(inspect::module_of_path(row.path) == row.module);
    }
}
