// The task service (docs/reference/task.md): credentials, scope, and what an outcome has to prove. What each
// request does to the queue is tasks/'s.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/access/tokens.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {

// Everything outlives the TaskApi.
struct TaskApiParts {
    const RegistryConfig& config;
    TokenVerifier& tokens;
    tasks::TaskStore& tasks;
    Writer& writer;
};

class TaskApi {
  public:
    explicit TaskApi(const TaskApiParts& parts) : parts_(parts) {}
    [[nodiscard]] static bool handles(std::string_view operation);
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request);

  private:
    using Reply = wire::Answered<http::ApiReply>;
    using Handler = Reply (TaskApi::*)(const http::ApiRequest&, const Identity&);
    struct Row;
    static const Row* find_row(std::string_view operation);

    Reply add(const http::ApiRequest& request, const Identity& token);
    Reply list(const http::ApiRequest& request, const Identity& token);
    Reply show(const http::ApiRequest& request, const Identity& token);
    Reply cancel(const http::ApiRequest& request, const Identity& token);
    Reply claim(const http::ApiRequest& request, const Identity& token);
    Reply renew(const http::ApiRequest& request, const Identity& token);
    Reply append_log(const http::ApiRequest& request, const Identity& token);
    Reply read_log(const http::ApiRequest& request, const Identity& token);
    Reply end(const http::ApiRequest& request, const Identity& token);

    // The task of this id, for those who may read it; to others it is not there.
    [[nodiscard]] wire::Answered<wire::Task> visible_task(const http::ApiRequest& request,
                                                          const Identity& token, std::string_view id);
    // The one that the path names, for those who may do `action` with it, or read it.
    [[nodiscard]] wire::Answered<wire::Task> task_for(const http::ApiRequest& request, const Identity& token,
                                                      std::string_view action);
    // "Done" means that the wheel is there, in the claim's index, the task's, or one that it inherits from,
    // and that it is what was asked for.
    [[nodiscard]] wire::Answered<void> check_done(const http::ApiRequest& request, const Identity& token,
                                                  const wire::Task& task, const wire::TaskEnd& end);
    [[nodiscard]] base::Result<bool> has_wheel(std::vector<std::string> places, const wire::Outcome& outcome);

    TaskApiParts parts_;
};

// A refusal of the queue as a problem; what is not one of its own becomes 500, 503 or 507.
[[nodiscard]] wire::Problem problem_of_task(const base::Error& error);

// Where the wheels of tasks for `index` go.
[[nodiscard]] std::string target_of(const IndexConfig& index);

}  // namespace wheelyard::registry
