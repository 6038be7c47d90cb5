// Which private indexes and projects a token may know of and read (docs/reference/reading.md). Of public
// indexes, everyone may read everything.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/access/tokens.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/readers.hpp"

namespace wheelyard::registry {

// Says whether the token may learn that the index exists: it permits any action there. Also true of an index
// that does not exist, about which the caller's own answer decides.
[[nodiscard]] bool may_know(const RegistryConfig& config, const catalog::TokenRow& token,
                            std::string_view index);
[[nodiscard]] bool may_read(const RegistryConfig& config, const catalog::TokenRow& token,
                            std::string_view index, std::string_view project);
// Documents that name all projects of the index.
[[nodiscard]] bool may_read_all(const RegistryConfig& config, const catalog::TokenRow& token,
                                std::string_view index);
// The private indexes that the token may read, wholly or in part.
[[nodiscard]] std::vector<std::string> readable_private(const RegistryConfig& config,
                                                        const catalog::TokenRow& token);
// The configured indexes that the token may know of.
[[nodiscard]] std::vector<std::string> known_indexes(const RegistryConfig& config,
                                                     const catalog::TokenRow& token);

// False: archived, or the staging of another index, for agents and operators.
[[nodiscard]] bool is_advertised(const RegistryConfig& config, const IndexConfig& index);
// The answer for an index that is not there, and for one that the caller may not know of.
[[nodiscard]] tl::unexpected<wire::Problem> unknown_index(const RegistryConfig& config,
                                                          const std::string& index);
// The index if the caller may read this project of it, or all (empty). Else "index.unknown", as if there was
// none.
[[nodiscard]] wire::Answered<const IndexConfig*> index_to_read(const RegistryConfig& config,
                                                               const std::optional<Identity>& caller,
                                                               const std::string& index,
                                                               std::string_view project);
// Logs of builds, and names of persons: as the index, or with `read_logs = "token"` only for a token with
// `read`.
[[nodiscard]] bool may_read_logs(const RegistryConfig& config, const std::optional<Identity>& caller,
                                 const IndexConfig& index, std::string_view project);

// The normalized project of a file's name; empty if it is not the name of a wheel or of an sdist. The name
// may be followed by the suffix of its METADATA, provenance or attestations.
[[nodiscard]] std::string project_of_filename(const std::string& filename);

// Both references outlive the object. Thread-safe.
class Readers : public http::ReaderService {
  public:
    Readers(ConfigView config, TokenVerifier& tokens) : config_(config), tokens_(tokens) {}
    [[nodiscard]] std::optional<wire::Problem> refuse_at_sight(const std::string& authorization) override;
    [[nodiscard]] wire::Answered<http::Reader> may_read(const http::ReadRequest& request) override;
    [[nodiscard]] std::vector<std::string> readable(const std::string& authorization) override;

  private:
    const ConfigView config_;
    TokenVerifier& tokens_;
};

}  // namespace wheelyard::registry
