#include "registry/access/local_actor.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>

namespace wheelyard::registry {

std::string local_actor() {
    std::array<char, 4096> buffer{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    const uid_t user = ::geteuid();
    if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
        return std::string("local:") + entry.pw_name;
    return "local:" + std::to_string(user);
}

}  // namespace wheelyard::registry
