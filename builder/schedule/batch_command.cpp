// The environments of batch programs.
#include "builder/schedule/batch_command.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>

#include "builder/attempt/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder {

namespace {

constexpr std::int64_t batch_timeout_ms = 60'000;  // per call of squeue, qstat, sbatch …

}  // namespace

base::Result<base::Finished> run_batch_command(const BatchCommand& command) {
    base::Command program;
    program.argv = command.argv;
    program.environment = command.environment;
    program.timeout_ms = batch_timeout_ms;
    program.output_limit_bytes = max_queue_bytes;
    return base::run_command(program);
}

EnvironmentMap batch_environment(const EnvironmentMap& agent,
                                 std::span<const std::string_view> output_variables) {
    EnvironmentMap environment;
    for (const auto& [name, value] : agent) {
        const auto begins_with = [&variable = name](std::string_view prefix) {
            return variable.starts_with(prefix);
        };
        const bool changes_output =
            begins_with("LC_") || begins_with("LANG") ||
            std::any_of(output_variables.begin(), output_variables.end(), begins_with);
        if (!changes_output) environment.emplace(name, value);
    }
    environment.emplace("LC_ALL", "C");
    return environment;
}

EnvironmentMap submit_environment(const EnvironmentMap& agent,
                                  std::span<const std::string_view> server_variables,
                                  const EnvironmentMap& job) {
    EnvironmentMap environment = job;
    const auto copy = [&](std::string_view name) {
        if (const auto found = agent.find(std::string(name)); found != agent.end())
            environment.insert(*found);
    };
    copy(kerberos_variable);
    std::for_each(server_variables.begin(), server_variables.end(), copy);
    environment.insert_or_assign("LC_ALL", "C");
    return environment;
}

std::string first_words(const base::Finished& finished) {
    for (const auto* text : {&finished.err, &finished.out}) {
        for (const auto line : base::split_lines(*text)) {
            if (!base::trim(line).empty())
                return std::string(base::cut_utf8(base::trim(line), max_error_line_bytes));
        }
    }
    return finished.timed_out ? "no answer in time" : "exit status " + std::to_string(finished.exit_code);
}

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// a * factor + b, saturated at the largest value. Precondition: none is negative.
std::int64_t scaled(std::int64_t a, std::int64_t factor, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, factor, &result) || __builtin_add_overflow(result, b, &result)) return most;
    return result;
}

std::int64_t within_range(std::uint64_t number) {
    return number > static_cast<std::uint64_t>(most) ? most : static_cast<std::int64_t>(number);
}

}  // namespace

std::int64_t parse_elapsed_s(std::string_view text) {
    std::int64_t days = 0;
    if (const auto dash = text.find('-'); dash != std::string_view::npos) {
        const auto number = base::parse_decimal(text.substr(0, dash));
        if (!number) return 0;
        days = within_range(*number);
        text.remove_prefix(dash + 1);
    }
    std::int64_t seconds = 0;
    for (const auto part : base::split(text.substr(0, text.find('.')), ':')) {
        const auto number = base::parse_decimal(part);
        if (!number) return 0;
        seconds = scaled(seconds, 60, within_range(*number));
    }
    return scaled(days, 86'400, seconds);
}

std::int64_t parse_size_kib(std::string_view text) {
    const auto after_digits = text.find_first_not_of("0123456789");
    const auto number = base::parse_decimal(text.substr(0, after_digits));
    if (!number) return 0;
    const std::int64_t whole = within_range(*number);
    if (after_digits == std::string_view::npos) return whole / 1024;
    const auto letter = text.find_first_not_of("0123456789.");
    if (letter == std::string_view::npos) return whole / 1024;
    constexpr std::string_view lower = "kmgtp";
    constexpr std::string_view upper = "KMGTP";
    auto unit = lower.find(text[letter]);
    if (unit == std::string_view::npos) unit = upper.find(text[letter]);
    if (unit == std::string_view::npos) return whole / 1024;  // "17b": bytes
    return scaled(whole, std::int64_t{1} << (10 * unit), 0);
}

}  // namespace wheelyard::builder
