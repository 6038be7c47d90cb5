// Chooses between two jobs of the same name, and makes the errors of a batch system that cannot serve now.
#include "builder/schedule/scheduler.hpp"

#include <unistd.h>

#include <utility>

#include "lib/base/process/user.hpp"

namespace wheelyard::builder {
namespace {

int rank(const JobView& view) {
    switch (view.state) {
        case JobState::running:
            return 4;
        case JobState::queued:
            return 3;
        case JobState::unknown:
            return 2;
        case JobState::vanished:
            return view.end && view.end->cause != EndCause::unexplained ? 1 : 0;
        case JobState::unclaimed:
            return -1;
    }
    return -1;
}

base::Error passing(base::ErrorKind kind, const char* code, std::string sentence, std::string value) {
    return base::fail_as(kind, base::Recovery::retry, {code, std::move(sentence), std::move(value)}).value();
}

}  // namespace

base::Error no_job_created(std::string sentence, std::string value) {
    return passing(base::ErrorKind::unavailable, "scheduler.not_now", std::move(sentence), std::move(value));
}

base::Error request_refused(std::string sentence, std::string value, const std::string& keys) {
    return {"scheduler.refused", std::move(sentence), std::move(value),
            "fix " + keys + ", then run: wheelyard-builder retry"};
}

base::Error job_may_exist(std::string sentence, std::string value) {
    return passing(base::ErrorKind::unreachable, "scheduler.unsure", std::move(sentence), std::move(value));
}

base::Error cannot_query(std::string sentence, std::string value) {
    return passing(base::ErrorKind::unreachable, "scheduler.unavailable", std::move(sentence),
                   std::move(value));
}

std::string own_user_name() {
    return base::user_name(::geteuid());
}

bool is_better_view(const JobView& one, const JobView& other) {
    return rank(one) >= rank(other);
}

}  // namespace wheelyard::builder
