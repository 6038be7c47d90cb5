// Log-in at a registry from a shell: the code of a device that the registry gets from its provider
// (docs/how-to/log-in.md). The token lies in ~/.netrc, where pip, uv and our programs find it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::simple {

// What a log-in needs of its program.
struct LoginWorld {
    GetPage get;
    std::function<base::Result<io::HttpAnswer>(const std::string& url, const std::string& body,
                                               const io::HttpHeaders& headers)>
        post;
    std::function<void(const std::string& text)> show;  // what to enter where, before the wait
    base::Clock& clock;
    std::filesystem::path home;                        // with the .netrc
    std::optional<std::filesystem::path> other_netrc;  // io::other_netrc(): what programs read instead
    std::string program;                               // "avail_wheels": in advice
    std::string arguments;                             // that name the registry to it, as a shell reads them
};

// Logs in at `registry` ("https://wheels.example.org") by its provider `identity`; empty: the only one. Waits
// until somebody has entered the code. Returns what to tell the user: who, which rights, until when. Errors
// "login.*", "netrc.*", "http.*", "os.*".
[[nodiscard]] base::Result<std::string> log_in(const LoginWorld& world, const std::string& registry,
                                               const std::string& identity);
// Revokes the token and removes the entry. A token that the registry does not know any more is only removed.
[[nodiscard]] base::Result<std::string> log_out(const LoginWorld& world, const std::string& registry);

}  // namespace wheelyard::simple
