#include "builder/steps/build_tree.hpp"

#include "builder/attempt/temporary_files.hpp"

namespace wheelyard::builder {

base::Status remove_bulk(const Attempt& attempt, const Ports& ports) {
    for (const auto& path : ports.folder_of(attempt).bulk())
        WHEELYARD_TRY(free_space(path, ports.keep_alive));
    return {};
}

base::Status leave_old_tree(Attempt& attempt, const Ports& ports) {
    if (attempt.job.builds_in.empty()) return {};
    for (const auto& path : ports.folder_of(attempt).build_bulk())
        WHEELYARD_TRY(free_space(path, ports.keep_alive));
    attempt.job.builds_in.clear();
    return {};
}

}  // namespace wheelyard::builder
