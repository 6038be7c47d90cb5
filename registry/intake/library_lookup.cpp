#include "registry/intake/library_lookup.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "lib/io/json.hpp"

namespace wheelyard::registry {
namespace {

bool names(const io::Json& facts, std::string_view library) {
    const auto has = [library](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), library) != names.end();
    };
    const io::Json* needed = facts.find("needed");  // rows from before `provides`
    return has(facts.texts("provides")) || (needed != nullptr && has(needed->texts("inside")));
}

base::Result<std::vector<catalog::FileRow>> files_of(const catalog::Catalog& catalog,
                                                     const std::string& index, std::string_view project) {
    WHEELYARD_ASSIGN(const auto inheritance, catalog.inheritance());
    WHEELYARD_ASSIGN(const auto source, catalog.source_of(inheritance, index, project));
    if (!source) return std::vector<catalog::FileRow>();
    return catalog.files(*source, project);
}

bool have(const std::vector<catalog::FileRow>& files, std::string_view library) {
    return std::any_of(files.begin(), files.end(), [library](const catalog::FileRow& row) {
        const auto facts = io::parse_json(row.facts_json);
        return row.state == catalog::FileState::active && facts && names(*facts, library);
    });
}

}  // namespace

inspect::HasLibrary library_lookup(const catalog::Catalog& catalog, const std::string& index) {
    return [&catalog, index](std::string_view project, std::string_view library) {
        const auto files = files_of(catalog, index, project);
        return files && have(*files, library);
    };
}

inspect::HasLibrary library_lookup(Writer& writer, const std::string& index) {
    return [&writer, index](std::string_view project, std::string_view library) {
        std::vector<catalog::FileRow> files;
        const auto read = writer.run([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(files, files_of(catalog, index, project));
            return {};
        });
        return read && have(files, library);
    };
}

}  // namespace wheelyard::registry
