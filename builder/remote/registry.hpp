// The agent's view of a registry: read an index, upload a wheel, promote a wheel. An interface, so that tests
// can simulate refusals, broken connections and outages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "builder/remote/access.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::builder {

struct WheelToUpload {
    std::filesystem::path file;
    std::string sha256;
    const inspect::Inspection& inspection;
    std::string provenance = {};  // "wheelyard.provenance/1"; empty: none
};

class Registry {
  public:
    virtual ~Registry() = default;
    // The name of the index that page() reads and upload() writes.
    [[nodiscard]] virtual std::string index() const = 0;
    // The project's page; nullopt if the index has no such project. An error: the index does not answer now.
    [[nodiscard]] virtual base::Result<std::optional<simple::ProjectPage>> page(
        const std::string& project) = 0;
    // The same for the index to which wheels are promoted (promote_to in site.toml).
    [[nodiscard]] virtual base::Result<std::optional<simple::ProjectPage>> promoted_page(
        const std::string& project) = 0;
    // Writes a file of one of these pages to `file`, which must not exist, and checks its digest. Errors:
    // "reproduce.gone" (the index no longer has its bytes), "reproduce.hash_mismatch", those of the transfer.
    [[nodiscard]] virtual base::Status download(const simple::FileLink& link,
                                                const std::filesystem::path& file,
                                                const io::HttpProgress& progress) = 0;
    // Which store answers, and the packages whose upload would be refused: asked before they are compiled.
    [[nodiscard]] virtual Access access(const std::vector<std::string>& packages) = 0;
    // Adds wheels of the site's index to that index, all of them or none. Idempotent. Errors: as upload().
    [[nodiscard]] virtual base::Status promote(const std::vector<std::string>& filenames) = 0;
    // One try. "upload.refused" is final; every other error is temporary.
    [[nodiscard]] virtual base::Status upload(const WheelToUpload& wheel,
                                              const io::HttpProgress& progress) = 0;
};

}  // namespace wheelyard::builder
