// What a tick tells people.
#include "builder/workplace/notices.hpp"

#include <doctest/doctest.h>

#include <tuple>

namespace wheelyard::builder {
namespace {

constexpr base::UnixMicros minute = 60'000'000;

TEST_CASE("a queue that takes no jobs, a refused job and a cell that was given up are told, each once") {
    TickReport report;
    report.plan.held_queues.push_back({"gpu", "qsub: in maintenance until 18:00", 0, 3, 0, {}});
    report.plan.held_queues.push_back({"", "qsub: too many jobs", 0, 3, 0, {}});
    Attempt refused;
    refused.id = "w1refused";
    refused.failure =
        Failure{"submit", {"job.refused", "The batch system refuses the job", "", ""}, "", false};
    Attempt failed;
    failed.id = "w1failed";
    failed.failure = Failure{"build", {"build.failed", "The build failed", "", ""}, "", false};
    for (const auto& [name, attempt, state] : {std::tuple("torch", "w1refused", CellState::given_up),
                                               std::tuple("numpy", "w1failed", CellState::given_up),
                                               std::tuple("six", "w1other", CellState::have)}) {
        Cell cell;
        cell.name = name;
        cell.attempt = attempt;
        cell.state = state;
        cell.reason = "why";
        report.plan.cells.push_back(cell);
    }
    const auto notices = notices_of(report, {refused, failed}, {}, minute);
    std::string told;
    for (const auto& notice : notices)
        told += std::string(notice.event) + " | " + notice.subject + " | " + notice.sentence + "\n";
    CHECK(told ==
          "submission.refused | queue `gpu` | Queue `gpu` takes no jobs since 1970-01-01T00:00:00.000000Z: "
          "qsub: in "
          "maintenance "
          "until 18:00 (one job is tried again from 1970-01-01T00:00:00.000000Z)\n"
          "submission.refused | the default queue | The default queue takes no jobs since "
          "1970-01-01T00:00:00.000000Z: qsub: too "
          "many jobs (one job is tried again from 1970-01-01T00:00:00.000000Z)\n"
          "submission.refused | torch w1refused | torch is given up: why\n"
          "cell.given_up | numpy w1failed | numpy is given up: why\n");
}

TEST_CASE(
    "a queue is told after 3 refusals or 15 minutes, and again for another reason, but not for another "
    "number") {
    const auto notices = [](const std::string& reason, int tries, base::UnixMicros now) {
        TickReport report;
        report.plan.held_queues.push_back({"gpu", reason, 0, tries, 0, {}});
        return notices_of(report, {}, {}, now);
    };
    CHECK(notices("job 17 refused", 2, 14 * minute).empty());
    CHECK(notices("job 17 refused", 1, 15 * minute).size() == 1);
    const auto told = notices("job 17 refused", 3, minute);
    REQUIRE(told.size() == 1);
    CHECK(notices("job 18 refused", 3, minute).front().cause == told.front().cause);
    CHECK(notices("in maintenance", 3, minute).front().cause != told.front().cause);
}

TEST_CASE(
    "no notice has a password or a token, whether a build, the batch system or the registry printed it") {
    TickReport report;
    report.uploads_paused =
        base::Error{"upload.not_allowed", "https://me:hunter2@yard refuses s3cret", "", ""};
    report.plan.held_queues.push_back({"", "qsub: see http://me:hunter2@help/ s3cret", 0, 9, 0, {}});
    Cell cell;
    cell.name = "torch";
    cell.state = CellState::given_up;
    cell.reason = "cannot clone https://bob:hunter2@git.example/x with s3cret";
    report.plan.cells.push_back(cell);
    const auto notices = notices_of(report, {}, {"s3cret"}, minute);
    REQUIRE(notices.size() == 3);
    for (const auto& notice : notices) {
        const std::string told = notice.subject + notice.sentence + notice.cause;
        CHECK_MESSAGE(told.find("hunter2") == std::string::npos, told);
        CHECK_MESSAGE(told.find("s3cret") == std::string::npos, told);
        CHECK_MESSAGE(told.find("(hidden)") != std::string::npos, told);
    }
}

}  // namespace
}  // namespace wheelyard::builder
