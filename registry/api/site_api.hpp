// The requests about sites: an agent reports, clients read (docs/reference/site-status.md).
#pragma once

#include <string_view>

#include "registry/access/tokens.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

struct SiteApiParts {
    const RegistryConfig& config;
    TokenVerifier& tokens;
    SiteReports& reports;
    const base::Clock& clock;
};

// Thread-safe, as its parts are, which outlive it.
class SiteApi {
  public:
    explicit SiteApi(const SiteApiParts& parts) : parts_(parts) {}
    [[nodiscard]] static bool handles(std::string_view operation);
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request);

  private:
    [[nodiscard]] wire::Answered<http::ApiReply> report(const http::ApiRequest& request,
                                                        const Identity& token);
    [[nodiscard]] wire::Answered<http::ApiReply> show(const http::ApiRequest& request,
                                                      const Identity& token) const;
    [[nodiscard]] http::ApiReply list(const Identity& token) const;
    SiteApiParts parts_;
};

}  // namespace wheelyard::registry
