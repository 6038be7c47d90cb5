#include "builder/patience.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("what may pass waits; what cannot pass fails") {
    for (const char* code : {"http.connect", "http.timeout", "simple.http", "os.ENOSPC", "upload.unavailable",
                             "upload.token_file"}) {
        CHECK(may_pass({code, "s"}));
    }
    for (const char* code :
         {"source.hash_mismatch", "source.absent", "wheel.rejected", "upload.refused", "upload.name_taken",
          "archive.unsafe", "job.failed", "http.too_large", "file.too_large", "file.not_regular", "os.EISDIR",
          "os.ELOOP", "os.ENAMETOOLONG"}) {
        CHECK(!may_pass({code, "s"}));
    }
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

}  // namespace
}  // namespace wheelyard::builder
