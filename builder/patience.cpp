// The table of errors that pass, by the beginning of their code.
#include "builder/patience.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lib/base/digest.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::array<std::string_view, 18> passing = {
    "source.cache",     // a download that was purged or damaged: fetched anew
    "source.fetching",  // a step on the login node is at work
    "http.",            // no connection, cut, timed out
    "simple.http",      // an index answers 5xx
    "os.",              // a full disk, a file system away
    "file.",
    "upload.unavailable",  // the registry answers 5xx or 429
    "upload.cut",          // in the middle of a wheel, which goes on there
    "upload.not_visible",  // its page lags
    "upload.not_allowed",  // its token is not (any more) taken
    "upload.paused",
    "upload.no_grant",  // of a claimed task: its lease is renewed, or claimed again, by a tick
    "task.unavailable",
    "upload.token_file",  // a person is about to put it there; the wheel is kept meanwhile
    "pip.no_index",
    "scheduler.not_now",  // a batch system that is down or full, and one that did not answer
    "scheduler.unsure",
    "scheduler.unavailable",
};

// Begin like those and are about the bytes themselves: an sdist past the limits or with such names stays so,
// and asking again would download and unpack it without end.
constexpr std::array<std::string_view, 7> final_codes = {
    "http.url",  "http.too_large", "file.too_large",  "file.not_regular",
    "os.EISDIR", "os.ELOOP",       "os.ENAMETOOLONG",
};

}  // namespace

bool may_pass(const base::Error& error) {
    if (std::find(final_codes.begin(), final_codes.end(), error.code) != final_codes.end()) return false;
    return std::any_of(passing.begin(), passing.end(),
                       [&](std::string_view prefix) { return error.code.starts_with(prefix); });
}

bool is_unreachable(const base::Error& error) {
    return error.code.starts_with("http.") && may_pass(error);
}

bool is_due(base::UnixMicros now, base::UnixMicros when, std::int64_t max_ms) {
    constexpr std::int64_t with_jitter = 2;  // delay_ms adds up to a quarter
    return when <= now || when - now > max_ms * 1000 * with_jitter;
}

bool has_passed(base::UnixMicros now, base::UnixMicros then, std::int64_t period_ms) {
    return now < then || now - then >= period_ms * 1000;
}

std::int64_t delay_ms(int tries, std::int64_t first_ms, std::int64_t max_ms) {
    constexpr int max_doublings = 20;
    const std::int64_t delay = std::min(max_ms, first_ms << std::clamp(tries, 0, max_doublings));
    const auto random = static_cast<unsigned char>(base::random_bytes(1)[0]);
    return delay + delay * random / 1024;
}

}  // namespace wheelyard::builder
