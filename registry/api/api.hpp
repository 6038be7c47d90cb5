// The lifecycle API: authentication, scope checks, the change itself, and the wait until the pages and the
// published tree show it. lifecycle/ implements the changes; docs/reference/api.md documents the requests.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/index_api.hpp"
#include "registry/api/logins.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/blobs/store.hpp"
#include "registry/commit/publishing.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/live_config.hpp"
#include "registry/database/store.hpp"
#include "registry/http/api.hpp"
#include "registry/lifecycle/perform.hpp"

namespace wheelyard::registry {

// Every referenced object outlives the Api, and the Api outlives its requests.
struct ApiParts {
    ConfigView config;
    const database::Store& store;
    const blobs::BlobStore& blobs;
    TokenVerifier& tokens;
    Writer& writer;
    PublishQueue& pages;
    const base::Clock& clock;
    tasks::TaskStore* tasks = nullptr;    // null: the task service is disabled
    tasks::BuildStore* builds = nullptr;  // null: builds are not kept
    SiteReports* sites = nullptr;         // null: sites cannot report
    IndexService* indexes = nullptr;      // null: indexes cannot be changed
    Logins* logins = nullptr;             // null: nobody logs in
};

class Api final : public http::ApiService {
  public:
    explicit Api(const ApiParts& parts) : parts_(parts) {}
    [[nodiscard]] wire::Answered<http::Admission> admit(const http::ApiRequest& head) override;
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request) override;

  private:
    [[nodiscard]] wire::Answered<http::ApiReply> answer_now(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> change(const http::ApiRequest& request,
                                                        const lifecycle::VerbRow& row);
    [[nodiscard]] wire::Answered<void> check_scope(const lifecycle::Action& action,
                                                   const catalog::TokenRow& token);
    [[nodiscard]] wire::Answered<void> check_promotion(const lifecycle::Action& action,
                                                       const catalog::TokenRow& token);
    void wait_for_pages(http::ApiReply& reply, const lifecycle::Action& action,
                        const lifecycle::Done& done) const;
    [[nodiscard]] wire::Answered<void> check_auditor(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> read_audit(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> list_people(const http::ApiRequest& request);
    using ReadIndex = std::function<base::Result<std::string>(const catalog::Catalog&)>;
    [[nodiscard]] wire::Answered<std::string> index_to_operate(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> read_index(const http::ApiRequest& request,
                                                            const ReadIndex& read);
    [[nodiscard]] wire::Answered<http::ApiReply> list_index_files(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> storage(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> upstreams(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> list_nodes(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> provenance(const http::ApiRequest& request);
    [[nodiscard]] base::Result<catalog::FileRow> listed_file(const catalog::FileName& name);
    [[nodiscard]] wire::Answered<http::ApiReply> contains(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> sbom(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> judge_with_torch(const http::ApiRequest& request);
    [[nodiscard]] wire::Answered<http::ApiReply> explain(const http::ApiRequest& request);

    ApiParts parts_;
};

// Maps an error of lifecycle/ to a problem. Unknown errors become 500, 503 or 507; their details go to the
// log only.
[[nodiscard]] wire::Problem problem_of_change(const base::Error& error);

// The same for a request that changes nothing; logs what is not known.
[[nodiscard]] wire::Problem problem_of_read(const http::ApiRequest& request, const base::Error& error);

}  // namespace wheelyard::registry
