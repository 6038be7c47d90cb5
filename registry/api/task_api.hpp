// The task service (docs/reference/task.md): authentication, scope checks, and the proof that an outcome needs.
// tasks/ implements what each request does to the queue.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/access/tokens.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {

// Every referenced object outlives the TaskApi.
inline constexpr std::string_view task_list_format = "wheelyard.wishes/1";

struct TaskApiParts {
    const RegistryConfig& config;
    TokenVerifier& tokens;
    tasks::TaskStore& tasks;
    Writer& writer;
    SiteReports* sites = nullptr;  // shows the open requests and knows who takes them; null: nobody does
};

// Those of an index that have not ended, without the names of persons: running ones, then in the order of the queue.
[[nodiscard]] std::vector<status::RequestReport> open_requests(tasks::TaskStore& tasks,
                                                               const std::string& index);

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
    // Each task by itself: a refused one stops none of the others.
    Reply add_many(const http::ApiRequest& request, const Identity& token);
    [[nodiscard]] wire::Answered<wire::Task> add_one(const http::ApiRequest& request, const Identity& token,
                                                     std::string_view wanted);
    Reply list(const http::ApiRequest& request, const Identity& token);
    Reply show(const http::ApiRequest& request, const Identity& token);
    Reply cancel(const http::ApiRequest& request, const Identity& token);
    Reply approve(const http::ApiRequest& request, const Identity& token);
    Reply reject(const http::ApiRequest& request, const Identity& token);
    Reply claim(const http::ApiRequest& request, const Identity& token);
    Reply renew(const http::ApiRequest& request, const Identity& token);
    Reply append_log(const http::ApiRequest& request, const Identity& token);
    Reply read_log(const http::ApiRequest& request, const Identity& token);
    Reply end(const http::ApiRequest& request, const Identity& token);

    // After each change of a task.
    void note_done(const http::ApiRequest& request, const Identity& token, const wire::Task& task) const;
    // With `nobody_takes` if no agent will take it, so that it does not look like one that only waits.
    [[nodiscard]] io::Json json_of(const wire::Task& task) const;
    // The task with this id if the token may read it; otherwise the same problem as for a missing task.
    [[nodiscard]] wire::Answered<wire::Task> visible_task(const http::ApiRequest& request,
                                                          const Identity& token, std::string_view id);
    // The request with its uploaded source in full, if it has one that the token may read.
    [[nodiscard]] wire::Answered<wire::TaskRequest> with_source(const http::ApiRequest& request,
                                                                const Identity& token,
                                                                wire::TaskRequest wanted);
    // The task to approve or to reject: nobody approves what they asked for.
    [[nodiscard]] wire::Answered<wire::Task> task_to_approve(const http::ApiRequest& request,
                                                             const Identity& token);
    // The task that the path names if the token permits `action` on it; an empty action means reading.
    [[nodiscard]] wire::Answered<wire::Task> task_for(const http::ApiRequest& request, const Identity& token,
                                                      std::string_view action);
    // Knowing a claim is holding it, but for agents that enrolled: theirs is also bound to their site.
    [[nodiscard]] wire::Answered<void> check_holder(const http::ApiRequest& request, const Identity& token,
                                                    const std::string& claim);
    // An outcome "done" requires that the wheel exists in the claim's index, the task's index or one that
    // these inherit from, and that it matches the request.
    [[nodiscard]] wire::Answered<void> check_done(const http::ApiRequest& request, const Identity& token,
                                                  const wire::Task& task, const wire::TaskEnd& end);
    [[nodiscard]] base::Result<bool> has_wheel(std::vector<std::string> places, const wire::Outcome& outcome);

    TaskApiParts parts_;
};

// Maps an error of the queue to a problem. Unknown errors become 500, 503 or 507.
[[nodiscard]] wire::Problem problem_of_task(const base::Error& error);

// The index that receives the wheels of tasks for `index`: its staging index, or itself.
[[nodiscard]] std::string target_of(const IndexConfig& index);
// Error "index.archived": the index takes no new tasks, or its wheels could not be uploaded.
[[nodiscard]] base::Status check_takes_builds(const RegistryConfig& config, const IndexConfig& index);
// "task.would_publish": the wheel of a private index's source would be in a public index.
[[nodiscard]] base::Status check_stays_private(const RegistryConfig& config, const wire::TaskRequest& wanted);

}  // namespace wheelyard::registry
