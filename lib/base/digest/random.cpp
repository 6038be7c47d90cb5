// Random bytes from the kernel. Separate from OpenSSL's digests: replacing a file needs an unpredictable name
// but no cryptography library.
#include <sys/random.h>

#include <cerrno>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::base {

std::string random_bytes(std::size_t count) {
    std::string out(count, '\0');
    for (std::size_t have = 0; have < count;) {
        const auto got = ::getrandom(out.data() + have, count - have, 0);
        WHEELYARD_CHECK(got > 0 || errno == EINTR);
        if (got > 0) have += static_cast<std::size_t>(got);
    }
    return out;
}

}  // namespace wheelyard::base
