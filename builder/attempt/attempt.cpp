// Cell names, attempt IDs and what an attempt waits for, as texts.
#include "builder/attempt/attempt.hpp"

#include "builder/attempt/limits.hpp"
#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::builder {
namespace {

// Crockford's base 32: without i, l, o and u, so that a person can read an ID aloud.
constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t id_time_digits = 7;  // 32^7 seconds reach the year 3058
constexpr std::size_t id_random_digits = max_attempt_id_bytes - 1 - id_time_digits;

}  // namespace

std::string waiting_suffix(const Waiting& waiting) {
    if (waiting.reason.empty()) return "";
    return (waiting.what == WaitFor::job_slot || waiting.what == WaitFor::submission ? ", waits "
                                                                                     : ", waiting: ") +
           waiting.reason;
}

std::string cell_name(std::string_view package, std::string_view version, std::string_view python_tag) {
    return std::string(package) + "-" + std::string(version) + "-" + std::string(python_tag);
}

std::string new_attempt_id(base::UnixMicros now) {
    std::string id(id_time_digits, '0');
    auto seconds = static_cast<std::uint64_t>(now / 1'000'000);
    for (auto digit = id.rbegin(); digit != id.rend(); ++digit, seconds /= 32)
        *digit = digits[seconds % 32];
    for (const char byte : base::random_bytes(id_random_digits)) {
        id += digits[static_cast<unsigned char>(byte) % 32];
    }
    id.insert(id.begin(), 'w');
    WHEELYARD_CHECK(id.size() <= max_attempt_id_bytes);
    return id;
}

}  // namespace wheelyard::builder
