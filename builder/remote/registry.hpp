// What the agent asks of a registry: what an index has, and to take a wheel. An interface, so that tests can
// refuse, break and disappear.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::builder {

struct WheelToUpload {
    std::filesystem::path file;
    std::string sha256;
    const inspect::Inspection& inspection;
};

class Registry {
  public:
    virtual ~Registry() = default;
    // The name of the index that page() shows and upload() goes to.
    [[nodiscard]] virtual std::string index() const = 0;
    // The project's page; nullopt when the index has no such project. An error: it cannot be asked now.
    [[nodiscard]] virtual base::Result<std::optional<simple::ProjectPage>> page(
        const std::string& project) = 0;
    // The same of the index that wheels are promoted to (promote_to of site.toml).
    [[nodiscard]] virtual base::Result<std::optional<simple::ProjectPage>> promoted_page(
        const std::string& project) = 0;
    // Lets a wheel of the site's index appear there too; one that is there already is no error. Errors as of
    // upload.
    [[nodiscard]] virtual base::Status promote(const std::string& filename) = 0;
    // One try. "upload.refused" is the registry's final word; every other error may pass.
    [[nodiscard]] virtual base::Status upload(const WheelToUpload& wheel,
                                              const io::HttpProgress& progress) = 0;
};

}  // namespace wheelyard::builder
