// The user's ~/.netrc, which pip, uv, curl and our programs read: one entry for a host, for all of its ports
// and indexes. Entries that a log-in wrote have the account "wheelyard-login"; no other byte of the file is
// ever changed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::simple {

// The password of the entry that a log-in wrote for `host`; nullopt: there is none. Pure.
[[nodiscard]] std::optional<std::string> find_login(std::string_view netrc, std::string_view host);
// The file with the entry of a log-in for `host`, in the place of an earlier one, else before a `default`,
// else at the end. Pure. Error "netrc.other": the file has an entry for the host that no log-in wrote.
[[nodiscard]] base::Result<std::string> with_login(std::string_view netrc, std::string_view host,
                                                   std::string_view token);
// The file without the entries of log-ins for `host`. Pure.
[[nodiscard]] std::string without_login(std::string_view netrc, std::string_view host);

// The file of the home folder as it is; empty: there is none. Errors "netrc.link" where it is a link to
// outside the home, "os.*".
[[nodiscard]] base::Result<std::string> read_netrc(const std::filesystem::path& home);
// Replaces it by a rename, mode 0600. What a link inside the home names is replaced, not the link. The same
// errors.
[[nodiscard]] base::Status write_netrc(const std::filesystem::path& home, std::string_view bytes);

}  // namespace wheelyard::simple
