#include "registry/access/local_actor.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>

namespace wheelyard::registry {

std::string local_actor() {
    return local_actor(::geteuid());
}

std::string local_actor(uid_t user) {
    std::array<char, 4096> buffer{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
        return std::string("local:") + entry.pw_name;
    return "local:" + std::to_string(user);
}

}  // namespace wheelyard::registry
