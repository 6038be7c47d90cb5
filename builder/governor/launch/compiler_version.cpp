// Runs `compiler --version`.
#include "builder/governor/launch/compiler_version.hpp"

#include <sys/stat.h>

#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::size_t max_version = 120;

}  // namespace

const std::string& CompilerVersions::of(const std::string& compiler) {
    struct stat status {};
    const bool there = ::stat(compiler.c_str(), &status) == 0;
    const std::string name = compiler + '\t' + (there ? std::to_string(status.st_mtime) : "");
    if (const auto found = asked_.find(name); found != asked_.end()) return found->second;
    base::Command command;
    command.argv = {compiler, "--version"};
    command.timeout_ms = version_timeout_ms;
    const auto finished = base::run_command(command);
    std::string version(base::base_name(compiler));
    if (finished && finished->exit_code == 0) {
        const auto lines = base::split_lines(finished->out);
        if (!lines.empty()) {
            version += ' ';
            version += lines[0].substr(0, max_version);
        }
    }
    return asked_[name] = version;
}

}  // namespace wheelyard::governor
