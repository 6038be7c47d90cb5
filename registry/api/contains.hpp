// Which wheels contain a component, as their SBOMs state: for `wheelyard-registry contains` and for the API.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/record.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::registry {

struct ComponentQuery {
    std::string name;           // in any case; may have * and ?
    std::string version;        // empty: every one
    std::string license = "*";  // in any case; may have * and ?
};

// Says whether a component's version is `wanted`, without the epoch and the revision of a distribution:
// "1:1.2.11.dfsg-2" and "1.2.11-25.el8" are 1.2.11, "1.2.110" and "1.2.11.1" are not.
[[nodiscard]] bool is_component_version(std::string_view version, std::string_view wanted);

// {"index":…,"filename":…,"sha256":…,"quarantined":false}
[[nodiscard]] io::Json found_file_json(const catalog::FileRow& row);

struct ComponentsFound {
    std::vector<io::Json> found = {};  // a wheel and its `component`, for each that is meant
    std::vector<io::Json> not_known =
        {};  // wheels with more components than are kept, and none that is meant

    void look_in(const catalog::FileRow& row, const ComponentQuery& query);
    // "wheelyard.contains/1"
    [[nodiscard]] io::Json document() const;
};
[[nodiscard]] io::Document contains_document();

// The document, with `next` for what comes after the files that were looked at; null: nothing does. Of files
// that pages list and of projects that the caller may read, unless the caller sees all.
[[nodiscard]] base::Result<std::string> find_containing(
    const catalog::Catalog& catalog, const std::string& index, const ComponentQuery& query,
    const std::string& after, bool sees_all, const std::function<bool(const std::string& project)>& may_read);

}  // namespace wheelyard::registry
