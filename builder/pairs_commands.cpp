// `pairs check` and `pairs update`: a table of version pairs against the metadata of an index.
#include <cstdio>

#include "builder/command_output.hpp"
#include "builder/commands.hpp"
#include "builder/pairs/proposals.hpp"
#include "builder/pairs/table_text.hpp"
#include "builder/site/python.hpp"
#include "builder/sources/places.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::uint64_t max_table_bytes = 4u << 20;

base::Result<PairComparison> compare_with_index(const Arguments& arguments,
                                                const std::vector<VersionPair>& table) {
    const auto environment = base::current_environment();
    WHEELYARD_ASSIGN(auto pip, simple::read_pip_config(environment, {}));
    if (!arguments.index.empty()) {
        for (const char* option : {"find-links", "extra-index-url", "no-index"})
            pip.values.erase(option);
        pip.values["index-url"] = {arguments.index, "--index"};
    }
    io::HttpClient http(pip.http_settings());
    Places places(http, pip, []() -> base::Result<std::string> {
        Python python;
        python.executable = "python3";
        return ask_default_index(python);
    });
    Projects projects;
    for (const auto& name : projects_to_read(table)) {
        auto project = read_project(places, http, name, [&](const wheel::Version& version) {
            return needs_metadata(table, name, version);
        });
        if (!project) return tl::unexpected(project.error());
        base::print_message(stderr, name + ": " + std::to_string(project->releases.size()) + " releases\n");
        projects.emplace(name, std::move(*project));
    }
    return compare_pairs(table, projects);
}

int run_pairs(const Arguments& arguments, bool updates) {
    const std::filesystem::path file = arguments.name;
    const auto text = base::read_file(file, max_table_bytes);
    if (!text) return complain(text.error(), exit_usage);
    const auto table = parse_version_pairs(*text, file);
    if (!table) return complain(table.error(), exit_usage);
    const auto comparison = compare_with_index(arguments, *table);
    if (!comparison) return complain(comparison.error(), exit_failed);
    arguments.json ? print(render_comparison_json(*comparison, file)) : tell(render_comparison(*comparison));
    std::vector<VersionPair> proposed;
    for (const auto& line : comparison->lines) {
        if (line.finding == PairFinding::proposed) proposed.push_back(line.row);
    }
    if (!updates || proposed.empty()) return comparison->lines.empty() ? exit_well : exit_failed;
    const auto added = add_pairs(*text, proposed);
    if (!added) return complain(added.error(), exit_failed);
    // Every row that was there has to be there still.
    if (const auto valid = parse_version_pairs(*added, file); !valid)
        return complain(valid.error(), exit_failed);
    if (const auto written = base::replace_file(file, *added); !written)
        return complain(written.error(), exit_failed);
    return comparison->lines.size() == proposed.size() ? exit_well : exit_failed;
}

}  // namespace

int run_pairs_check(const Arguments& arguments) {
    return run_pairs(arguments, false);
}

int run_pairs_update(const Arguments& arguments) {
    return run_pairs(arguments, true);
}

}  // namespace wheelyard::builder
