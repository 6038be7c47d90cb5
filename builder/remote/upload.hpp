// Uploads by the legacy form, which twine sends and every index accepts. Large wheels are uploaded in parts
// if the registry supports that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/remote/registry.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/io/http_client.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::builder {

// Smaller wheels are sent in one request: that saves two round trips, and a cut loses little.
inline constexpr std::uint64_t in_parts_from_bytes = 8 * base::mib;

// The form's fields except the file itself. Pure.
[[nodiscard]] std::vector<io::MultipartField> render_upload_fields(const inspect::Inspection& inspection,
                                                                   const std::string& sha256);

// Converts an answer to a status. Pure.
//     200                  success
//     "upload.quarantined", 202 of older registries
//                          "upload.quarantined": the registry keeps the wheel and does not offer it
//     5xx, 408, 425, 429   "upload.unavailable": temporary
//     "task.lost"          "upload.no_task": the site does not have the task
//     token refused        "upload.not_allowed": the token itself is not accepted
//     otherwise            "upload.refused": final, with the registry's message
[[nodiscard]] base::Status judge_upload_answer(const io::HttpAnswer& answer);

// The single token in the file. Errors: "upload.token_file".
[[nodiscard]] base::Result<std::string> read_token(const std::filesystem::path& file);

class HttpRegistry final : public Registry {
  public:
    // Each upload reads the token file of the settings. Nothing stores a token. Reading asks without a token
    // first, and with it where the index is private (401). `task`: the ID of the one whose wheel it uploads;
    // empty: of none.
    HttpRegistry(io::HttpClient& http, base::Clock& clock, RegistrySettings settings, std::string task = {})
        : http_(http), clock_(clock), settings_(std::move(settings)), task_(std::move(task)) {}
    [[nodiscard]] std::string index() const override { return settings_.index; }
    [[nodiscard]] base::Result<std::optional<simple::ProjectPage>> page(const std::string& project) override;
    [[nodiscard]] base::Result<std::optional<simple::ProjectPage>> promoted_page(
        const std::string& project) override;
    [[nodiscard]] base::Status download(const simple::FileLink& link, const std::filesystem::path& file,
                                        const io::HttpProgress& progress) override;
    [[nodiscard]] Access access(const std::vector<std::string>& packages) override {
        return ask_access(http_, settings_, packages);
    }
    // The facts of the wheels of these projects by the index's wheel list, by file name. Errors:
    // "wheel_list.http", those of the transfer and of simple::WheelList.
    [[nodiscard]] base::Result<std::map<std::string, io::Json>> facts(const std::set<std::string>& projects);
    // Says whether a wheel of the index can be loaded with a torch of it: the document of
    // docs/reference/api.md, "With a torch of the index". nullopt: the registry does not say. Errors: those
    // of the transfer.
    [[nodiscard]] base::Result<std::optional<io::Json>> with_torch(const std::string& filename,
                                                                   const std::string& torch);
    [[nodiscard]] base::Status promote(const std::vector<std::string>& filenames) override;
    [[nodiscard]] base::Status upload(const WheelToUpload& wheel, const io::HttpProgress& progress) override;

  private:
    [[nodiscard]] base::Result<std::string> token() const;
    [[nodiscard]] base::Result<io::HttpHeaders> credentials() const;
    [[nodiscard]] simple::GetPage page_reader();
    [[nodiscard]] base::Result<std::optional<simple::ProjectPage>> page_of(const std::string& index_url,
                                                                           const std::string& project);
    [[nodiscard]] base::Result<io::HttpAnswer> fetch(const std::string& url,
                                                     const std::filesystem::path& file,
                                                     const io::HttpProgress& progress);
    io::HttpClient& http_;
    base::Clock& clock_;
    RegistrySettings settings_;
    const std::string task_;
    bool is_registry_ = false;  // known once a page was absent
};

}  // namespace wheelyard::builder
