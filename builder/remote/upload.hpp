// Uploads by the legacy form, as twine sends it and as every index takes it; a large wheel in parts, where
// the registry takes those.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "builder/remote/registry.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// The form's fields but the file itself. Pure.
[[nodiscard]] std::vector<io::MultipartField> render_upload_fields(const inspect::Inspection& inspection,
                                                                   const std::string& sha256,
                                                                   const std::string& blake2b_256);

// What an answer means: nothing for 200, "upload.refused" for a final no (with the registry's own words),
// "upload.quarantined" for 202: kept and not offered, "upload.unavailable" for what may pass (5xx, 408, 425,
// 429), "upload.not_allowed" when the token itself is not taken. Pure.
[[nodiscard]] base::Status judge_upload_answer(const io::HttpAnswer& answer);

// The one token that the file holds; "upload.token_file".
[[nodiscard]] base::Result<std::string> read_token(const std::filesystem::path& file);

// Where the token of an upload comes from.
using TokenSource = std::function<base::Result<std::string>()>;

class HttpRegistry final : public Registry {
  public:
    // Without a `token` the settings' file is read, anew each time; a token is sent and nowhere kept.
    HttpRegistry(io::HttpClient& http, base::Clock& clock, RegistrySettings settings, TokenSource token = {})
        : http_(http), clock_(clock), settings_(std::move(settings)), token_(std::move(token)) {}
    [[nodiscard]] std::string index() const override { return settings_.index; }
    [[nodiscard]] base::Result<std::optional<simple::ProjectPage>> page(const std::string& project) override;
    [[nodiscard]] base::Result<std::optional<simple::ProjectPage>> promoted_page(
        const std::string& project) override;
    [[nodiscard]] base::Status promote(const std::string& filename) override;
    [[nodiscard]] base::Status upload(const WheelToUpload& wheel, const io::HttpProgress& progress) override;

  private:
    [[nodiscard]] base::Status send(const WheelToUpload& wheel, const io::HttpProgress& progress);
    io::HttpClient& http_;
    base::Clock& clock_;
    RegistrySettings settings_;
    TokenSource token_;
};

}  // namespace wheelyard::builder
