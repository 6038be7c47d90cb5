// getrlimit(2) and the sum over everybody's needs.
#include "registry/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "registry/limits.hpp"

namespace wheelyard::registry {

std::uint64_t raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptors_by_custom;
    rlimit raised = limit;
    raised.rlim_cur = std::min<rlim_t>(limit.rlim_max, most_descriptors_asked);
    if (raised.rlim_cur > limit.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) return raised.rlim_cur;
    return limit.rlim_cur;
}

std::size_t connections_within(std::uint64_t descriptors, std::size_t most_uploads) {
    const std::uint64_t taken = descriptors_of_the_program + most_uploads * descriptors_of_an_upload;
    if (descriptors <= taken + descriptors_of_a_connection) return 1;
    return static_cast<std::size_t>((descriptors - taken) / descriptors_of_a_connection);
}

}  // namespace wheelyard::registry
