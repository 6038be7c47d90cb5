#include "builder/attempt/patience.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("what may pass waits; what cannot pass fails") {
    for (const char* code : {"http.connect", "http.timeout", "simple.http", "os.ENOSPC", "upload.unavailable",
                             "upload.token_file", "upload.not_allowed"}) {
        CHECK(may_pass({code, "s"}));
    }
    for (const char* code :
         {"source.hash_mismatch", "source.absent", "wheel.rejected", "upload.refused", "upload.quarantined",
          "upload.name_taken", "archive.unsafe", "job.failed", "http.url", "http.too_large", "file.too_large",
          "file.not_regular", "os.EISDIR", "os.ELOOP", "os.ENAMETOOLONG"}) {
        CHECK(!may_pass({code, "s"}));
    }
}

TEST_CASE("only silence says that another question would meet the same") {
    for (const char* code : {"http.connect", "http.timeout", "http.cut"})
        CHECK(is_unreachable({code, "s"}));
    for (const char* code :
         {"task.unavailable", "upload.unavailable", "simple.http", "http.url", "task.body"})
        CHECK(!is_unreachable({code, "s"}));
}

TEST_CASE("delays double up to their bound, with a quarter of jitter at most") {
    const std::int64_t least[] = {100, 200, 400, 800, 1000, 1000};
    for (int tries = 0; tries < 6; ++tries) {
        for (int count = 0; count < 50; ++count) {
            const std::int64_t delay = delay_ms(tries, 100, 1000);
            CHECK(delay >= least[tries]);
            CHECK(delay <= least[tries] * 5 / 4);
        }
    }
    CHECK(delay_ms(1000, 100, 1000) <= 1250);
}

TEST_CASE("a time far ahead was written by a clock that has stepped back, and does not hold anything up") {
    constexpr base::UnixMicros now = 1'790'000'000'000'000;
    CHECK(is_due(now, now, 1000));
    CHECK(is_due(now, 0, 1000));
    CHECK(!is_due(now, now + 1'250'000, 1000));  // the longest wait with its jitter
    CHECK(is_due(now, now + 3'600'000'000, 1000));
    CHECK(!has_passed(now, now - 999'000, 1000));
    CHECK(has_passed(now, now - 1'000'000, 1000));
    CHECK(has_passed(now, now + 1, 1000));
}

}  // namespace
}  // namespace wheelyard::builder
