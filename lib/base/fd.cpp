// Closing a descriptor.
#include "lib/base/fd.hpp"

#include <unistd.h>

namespace wheelyard::base {

void Fd::reset() {
    // On Linux the descriptor is gone even when close says EINTR (close(2)), so there is no second try.
    if (number_ >= 0) ::close(std::exchange(number_, -1));
}

}  // namespace wheelyard::base
