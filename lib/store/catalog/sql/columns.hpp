// The columns of the catalog's rows (lib/store/engine/columns.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lib/io/json.hpp"
#include "lib/store/catalog/file_members.hpp"
#include "lib/store/engine/columns.hpp"

namespace wheelyard::engine {

// The schema permits no other value; if there is one, hiding the file is safe.
template <>
struct Kept<catalog::FileState> {
    template <typename Query>
    static void read(const Query& query, int at, catalog::FileState& into) {
        into = catalog::parse_file_state(query.view(at)).value_or(catalog::FileState::quarantined);
    }
    static std::string_view written(catalog::FileState value) { return catalog::file_state_text(value); }
};
// A damaged list yields a token without rights, which is the safe interpretation.
template <>
struct Kept<std::vector<std::string>> {
    template <typename Query>
    static void read(const Query& query, int at, std::vector<std::string>& into) {
        into = io::parse_json(query.view(at)).value_or(io::Json()).texts();
    }
    static std::string written(const std::vector<std::string>& value) {
        return io::Json::array_of(value).render();
    }
};

}  // namespace wheelyard::engine

namespace wheelyard::catalog::sql {

using engine::Column;
using engine::Shown;

inline constexpr auto file_columns =
    std::apply([](const auto&... member) { return std::tuple{member.column...}; }, file_members);

inline constexpr std::tuple token_columns{
    Column{"id", &TokenRow::id},
    Column{"secret_sha256", &TokenRow::secret_sha256},
    Column{"name", &TokenRow::name},
    Column{"indexes_json", &TokenRow::indexes},
    Column{"projects_json", &TokenRow::projects},
    Column{"actions_json", &TokenRow::actions},
    Column{"created", &TokenRow::created},
    Column{"expires", &TokenRow::expires},
    Column{"revoked", &TokenRow::revoked},
    Column{"created_by", &TokenRow::created_by},
    Column{"revoked_by", &TokenRow::revoked_by},
    Column{"revoked_at", &TokenRow::revoked_at},
};

// The blobs that a file refers to: gc relies on it.
struct BlobOfFile {
    std::string_view sha256_column;
    std::string FileRow::*sha256;
    std::string_view size_column;
    std::uint64_t FileRow::*size_bytes;
};
inline constexpr std::array blobs_of_file{
    BlobOfFile{"sha256", &FileRow::sha256, "size_bytes", &FileRow::size_bytes},
    BlobOfFile{"metadata_sha256", &FileRow::metadata_sha256, "metadata_size_bytes",
               &FileRow::metadata_size_bytes},
    BlobOfFile{"provenance_sha256", &FileRow::provenance_sha256, "provenance_size_bytes",
               &FileRow::provenance_size_bytes},
    BlobOfFile{"attestations_sha256", &FileRow::attestations_sha256, "attestations_size_bytes",
               &FileRow::attestations_size_bytes},
};

// Says whether a file refers to the blob of the statement's row.
inline std::string is_referenced() {
    std::string any;
    for (const BlobOfFile& blob : blobs_of_file)
        any += (any.empty() ? "(" : " OR ") + std::string("EXISTS (SELECT 1 FROM file WHERE file.") +
               std::string(blob.sha256_column) + " = blob.sha256)";
    return any + ")";
}

}  // namespace wheelyard::catalog::sql
