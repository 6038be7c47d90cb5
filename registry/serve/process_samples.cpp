#include "registry/serve/process_samples.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/version.hpp"

namespace wheelyard::registry {
namespace {

// The field after `before`, counted from 0, in a file of /proc.
std::optional<double> number_in(const char* file, std::string_view before, std::size_t field) {
    const auto text = base::read_file(file, base::mib);
    if (!text) return std::nullopt;
    const std::size_t at = before.empty() ? 0 : text->rfind(before);
    if (at == std::string::npos) return std::nullopt;
    const auto words = base::split(std::string_view(*text).substr(at + before.size()), ' ');
    if (field >= words.size()) return std::nullopt;
    const auto value = base::parse_decimal(words[field].substr(0, words[field].find('\n')));
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

std::vector<http::Sample> process_samples() {
    std::vector<http::Sample> samples{
        {"build_info", 1,
         "version=\"" WHEELYARD_VERSION "\",commit=\"" + std::string(base::version_commit()) + "\""}};
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) == 0)
        samples.push_back(
            {"process_cpu_seconds_total", seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)});
    if (const auto pages = number_in("/proc/self/statm", "", 1))
        samples.push_back(
            {"process_resident_memory_bytes", *pages * static_cast<double>(::sysconf(_SC_PAGESIZE))});
    std::error_code error;
    double open = -1;  // but for the one that lists them
    for (std::filesystem::directory_iterator fd("/proc/self/fd", error), end; !error && fd != end;
         fd.increment(error))
        ++open;
    if (!error) samples.push_back({"process_open_fds", open});
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
        samples.push_back({"process_max_fds", static_cast<double>(limit.rlim_cur)});
    // proc(5): the program's name ends with the last ')'; starttime is field 22, the name field 2.
    const auto ticks = number_in("/proc/self/stat", ") ", 19);
    const auto boot = number_in("/proc/stat", "\nbtime ", 0);
    if (ticks && boot)
        samples.push_back(
            {"process_start_time_seconds", *boot + *ticks / static_cast<double>(::sysconf(_SC_CLK_TCK))});
    return samples;
}

}  // namespace wheelyard::registry
