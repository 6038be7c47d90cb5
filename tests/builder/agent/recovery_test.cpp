// The code that creates an error sets its recovery. This test provokes each error that an attempt waits for.
#include <doctest/doctest.h>
#include <fcntl.h>

#include <array>
#include <cerrno>
#include <functional>

#include "builder/remote/task_service.hpp"
#include "builder/remote/upload.hpp"
#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/scheduler.hpp"
#include "builder/schedule/slurm/slurm.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::builder {
namespace {

using base::Error;
using base::ErrorKind;
using base::Recovery;

template <typename T>
Error error_of_result(const base::Result<T>& result) {
    REQUIRE(!result.has_value());
    return result.error();
}

Error of_index(int status) {
    const simple::GetPage get = [status](const std::string&, const io::HttpHeaders&,
                                         const io::BodyLimit&) -> base::Result<io::HttpAnswer> {
        io::HttpAnswer answer;
        answer.status = status;
        return answer;
    };
    return error_of_result(
        simple::fetch_project(get, "https://x/simple", "demo", simple::Forbidden::is_error));
}

Error of_upload(int status) {
    io::HttpAnswer answer;
    answer.status = status;
    return error_of_result(judge_upload_answer(answer));
}

Error of_pbs(int exit_code, const std::string& said) {
    base::Finished finished;
    finished.exit_code = exit_code;
    finished.err = said;
    return pbs::judge_refusal(finished);
}

TEST_CASE("the code that creates an error sets its recovery") {
    const base::TempDir folder = *base::TempDir::make("recovery");
    const auto file = folder.path() / "file";
    REQUIRE(base::replace_file(file, "0123456789").has_value());
    io::HttpClient http;
    base::ManualClock clock{1'790'000'000'000'000};
    auto lock = base::LockFile::acquire(folder.path() / "lock", clock, 1000);
    REQUIRE(lock.has_value());
    const auto held = base::LockFile::acquire(folder.path() / "lock", clock, 1000);
    std::filesystem::remove(folder.path() / "lock");

    struct Row {
        const char* code;
        Error error;
        Recovery recovery;
        ErrorKind kind = ErrorKind::other;
    };
    const Row rows[] = {
        {"http.connect", error_of_result(http.get("http://127.0.0.1:1/")), Recovery::retry,
         ErrorKind::unreachable},
        {"http.url", error_of_result(http.get("ftp://127.0.0.1/x")), Recovery::never},
        {"simple.http", of_index(503), Recovery::retry, ErrorKind::unavailable},
        {"simple.http", of_index(429), Recovery::retry, ErrorKind::unavailable},
        {"simple.http", of_index(403), Recovery::person, ErrorKind::unauthorized},
        {"os.ENOSPC", base::fail_errno("write", "x", ENOSPC).value(), Recovery::retry},
        {"os.EISDIR", base::fail_errno("open", "x", EISDIR).value(), Recovery::never},
        {"file.too_large", error_of_result(base::read_file(file, 3)), Recovery::never},
        {"file.not_regular", error_of_result(base::FileReader::open(folder.path())), Recovery::never},
        {"lock.held", error_of_result(held), Recovery::retry, ErrorKind::busy},
        {"lock.lost", error_of_result(lock->refresh(clock)), Recovery::never, ErrorKind::lost},
        {"upload.unavailable", of_upload(503), Recovery::retry, ErrorKind::unavailable},
        {"upload.unavailable", of_upload(429), Recovery::retry, ErrorKind::unavailable},
        {"upload.not_allowed", of_upload(401), Recovery::person, ErrorKind::unauthorized},
        {"upload.refused", of_upload(400), Recovery::never},
        {"upload.quarantined", of_upload(202), Recovery::never},
        {"upload.token_file", error_of_result(read_token(folder.path() / "none")), Recovery::person,
         ErrorKind::unauthorized},
        {"task.lost", task_refusal({"task.lost", "s"}), Recovery::retry, ErrorKind::lost},
        {"task.cancelled", task_refusal({"task.cancelled", "s"}), Recovery::never, ErrorKind::missing},
        {"task.body", task_refusal({"task.body", "s"}), Recovery::never},
        {"scheduler.not_now",
         slurm::judge_refusal("sbatch: error: Unable to contact slurm controller (connect failure)"),
         Recovery::retry, ErrorKind::unavailable},
        {"scheduler.refused", slurm::judge_refusal("sbatch: unrecognized option '--nosuch'"),
         Recovery::never},
        {"scheduler.refused", of_pbs(1, "qsub: Unknown queue"), Recovery::never},
        {"scheduler.unsure", job_may_exist("s", ""), Recovery::retry, ErrorKind::unreachable},
        {"scheduler.unavailable", cannot_query("s", ""), Recovery::retry, ErrorKind::unreachable},
    };
    for (const Row& row : rows) {
        CAPTURE(row.code);
        CAPTURE(row.error.text());
        CHECK(row.error.code == row.code);
        CHECK(row.error.recovery == row.recovery);
        CHECK(row.error.kind == row.kind);
        CHECK(row.error.may_pass() == (row.recovery != Recovery::never));
    }
}

}  // namespace
}  // namespace wheelyard::builder
