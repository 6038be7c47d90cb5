// `wheelyard-registry release-project INDEX.UPSTREAM PROJECT`: lets other upstreams supply a project that
// this one supplied.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/store/store.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wire/problem.hpp"
#include "registry/access/person.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/config.hpp"
#include "registry/store/index_list.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/page_store.hpp"

namespace wheelyard::registry {
namespace {

struct ReleaseProjectArguments {
    std::string upstream;  // "base.public"
    std::string project;
    std::string reason;
    std::filesystem::path config;
    bool json = false;
};

constexpr std::string_view format = "wheelyard.project-released/1";

void add_release_project_options(CLI::App& command, ReleaseProjectArguments& arguments) {
    command.add_option("upstream", arguments.upstream, "The upstream, as INDEX.NAME")->required();
    command.add_option("project", arguments.project, "The project")->required();
    command.add_option("--reason", arguments.reason, "The reason in one line; `explain` shows it")
        ->required();
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
    add_config_option(command, arguments.config);
}

// Beside a running server or without one. Errors: "upstream.unknown", "explain.name", those of the store.
base::Status run_release_project(const ReleaseProjectArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    const std::vector<std::string> caches = config.cache_names();
    if (std::find(caches.begin(), caches.end(), arguments.upstream) == caches.end())
        return base::fail("upstream.unknown", "There is no upstream with this name", arguments.upstream,
                          caches.empty() ? "no index has one" : "configured: " + base::join(caches, ", "));
    if (!wheel::is_valid_name(arguments.project) || arguments.project.size() > max_project_bytes)
        return wire::fail("explain.name", "This is not the name of a project", arguments.project,
                          "names have letters, digits, `-`, `_` and `.`");
    const std::string project = wheel::normalize_name(arguments.project);
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).writer());
    WHEELYARD_ASSIGN(const auto files, catalog->files(arguments.upstream, project));
    // First the audit log: what is in it and not done is repeated; what is done and not in it nobody can
    // explain.
    const catalog::Cause cause{.actor = local_actor(), .reason = arguments.reason, .time = clock.now()};
    config.room().give_back_if_low();
    WHEELYARD_TRY(catalog->note_release(arguments.upstream, project, cause));
    PageStore pages(config.store / "upstream");
    WHEELYARD_TRY(
        pages.release(arguments.upstream, project, cause.reason + " (" + cause.actor + ")", cause.time));
    if (arguments.json) {
        base::print(stdout, "%s\n",
                    io::Json::object({{"format", format},
                                      {"upstream", arguments.upstream},
                                      {"project", project},
                                      {"fetched_files", static_cast<std::int64_t>(files.size())}})
                        .render()
                        .c_str());
        return {};
    }
    base::print(stdout, "released %s from %s\n", project.c_str(), arguments.upstream.c_str());
    if (!files.empty())
        base::print(
            stdout,
            "%zu files that were fetched from it stay until they are deleted: wheelyard-registry delete %s "
            "FILE\n",
            files.size(), arguments.upstream.c_str());
    return {};
}

}  // namespace

std::vector<Command> release_project_commands() {
    return {
        {heading::reasons, "release-project", "Let other upstreams supply a project that this one supplied",
         "base.public requests --reason 'the project moved' -c registry.toml",
         setup(add_release_project_options, run_release_project),
         "The upstream that supplied a project keeps it, even after it has removed it. After this the "
         "upstreams are asked in "
         "order again. Works beside a running server.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n"},
    };
}

}  // namespace wheelyard::registry
