#include "registry/access/local_actor.hpp"

#include <unistd.h>

#include "lib/base/process/user.hpp"

namespace wheelyard::registry {

std::string local_actor() {
    return local_actor(::geteuid());
}

std::string local_actor(uid_t user) {
    return "local:" + base::user_name(user);
}

}  // namespace wheelyard::registry
