#include "registry/store/owner.hpp"

#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {

void create_as_owner_of(const std::filesystem::path& store) {
    struct stat folder {};
    if (::geteuid() != 0 || ::stat(store.c_str(), &folder) != 0 || folder.st_uid == 0) return;
    // Otherwise the change of user takes the capabilities for files away.
    if (::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) != 0) return;
    ::setfsgid(folder.st_gid);
    ::setfsuid(folder.st_uid);
}

base::Result<RegistryConfig> read_config_as_owner(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(file));
    create_as_owner_of(config.store);
    return config_in_force(config, database::Store(config.database()));
}

}  // namespace wheelyard::registry
