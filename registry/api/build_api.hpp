// The requests about builds (docs/reference/builds.md): agents send logs, people read what was built, and how.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "registry/access/tokens.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"
#include "registry/tasks/build_store.hpp"

namespace wheelyard::registry {

struct BuildApiParts {
    const RegistryConfig& config;
    TokenVerifier& tokens;
    tasks::BuildStore& builds;
};

// Thread-safe, as its parts are, which outlive it.
class BuildApi {
  public:
    explicit BuildApi(const BuildApiParts& parts) : parts_(parts) {}
    [[nodiscard]] static bool handles(std::string_view operation);
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request);

  private:
    using Reply = wire::Answered<http::ApiReply>;
    Reply append_log(const http::ApiRequest& request);
    Reply list(const http::ApiRequest& request);
    Reply show(const http::ApiRequest& request);
    Reply read_log(const http::ApiRequest& request);
    [[nodiscard]] base::Result<std::optional<tasks::KeptBuild>> find(const IndexConfig& index,
                                                                     const http::ApiRequest& request);
    struct FoundBuild {
        tasks::KeptBuild build;
        std::optional<Identity> caller;
        bool may_read_logs = false;
    };
    // The build that the request names, if its caller may read the package. Else as if there was none.
    [[nodiscard]] wire::Answered<FoundBuild> find_readable(const http::ApiRequest& request);

    BuildApiParts parts_;
};

}  // namespace wheelyard::registry
