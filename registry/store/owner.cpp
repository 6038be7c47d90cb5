#include "registry/store/owner.hpp"

#include <unistd.h>

#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "registry/config/config.hpp"
#include "registry/config/config_place.hpp"

namespace wheelyard::registry {

std::optional<base::Owner> other_owner_of_usual_store() {
    const std::filesystem::path file = find_config_file(base::current_environment());
    if (file.empty()) return std::nullopt;
    const auto config = read_config(file);
    return config ? base::other_owner_of(config->store) : std::nullopt;
}

std::string note_of_root(const std::filesystem::path& store) {
    if (::geteuid() != 0 || base::other_owner_of(store)) return "";
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(store, ignored);
    return std::string("the store is ") + (is_there ? "root's" : "not there, and root's folder is above it") +
           ": a server of another user needs `" +
           (is_there ? "chown -R USER: " : "install -d -o USER -m 711 ") + base::quote_shell(store.string()) +
           "`\n";
}

}  // namespace wheelyard::registry
