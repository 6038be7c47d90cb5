// Closes an owned file descriptor.
#include "lib/base/files/fd.hpp"

#include <unistd.h>

namespace wheelyard::base {

void Fd::reset() {
    // On Linux close(2) releases the descriptor even when it fails with EINTR; never retry it.
    if (number_ >= 0) ::close(std::exchange(number_, -1));
}

}  // namespace wheelyard::base
