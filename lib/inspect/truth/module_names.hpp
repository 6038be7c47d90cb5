// Derives the environment module of a library search path from the path. Clusters install software as
// …/NAME/VERSION/lib (EasyBuild, manual trees) or …/NAME-VERSION[-HASH]/lib (Spack, ROCm) and name the module
// NAME/VERSION.
//
//     /cvmfs/…/Compiler/gcc12/cudacore/12.2.2/lib64          cudacore/12.2.2
//     /apps/easybuild/software/OpenMPI/4.1.5-GCC-12.3.0/lib  OpenMPI/4.1.5-GCC-12.3.0
//     /opt/cray/pe/mpich/8.1.27/ofi/gnu/9.1/lib              cray-mpich/8.1.27
//     /opt/spack/…/gcc-12.2.0/hdf5-1.14.0-<hash>/lib         hdf5/1.14.0
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::inspect {

// Empty if the path has no such form, is not absolute, or belongs to the system or a user (/usr, /home …).
[[nodiscard]] std::string module_of_path(std::string_view path);

}  // namespace wheelyard::inspect
