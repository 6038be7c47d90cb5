#include "registry/store/owner.hpp"

#include <grp.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <system_error>

#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "registry/config/config_place.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

struct Owner {
    uid_t user = 0;
    gid_t group = 0;
};

// Of the nearest folder that is there. nullopt: root's, or this is not root.
std::optional<Owner> other_owner_of(std::filesystem::path store) {
    if (::geteuid() != 0) return std::nullopt;
    std::error_code error;
    store = std::filesystem::absolute(store, error);
    struct stat folder {};
    while (::stat(store.c_str(), &folder) != 0) {
        if (store == store.parent_path()) return std::nullopt;
        store = store.parent_path();
    }
    if (folder.st_uid == 0) return std::nullopt;
    return Owner{folder.st_uid, folder.st_gid};
}

}  // namespace

void create_as_owner_of(const std::filesystem::path& store) {
    const auto owner = other_owner_of(store);
    // Otherwise the change of user takes the capabilities for files away.
    if (!owner || ::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) != 0) return;
    ::setfsgid(owner->group);
    ::setfsuid(owner->user);
}

void create_as_owner_of_usual_store() {
    const std::filesystem::path file = find_config_file(base::current_environment());
    if (file.empty()) return;
    const auto config = read_config(file);
    if (config) create_as_owner_of(config->store);
}

base::Status become_owner_of(const std::filesystem::path& store) {
    const auto owner = other_owner_of(store);
    if (!owner) return {};
    // With the groups that the user has: a key may be readable by one.
    const passwd* user = ::getpwuid(owner->user);
    const int grouped = user == nullptr ? ::setgroups(0, nullptr) : ::initgroups(user->pw_name, owner->group);
    if (grouped == 0 && ::setresgid(owner->group, owner->group, owner->group) == 0 &&
        ::setresuid(owner->user, owner->user, owner->user) == 0)
        return {};
    return base::fail("store.user", "This process cannot become the user who owns the store", store.string(),
                      "run it as that user");
}

std::string note_of_root(const std::filesystem::path& store) {
    if (::geteuid() != 0 || other_owner_of(store)) return "";
    return "the store is root's: a server of another user needs `chown -R USER: " +
           base::quote_shell(store.string()) + "`\n";
}

base::Result<RegistryConfig> read_config_as_owner(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(file));
    create_as_owner_of(config.store);
    return config_in_force(config, database::Store(config.database()));
}

}  // namespace wheelyard::registry
