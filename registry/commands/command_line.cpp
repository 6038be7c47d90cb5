#include "registry/commands/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/store.hpp"
#include "registry/config/config_place.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t rows_at_once = 500;

base::Status for_each_stored(const catalog::Catalog& catalog, const std::string& name,
                             const std::function<base::Status(const catalog::FileRow&)>& use) {
    std::string after;
    while (true) {
        WHEELYARD_ASSIGN(const auto rows, catalog.files_after(name, after, rows_at_once));
        for (const catalog::FileRow& row : rows)
            WHEELYARD_TRY(use(row));
        if (rows.size() < rows_at_once) return {};
        after = rows.back().filename;
    }
}

}  // namespace

void add_config_option(CLI::App& command, std::filesystem::path& config) {
    command.add_option("-c,--config", config, config_help)->type_name("TEXT:FILE");
    command.parse_complete_callback([&config] {
        if (config.empty()) config = find_config_file(base::current_environment());
        if (config.empty()) throw CLI::ValidationError(no_config);
    });
}

void add_target(CLI::App& command, std::filesystem::path& config, std::string& url,
                std::filesystem::path& token_file) {
    auto* here = command.add_option("-c,--config", config, config_help)->type_name("TEXT:FILE");
    auto* there =
        command.add_option("--url", url, "URL of a remote registry (instead of --config)")->excludes(here);
    command.add_option("--token-file", token_file, "With --url: file that contains the token")->needs(there);
    command.callback([&command, there, &config, &token_file] {
        if (there->empty() && config.empty()) config = find_config_file(base::current_environment());
        if (there->empty() && config.empty())
            throw CLI::ValidationError(std::string(no_config) + "; --url URL names a remote registry");
        if (!there->empty() && token_file.empty())
            throw CLI::RequiredError(command.get_name() + " --url: --token-file");
    });
}

void print_part(std::string_view name, std::string_view text, std::size_t name_width) {
    std::string line(name);
    line.resize(std::max(name_width, line.size()) + 1, ' ');
    const std::string one_line = base::replace_all(text, "\n", " ");  // a second one could look like ours
    base::print_message(stdout, line.append(one_line).append("\n"));
}

base::Status for_each_file(const RegistryConfig& config, const std::string& index,
                           const std::function<base::Status(const catalog::FileRow&)>& use) {
    if (!index.empty() && config.find_index(index) == nullptr)
        return base::fail("index.unknown", "There is no index with this name", index,
                          "configured: " + base::join(config.index_names(), ", "));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    for (const IndexConfig& one : config.indexes) {
        if (!index.empty() && one.name != index) continue;
        for (const std::string& name : one.stored_names())
            WHEELYARD_TRY(for_each_stored(*catalog, name, use));
    }
    return {};
}

}  // namespace wheelyard::registry
