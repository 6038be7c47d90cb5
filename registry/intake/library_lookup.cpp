// Which libraries the wheels of an index have, by the facts of the catalog: for a wheel that needs one of a
// project that it requires (lib/inspect/truth/gather_facts.hpp).
#include "registry/intake/torch_tables.hpp"

#include <utility>

#include "lib/io/json.hpp"

namespace wheelyard::registry {
namespace {

base::Result<std::vector<catalog::FileRow>> files_of(const catalog::Catalog& catalog,
                                                     const std::string& index, std::string_view project) {
    WHEELYARD_ASSIGN(const auto inheritance, catalog.inheritance());
    WHEELYARD_ASSIGN(const auto source, catalog.source_of(inheritance, index, project));
    if (!source) return std::vector<catalog::FileRow>();
    return catalog.files(*source, project);
}

inspect::LibraryNames libraries_in(const std::vector<catalog::FileRow>& files) {
    inspect::LibraryNames names;
    for (const catalog::FileRow& row : files) {
        const auto facts = io::parse_json(row.facts_json);
        if (row.state != catalog::FileState::active || !facts) continue;
        for (std::string& name : facts->texts("provides"))
            names.insert(std::move(name));
        const io::Json* needed = facts->find("needed");  // rows from before `provides`
        if (needed == nullptr) continue;
        for (std::string& name : needed->texts("inside"))
            names.insert(std::move(name));
    }
    return names;
}

}  // namespace

OfferedFiles offered_files(const catalog::Catalog& catalog, const std::string& index) {
    return [&catalog, index](std::string_view project) {
        return files_of(catalog, index, project).value_or(std::vector<catalog::FileRow>());
    };
}

OfferedFiles offered_files(Writer& writer, const std::string& index) {
    return [&writer, index](std::string_view project) {
        std::vector<catalog::FileRow> files;
        const auto read = writer.run([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(files, files_of(catalog, index, project));
            return {};
        });
        return read ? files : std::vector<catalog::FileRow>();
    };
}

inspect::LibrariesOf library_lookup(OfferedFiles offered) {
    return
        [offered = std::move(offered)](std::string_view project) { return libraries_in(offered(project)); };
}

}  // namespace wheelyard::registry
