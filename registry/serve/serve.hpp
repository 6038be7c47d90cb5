// `wheelyard-registry serve`: the server with everything that runs in it.
#pragma once

#include <filesystem>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/store/opened_store.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {

struct ServeArguments {
    std::filesystem::path config;
    std::filesystem::path ready_file;  // gets the URL once requests are answered; may be empty
    bool check = false;                // only check what can be checked before serving
};
// Serves until SIGTERM or SIGINT, then drains. Prints `listening on http://127.0.0.1:8080`.
[[nodiscard]] base::Status run_serve(const ServeArguments& arguments, const OpenPublisher& open_publisher,
                                     const RenderProject& render, const ShowStatus& show_status,
                                     const base::Clock& clock);

}  // namespace wheelyard::registry
