// The JSON API: finds the row of an operation (operation.hpp), checks who asks and what they may, and calls
// its function. docs/reference/api.md documents the requests.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "lib/store/store.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/index_api.hpp"
#include "registry/api/logins.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

class PageStore;

// Every referenced object outlives the Api, and the Api outlives its requests.
struct ApiParts {
    ConfigView config;
    const database::Store& store;
    const blobs::BlobStore& blobs;
    TokenVerifier& tokens;
    Writer& writer;
    PublishQueue& pages;
    const base::Clock& clock;
    // Null where no operation that needs it is asked: in commands, and in tests.
    tasks::TaskStore* tasks = nullptr;
    tasks::BuildStore* builds = nullptr;
    SiteReports* sites = nullptr;
    IndexService* indexes = nullptr;
    Logins* logins = nullptr;
    PageStore* upstream_pages =
        nullptr;  // else those on the disk, which do not tell which projects an upstream lacks
};

struct Call;

class Api final : public http::ApiService {
  public:
    explicit Api(const ApiParts& parts) : parts_(parts) {}
    [[nodiscard]] wire::Answered<http::Admission> admit(const http::ApiRequest& request) override;
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request) override;

    // For a person of this machine, who passes every right: "local:NAME" for the audit log. `arguments` by
    // name, whether the operation has them in its path, its query or its body.
    [[nodiscard]] wire::Answered<http::ApiReply> answer_locally(std::string_view operation,
                                                                const io::Json& arguments,
                                                                const std::string& actor,
                                                                const lifecycle::Step& step = {});

  private:
    ApiParts parts_;
};

// Maps an error of lifecycle/ to a problem. Unknown errors become 500, 503 or 507; their details go to the
// log only.
[[nodiscard]] wire::Problem problem_of_change(const base::Error& error);

// The answer to an error of a call that changes nothing.
[[nodiscard]] tl::unexpected<wire::Problem> fail_read(const Call& call, const base::Error& error);

}  // namespace wheelyard::registry
