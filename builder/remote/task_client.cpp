#include "builder/remote/task_client.hpp"

#include <utility>

#include "builder/remote/refusal.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {
namespace {

base::Result<std::string> body_of(io::HttpAnswer answer) {
    if (answer.status == 200) return std::move(answer.body);
    const auto problem = wire::parse_problem(answer.body);
    std::string message = message_of(answer, problem);
    const bool awaits_token = answer.status == 401 || answer.status == 403;  // until the token is replaced
    if (awaits_token || io::is_temporary_status(answer.status) || !problem || problem->code.empty())
        return base::fail_as(
            base::ErrorKind::unavailable, base::Recovery::retry,
            {"task.unavailable",
             "The registry's task service answers " + std::to_string(answer.status) + ": " + message,
             {},
             problem ? problem->advice : "check `url` in [registry] of site.toml"});
    return base::fail(task_refusal({problem->code, message, problem->value, problem->advice}));
}

}  // namespace

base::Error task_refusal(base::Error answer) {
    const Refusal refusal = refusal_of(answer.code);
    if (refusal == Refusal::task_lost)
        return base::fail_as(base::ErrorKind::lost, base::Recovery::retry, std::move(answer)).value();
    if (refusal == Refusal::no_task)
        return base::fail_as(base::ErrorKind::missing, base::Recovery::never, std::move(answer)).value();
    return answer;
}

base::Result<std::string> HttpTaskService::post(const std::string& address, const std::string& body) {
    WHEELYARD_ASSIGN(const std::string token, read_token(settings_.token_file));
    WHEELYARD_ASSIGN(io::HttpAnswer answer,
                     http_.post(settings_.url + "/api/v1/tasks/" + address, body,
                                {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}},
                                wire::max_task_document));
    if (!is_registry_)
        WHEELYARD_TRY(simple::check_registry(simple::page_getter(http_), settings_.url, answer));
    is_registry_ = true;
    return body_of(std::move(answer));
}

base::Result<wire::Claimed> HttpTaskService::claim(const wire::ClaimOffer& offer) {
    WHEELYARD_ASSIGN(const std::string body, post("claim", wire::render_claim(offer)));
    return wire::parse_claimed(body);
}

base::Status HttpTaskService::end(const std::string& task, const wire::Outcome& outcome) {
    WHEELYARD_ASSIGN([[maybe_unused]] const std::string body,
                     post(base::encode_percent(task) + "/outcome", wire::render_outcome(outcome)));
    return {};
}

std::unique_ptr<Registry> HttpTaskService::uploads_to(const std::string& index, const std::string& task) {
    RegistrySettings target = settings_;
    target.index = index;
    return std::make_unique<HttpRegistry>(upload_http_, clock_, std::move(target), task);
}

}  // namespace wheelyard::builder
