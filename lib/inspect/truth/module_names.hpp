// Which environment module a library search path belongs to, read off the path alone: what site staff do by
// eye with `ldd | sed`. Clusters install software as …/NAME/VERSION/lib (EasyBuild, hand-made trees) or
// …/NAME-VERSION[-HASH]/lib (Spack, ROCm), and name the module NAME/VERSION.
//
//     /cvmfs/…/easybuild/software/2023/x86-64-v3/Compiler/gcc12/cudacore/12.2.2/lib64   cudacore/12.2.2
//     /apps/easybuild/software/OpenMPI/4.1.5-GCC-12.3.0/lib OpenMPI/4.1.5-GCC-12.3.0
//     /opt/cray/pe/mpich/8.1.27/ofi/gnu/9.1/lib                                         cray-mpich/8.1.27
//     /opt/spack/linux-rhel8-zen2/gcc-12.2.0/hdf5-1.14.0-4xjbnmzq2mkcdxzfzhc4yszkdcdtzhbm/lib   hdf5/1.14.0
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::inspect {

// Empty where the path follows no such form, is not absolute, or belongs to the system or a user (/usr, /home
// …).
[[nodiscard]] std::string module_of_path(std::string_view path);

}  // namespace wheelyard::inspect
