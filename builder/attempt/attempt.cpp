// The text forms of attempt values, cell names and attempt IDs.
#include "builder/attempt/attempt.hpp"

#include <algorithm>
#include <array>

#include "builder/attempt/attempt_fields.hpp"
#include "builder/attempt/limits.hpp"
#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::array<StateRow, 9> states = {{
    {.state = State::planned, .text = "planned", .before_job = true},
    {.state = State::fetched, .text = "fetched", .before_job = true},
    {.state = State::prepared, .text = "prepared", .before_job = true},
    {.state = State::submitting, .text = "submitting", .may_have_job = true},
    {.state = State::running, .text = "running", .may_have_job = true},
    {.state = State::built, .text = "built"},
    {.state = State::uploading, .text = "uploading"},
    {.state = State::done, .text = "done", .is_over = true},
    {.state = State::failed, .text = "failed", .is_over = true},
}};

struct PurposeRow {
    Purpose purpose;
    std::string_view text;
};
constexpr std::array<PurposeRow, 5> purposes{{{Purpose::build, "build"},
                                              {Purpose::gpu_test, "gpu-test"},
                                              {Purpose::multi_node_test, "multi-node-test"},
                                              {Purpose::promotion, "promotion"},
                                              {Purpose::reproduction, "reproduction"}}};

struct WaitRow {
    WaitFor what;
    std::string_view text;
};
constexpr std::array<WaitRow, 7> waits{{{WaitFor::nothing, ""},
                                        {WaitFor::retry, "retry"},
                                        {WaitFor::person, "person"},
                                        {WaitFor::login_step, "login_step"},
                                        {WaitFor::job_slot, "job_slot"},
                                        {WaitFor::queue, "queue"},
                                        {WaitFor::scheduler, "scheduler"}}};

// Crockford's base 32: without i, l, o and u, so that a person can read an ID aloud.
constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t id_time_digits = 7;  // 32^7 seconds reach the year 3058
constexpr std::size_t id_random_digits = max_attempt_id_bytes - 1 - id_time_digits;

}  // namespace

const StateRow& state_row(State state) {
    const auto* row =
        std::find_if(states.begin(), states.end(), [&](const StateRow& one) { return one.state == state; });
    WHEELYARD_CHECK(row != states.end());
    return *row;
}

std::optional<State> parse_state(std::string_view text) {
    for (const auto& row : states) {
        if (row.text == text) return row.state;
    }
    return std::nullopt;
}

std::string_view purpose_text(Purpose purpose) {
    for (const auto& row : purposes) {
        if (row.purpose == purpose) return row.text;
    }
    return "?";
}

std::optional<Purpose> parse_purpose(std::string_view text) {
    for (const auto& row : purposes) {
        if (row.text == text) return row.purpose;
    }
    return std::nullopt;
}

std::string_view wait_text(WaitFor what) {
    for (const auto& row : waits) {
        if (row.what == what) return row.text;
    }
    return "";
}

std::optional<WaitFor> parse_wait(std::string_view text) {
    for (const auto& row : waits) {
        if (row.text == text) return row.what;
    }
    return std::nullopt;
}

std::string waiting_suffix(const Waiting& waiting) {
    if (waiting.reason.empty()) return "";
    return (waiting.what == WaitFor::job_slot ? ", waits " : ", waiting: ") + waiting.reason;
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
