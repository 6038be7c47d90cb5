// `wheelyard-registry dump`: every stored thing as JSON lines.
#include "registry/commands/commands.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/store.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

// Prints `document` with {"type": …} as its first member.
void print_line(std::string_view type, const io::Json& document) {
    io::Json line = io::Json::object({{"type", type}});
    if (const auto* members = document.as_object()) {
        for (const auto& [name, value] : *members)
            line.set(name, value);
    }
    base::print(stdout, "%s\n", line.render().c_str());
}

base::Status dump_events(const catalog::Catalog& catalog) {
    return catalog.for_each_event(0, catalog::newest_of_all, [](const catalog::Event& event) -> base::Status {
        WHEELYARD_ASSIGN(io::Json details, io::parse_json(event.details_json));
        print_line("event", io::Json::object({{"serial", event.serial},
                                              {"kind", catalog::event_kind_text(event.kind)},
                                              {"time", base::render_rfc3339(event.time)},
                                              {"index", event.index},
                                              {"project", event.project},
                                              {"filename", event.filename},
                                              {"details", std::move(details)}}));
        return {};
    });
}

base::Status dump_files(const catalog::Catalog& catalog) {
    WHEELYARD_ASSIGN(const std::vector<std::string> indexes, catalog.indexes());
    for (const std::string& index : indexes) {
        WHEELYARD_ASSIGN(const std::vector<std::string> projects, catalog.projects(index));
        for (const std::string& project : projects) {
            WHEELYARD_ASSIGN(const std::vector<catalog::FileRow> files, catalog.files(index, project));
            for (const catalog::FileRow& file : files) {
                WHEELYARD_ASSIGN(const io::Json document, io::parse_json(catalog::render_file_row(file)));
                print_line("file", document);
            }
        }
    }
    return {};
}

base::Status dump_tokens(const catalog::Catalog& catalog) {
    WHEELYARD_ASSIGN(const std::vector<catalog::TokenRow> tokens, catalog.tokens());
    for (const catalog::TokenRow& token : tokens) {
        print_line("token", io::Json::object({{"id", token.id},
                                              {"name", token.name},
                                              {"indexes", io::Json::array_of(token.indexes)},
                                              {"projects", io::Json::array_of(token.projects)},
                                              {"actions", io::Json::array_of(token.actions)},
                                              {"created", token.created},
                                              {"expires", token.expires},
                                              {"revoked", token.revoked}}));
    }
    return {};
}

base::Status dump_index_list(const catalog::Catalog& catalog) {
    WHEELYARD_ASSIGN(const std::string list, catalog.index_list());
    if (list.empty()) return {};
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(list));
    print_line("index_list", document);
    return {};
}

}  // namespace

base::Status run_dump(const std::filesystem::path& config_file) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(config_file));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    WHEELYARD_TRY(dump_events(*catalog));
    WHEELYARD_TRY(dump_files(*catalog));
    WHEELYARD_TRY(dump_tokens(*catalog));
    return dump_index_list(*catalog);
}

std::vector<Command> dump_commands() {
    return {
        {heading::reasons, "dump", "Print events, files, tokens and indexes as JSON lines",
         "-c registry.toml", setup(add_config_option, run_dump)},
    };
}

}  // namespace wheelyard::registry
