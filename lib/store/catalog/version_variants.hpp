// What the variant wheels of one version say together (PEP 825): the index's file of that version, and when a
// wheel contradicts the others.
//
//     torch-2.9.0-variants.json: as a wheel's variant.json, with the labels of all wheels in `variants`
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/project_file.hpp"

namespace wheelyard::catalog {

struct FileRow;

// An installer reads all of it for each version that it considers. 32 KiB is the limit of one wheel's part; a
// version's wheels are refused up to that much earlier, as its size is estimated from above.
inline constexpr std::size_t max_variants_file_bytes = 1u << 20;

[[nodiscard]] bool is_variant_wheel(std::string_view filename);

// In any order of add() the same: one label has one set of properties and no other label has it, the orders
// of namespaces begin alike and the longest one counts, a namespace has one provider, and `$schema` is one.
class VersionVariants {
  public:
    // Errors "variants.*", after which nothing has changed: the wheel contradicts those that came before (the
    // error's value names the label, the namespace or what else differs), its properties are not known, or
    // the file is too large.
    [[nodiscard]] base::Status add(const FileRow& wheel);
    [[nodiscard]] std::string render() const;

  private:
    std::string schema_;
    std::vector<std::string> namespaces_;
    std::optional<std::map<std::string, io::Json>> providers_;
    std::map<std::string, io::Json> labels_;
    std::map<std::string, std::string> label_of_;  // properties, as JSON → their label
    std::size_t rest_bytes_ = 0;                   // at most: of the file without the labels
    std::size_t labels_bytes_ = 0;                 // the same, of the labels
};

inline constexpr std::string_view variants_suffix = "-variants.json";
// "torch-2.9.0-variants.json"; both as the catalog has them.
[[nodiscard]] std::string variants_filename(std::string_view project, std::string_view version);

// Its upload time is that of the newest of its wheels.
struct VariantsFile : simple::ProjectFile {
    std::string bytes = {};  // empty where the file is in a tree already
};

// One for each version of the project that has variant wheels. `rows` are sorted by version. A wheel that
// contradicts the others, which the catalog refuses, is left out.
[[nodiscard]] std::vector<VariantsFile> variants_files(std::span<const FileRow> rows);

}  // namespace wheelyard::catalog
