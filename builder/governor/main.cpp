// wheelyard-governor: the command line.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "builder/governor/admission/history.hpp"
#include "builder/governor/launch/compiler_cache.hpp"
#include "builder/governor/launch/launcher.hpp"
#include "builder/governor/run.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/version.hpp"

namespace {

constexpr const char* help =
    "Runs an unmodified build without running out of memory: its compiles of C, C++, CUDA, HIP\n"
    "and Fortran start when they fit. cargo and go get as many jobs as fit (CARGO_BUILD_JOBS,\n"
    "GOMAXPROCS); a -j or -p that they are called with stays, and may be too many.\n\n"
    "  wheelyard-governor [options] -- CMD        run CMD; the options are below\n"
    "  wheelyard-governor history show|export|import\n"
    "  wheelyard-governor bound … -- CMD          run CMD within limits of processes, memory, disk, time\n"
    "  wheelyard-governor launch -- COMPILER …    for CMAKE_*_COMPILER_LAUNCHER\n\n"
    "Examples:\n"
    "  wheelyard-governor -- pip wheel --no-deps .\n"
    "  wheelyard-governor --memory 12G --trace build.trace.json -- ninja\n";

int run(const std::string& name, const std::vector<std::string>& arguments) {
    using namespace wheelyard::governor;
    if (name == cache_miss_link) run_cache_miss(arguments);
    if (!name.starts_with("wheelyard-governor")) run_shim(name, arguments);
    const std::string verb = arguments.empty() ? "--help" : arguments[0];
    const std::vector<std::string> rest(arguments.empty() ? arguments.end() : arguments.begin() + 1,
                                        arguments.end());
    if (verb == "launch") {
        run_launcher({rest.begin() + (!rest.empty() && rest[0] == "--" ? 1 : 0), rest.end()});
    }
    if (verb == "bound") return run_bound(rest);
    if (verb == "history") return run_history(rest);
    if (verb == "--version" || verb == "-V") {
        wheelyard::base::print(stdout, "%s\n", wheelyard::base::version_text("wheelyard-governor").c_str());
        return 0;
    }
    if (verb == "--help" && rest.empty()) {
        wheelyard::base::print(stdout, "%s\nOptions before the command:\n", help);
    }
    run_build(arguments.empty() ? std::vector<std::string>{"--help"} : arguments);
}

}  // namespace

int main(int argc, char** argv) {
    // If the parent ignored SIGCHLD, the kernel would discard the exit status of our children.
    std::signal(SIGCHLD, SIG_DFL);
    const std::string called = argc > 0 ? argv[0] : "wheelyard-governor";
    try {
        return run(std::string(wheelyard::base::base_name(called)), {argv + (argc > 0 ? 1 : 0), argv + argc});
    } catch (const std::exception& error) {
        wheelyard::base::print(stderr, "wheelyard-governor: internal error or broken environment: %s\n",
                               error.what());
        return 1;
    }
}
