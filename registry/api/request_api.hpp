// Requests for wheels as everybody may see them (docs/reference/task.md): state, cause and place in the queue; logs
// and names for who reads the logs of the index. Where the operator allows it, a stranger asks, and somebody approves.
#pragma once

#include <string>
#include <string_view>

#include "registry/access/tokens.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"
#include "registry/tasks/build_store.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {

struct RequestApiParts {
    const RegistryConfig& config;
    TokenVerifier& tokens;
    tasks::TaskStore& tasks;
    tasks::BuildStore* builds = nullptr;  // null: builds are not kept
    SiteReports* sites = nullptr;         // null: nobody knows who takes requests
};

// Thread-safe, as its parts are, which outlive it.
class RequestApi {
  public:
    explicit RequestApi(const RequestApiParts& parts) : parts_(parts) {}
    [[nodiscard]] static bool handles(std::string_view operation);
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request);

  private:
    using Reply = wire::Answered<http::ApiReply>;
    struct Read;  // a request, and whether its caller reads logs and names
    [[nodiscard]] wire::Answered<Read> read(const http::ApiRequest& request);
    Reply ask(const http::ApiRequest& request);
    Reply show(const http::ApiRequest& request);
    Reply read_log(const http::ApiRequest& request);
    [[nodiscard]] Reply document(const Read& read);
    void add_queue(io::Json& json, const wire::Task& task);
    void add_builds(io::Json& json, const wire::Task& task);

    RequestApiParts parts_;
};

}  // namespace wheelyard::registry
