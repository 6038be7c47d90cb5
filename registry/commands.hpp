// One function per command of `wheelyard-registry`. main.cpp parses the command line, calls these, prints a
// failed Status and exits with status 1.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/blobs/store.hpp"
#include "registry/commit/publishing.hpp"
#include "registry/config/live_config.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {

// Opens what publishing needs and returns the function that publishes: the indexer, which the registry itself
// does not know.
using OpenPublisher = std::function<base::Result<PublishFunction>(ConfigView, const blobs::BlobStore&)>;

struct ServeArguments {
    std::filesystem::path config;
    std::filesystem::path ready_file;  // gets the URL once requests are answered; may be empty
    bool check = false;                // only check what can be checked before serving
};
// Serves until SIGTERM or SIGINT, then drains. Prints `listening on http://127.0.0.1:8080`.
[[nodiscard]] base::Status run_serve(const ServeArguments& arguments, const OpenPublisher& open_publisher,
                                     const RenderProject& render, const ShowStatus& show_status,
                                     const base::Clock& clock);

// Writes a commented configuration into `directory` (made if missing).
[[nodiscard]] base::Status run_init(const std::filesystem::path& directory);

struct TokenCreateArguments {
    std::filesystem::path config;
    std::string name;
    std::vector<std::string> indexes;
    std::vector<std::string> projects;  // none: all
    std::vector<std::string> actions;   // none: upload
    std::string expires;                // "90d"; empty: never
    bool json = false;
    std::filesystem::path to = {};  // a new file for the token's text; empty: it is printed
};
// Prints the token's text or writes it to `to`. It cannot be shown again.
[[nodiscard]] base::Status run_token_create(const TokenCreateArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_token_list(const std::filesystem::path& config, bool json,
                                          const base::Clock& clock);
[[nodiscard]] base::Status run_token_revoke(const std::filesystem::path& config, const std::string& id,
                                            const base::Clock& clock);

// Every stored thing as JSON lines: events, files, tokens (without their hashes), the list of indexes.
[[nodiscard]] base::Status run_dump(const std::filesystem::path& config);

}  // namespace wheelyard::registry
