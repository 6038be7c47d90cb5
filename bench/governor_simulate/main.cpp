// governor_simulate PROFILE …: reads a profile, simulates its build and prints the result next to the lower
// bound.
#include <cstdint>
#include <cstdio>
#include <optional>

#include "bench/governor_simulate/simulate.hpp"
#include "builder/governor/memory/limits.hpp"
#include "builder/governor/memory/memory_limit.hpp"
#include "builder/governor/run.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::uint64_t max_profile_bytes = 64 * mib;

const std::vector<OptionRow> simulate_options = {
    {"--cores", "N", "cores of the machine"},
    {"--memory", "SIZE", "memory of the machine, e.g. 64G"},
    {"--policy", "P", "governed (default), oracle, fixed-j N, jN-then-j1 (e.g. j16-then-j1)"},
    {"--history", nullptr, "governed: with the history of an earlier build (default)"},
    {"--no-history", nullptr, "governed: without a history"},
    {"--history-part", "X", "governed: part of the compiles in the history, e.g. 0.5"},
    {"--scale", "N", "draw N compiles from the profile, large ones late"},
    {"--window", "N", "maximum waiting compiles, in the profile's order (default: all)"},
    {"--seed", "N", "random seed (default 1)"},
    {"--json", nullptr, "print JSON"},
    {"--help", nullptr, "print this help"},
};

std::optional<unsigned> parse_count(std::string_view text, std::uint64_t max) {
    const auto number = base::parse_decimal(text);
    if (!number || *number == 0 || *number > max) return std::nullopt;
    return static_cast<unsigned>(*number);
}

base::Status parse_policy(const Options& options, SimulationPlan& plan) {
    std::string policy = options.get("--policy", "governed");
    if (policy == "governed") return {};
    if (policy == "oracle") {
        plan.policy = Policy::oracle;
        return {};
    }
    std::optional<unsigned> jobs;
    if (policy == "fixed-j") {
        plan.policy = Policy::fixed_j;
        if (options.positional.size() > 1) jobs = parse_count(options.positional[1], 100'000);
    } else if (policy.starts_with("fixed-j")) {
        plan.policy = Policy::fixed_j;
        jobs = parse_count(policy.substr(7), 100'000);
    } else if (policy.starts_with("j") && policy.ends_with("-then-j1")) {
        plan.policy = Policy::fixed_then_j1;
        jobs = parse_count(policy.substr(1, policy.size() - 9), 100'000);
    }
    if (!jobs) return base::fail("governor.policy", "Unknown policy", policy, "see governor_simulate --help");
    plan.jobs = *jobs;
    return {};
}

base::Status prepare(const Options& options, SimulationPlan& plan, std::vector<ProfileRow>& rows) {
    if (options.positional.empty()) {
        return base::fail("governor.profile", "No profile given", "",
                          "governor_simulate PROFILE.csv --cores N --memory M");
    }
    const auto cores = parse_count(options.get("--cores"), 100'000);
    WHEELYARD_ASSIGN(const std::uint64_t memory, parse_limit("--memory", options.get("--memory")));
    if (!cores)
        return base::fail("governor.cores", "--cores is not a number of cores", options.get("--cores"), "");
    plan.cores = *cores;
    plan.limit_bytes = static_cast<double>(memory);
    plan.history = !options.has("--no-history");
    plan.seed = base::parse_decimal(options.get("--seed", "1")).value_or(1);
    plan.window = static_cast<std::size_t>(base::parse_decimal(options.get("--window", "0")).value_or(0));
    if (options.has("--history-part")) {
        plan.history_fraction = std::strtod(options.get("--history-part").c_str(), nullptr);
    }
    WHEELYARD_TRY(parse_policy(options, plan));
    WHEELYARD_ASSIGN(const auto text, base::read_file(options.positional[0], max_profile_bytes));
    WHEELYARD_ASSIGN(rows, parse_profile(text));
    if (options.has("--scale")) {
        const auto count = parse_count(options.get("--scale"), 1'000'000);
        if (!count) return base::fail("governor.scale", "--scale is not a count", options.get("--scale"), "");
        rows = scale_profile(rows, *count, plan.seed);
    }
    return {};
}

int run_simulate(const std::vector<std::string>& arguments) {
    const auto options = parse_options(arguments, simulate_options);
    SimulationPlan plan;
    std::vector<ProfileRow> rows;
    base::Status ready = options ? base::Status{} : base::fail(options.error());
    if (options && options->has("--help")) {
        std::printf("governor_simulate PROFILE.csv --cores N --memory SIZE\n\n%s",
                    render_options(simulate_options).c_str());
        return 0;
    }
    if (ready) ready = prepare(*options, plan, rows);
    if (!ready) {
        std::fprintf(stderr, "governor_simulate: %s\n", ready.error().text().c_str());
        return 2;
    }
    const auto result = simulate(rows, plan);
    const auto count = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
    if (options->has("--json")) {
        std::printf(
            "{\"format\":\"wheelyard.governor-simulation/"
            "1\",\"compiles\":%zu,\"makespan_s\":%.3f,\"bound_s\":%.3f,"
            "\"ratio\":%.4f,\"stops\":%llu,\"kills\":%llu,\"kernel_kills\":%llu,\"failed\":%llu,\"high_water_"
            "bytes\":%.0f}\n",
            rows.size(), result.makespan_s, result.bound_s, result.ratio(), count(result.stops),
            count(result.kills), count(result.kernel_kills), count(result.failed), result.high_water_bytes);
    } else {
        const auto ms = [](double seconds) {
            return base::render_duration_ms(static_cast<std::int64_t>(seconds * 1000));
        };
        std::printf("%zu compiles on %u cores with %s: %s\n", rows.size(), plan.cores,
                    base::render_bytes(static_cast<std::uint64_t>(plan.limit_bytes)).c_str(),
                    result.survived() ? ms(result.makespan_s).c_str()
                                      : ("fails after " + ms(result.makespan_s)).c_str());
        std::printf(
            "bound %s, ratio %.3f, stopped %llu, killed and retried %llu (%llu by the kernel), "
            "failed %llu, high water %s\n",
            ms(result.bound_s).c_str(), result.ratio(), count(result.stops), count(result.kills),
            count(result.kernel_kills), count(result.failed),
            base::render_bytes(static_cast<std::uint64_t>(result.high_water_bytes)).c_str());
    }
    return result.survived() ? 0 : 1;
}

}  // namespace
}  // namespace wheelyard::governor

int main(int count, char** arguments) {
    return wheelyard::governor::run_simulate({arguments + 1, arguments + count});
}
