// Reads the limits and runs the command.
#include "builder/governor/run.hpp"

#include <cstdint>
#include <cstdio>

#include "builder/governor/bound/bound.hpp"
#include "builder/governor/memory/memory_limit.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

const std::vector<OptionRow> bound_options = {
    {"--processes", "N", "Maximum processes and threads"},
    {"--memory", "SIZE", "Maximum memory of all together, e.g. 12G"},
    {"--disk", "SIZE", "Maximum size of --folder, deleted files that are open included"},
    {"--folder", "FOLDER", "The folder where the command writes"},
    {"--seconds", "N", "Maximum time"},
    {"--idle", "N", "Maximum seconds without output and CPU"},
    {"--help", nullptr, "Print this help"},
};

base::Status read_size(const Options& options, const char* name, std::uint64_t& bytes) {
    if (!options.has(name)) return {};
    WHEELYARD_ASSIGN(bytes, parse_limit(name, options.get(name)));
    return {};
}

base::Status read_number(const Options& options, const char* name, std::uint64_t& number) {
    if (!options.has(name)) return {};
    const auto read = base::parse_decimal(options.get(name));
    if (!read || *read == 0 || *read > 1'000'000'000)
        return base::fail("governor.number", std::string(name) + " is not a number", options.get(name), "");
    number = *read;
    return {};
}

base::Result<Bounds> bounds_of(const Options& options) {
    Bounds bounds;
    std::uint64_t seconds = 0;
    std::uint64_t idle_seconds = 0;
    WHEELYARD_TRY(read_number(options, "--processes", bounds.processes));
    WHEELYARD_TRY(read_number(options, "--seconds", seconds));
    WHEELYARD_TRY(read_number(options, "--idle", idle_seconds));
    WHEELYARD_TRY(read_size(options, "--memory", bounds.memory_bytes));
    WHEELYARD_TRY(read_size(options, "--disk", bounds.disk_bytes));
    bounds.seconds = static_cast<std::int64_t>(seconds);
    bounds.idle_seconds = static_cast<std::int64_t>(idle_seconds);
    bounds.folder = options.get("--folder");
    if ((bounds.disk_bytes > 0) == bounds.folder.empty())
        return base::fail("governor.folder", "--disk and --folder go together", "", "");
    if (options.command.empty())
        return base::fail("governor.command", "No command", "", "name it after `--`");
    return bounds;
}

}  // namespace

int run_bound(const std::vector<std::string>& arguments) {
    const auto options = parse_options(arguments, bound_options);
    if (options && options->has("--help")) {
        base::print(
            stdout,
            "wheelyard-governor bound [options] -- CMD\n\n"
            "Runs CMD until it ends or exceeds a limit (exit status %d), and ends every process that it "
            "started.\n\n%s\n"
            "Example:\n  wheelyard-governor bound --processes 512 --memory 8G --disk 20G --folder . -- "
            "make\n",
            over_limit_exit_code, render_options(bound_options).c_str());
        return 0;
    }
    const auto bounds = options ? bounds_of(*options) : base::Result<Bounds>(tl::unexpected(options.error()));
    if (!bounds) {
        base::print(stderr, "wheelyard-governor: %s\n", bounds.error().text().c_str());
        return 2;
    }
    return run_bounded(*bounds, options->command);
}

}  // namespace wheelyard::governor
