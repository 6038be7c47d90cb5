// Sets the build's environment, starts broker and build, and waits for them.
#include "builder/governor/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "builder/governor/admission/admission.hpp"
#include "builder/governor/admission/history.hpp"
#include "builder/governor/broker/broker.hpp"
#include "builder/governor/launch/compiler_names.hpp"
#include "builder/governor/launch/compiler_process.hpp"
#include "builder/governor/launch/coverage.hpp"
#include "builder/governor/launch/interposer.hpp"
#include "builder/governor/launch/launcher.hpp"
#include "builder/governor/launch/message.hpp"
#include "builder/governor/launch/shims.hpp"
#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/usage.hpp"

namespace wheelyard::governor {

namespace {

// The peak of a compile of which nothing is known, where -j must not be raised.
constexpr std::uint64_t unknown_peak_bytes = 2048 * mib;

const std::vector<OptionRow> run_options = {
    {"--memory", "SIZE",
     "Maximum memory, e.g. 12G (default: what cgroups, the batch job and the machine allow)"},
    {"--cores", "N", "Maximum concurrent compiles (default: the available cores)"},
    {"--history", "FILE", "Measurements of earlier builds (default: ~/.cache/wheelyard/governor/history)"},
    {"--no-history", nullptr, "Do not read or write a history"},
    {"--json", "FILE", "Write the summary as JSON"},
    {"--trace", "FILE", "Write a timeline for chrome://tracing or Perfetto"},
    {"--svg", "FILE", "Ignored: jobs that an earlier agent wrote name it"},
    {"--progress", "SECONDS", "Interval of the progress line (default 30; 0: none)"},
    {"--quiet", nullptr, "Print no progress and no line at the end"},
    {"--no-shims", nullptr,
     "Use only CMAKE_*_COMPILER_LAUNCHER; change neither PATH, LD_PRELOAD nor the -j of ninja and make"},
    {"--no-groups", nullptr, "Sample processes even if each compile could have a cgroup"},
    {"--window", "N", "Maximum waiting compiles (default: by cores, descriptors, processes and memory)"},
    {"--help", nullptr, "Print this help"},
};

constexpr std::array languages = {"C", "CXX", "CUDA", "HIP", "Fortran"};
constexpr std::array forwarded = {SIGTERM, SIGHUP, SIGINT};
volatile sig_atomic_t build_pid = 0;
volatile sig_atomic_t control_fd = -1;
volatile sig_atomic_t is_stopped = 0;
std::string socket_path;  // changes only while the handler cannot run

extern "C" void forward(int number, siginfo_t* info, void*) {
    // The terminal sends its interrupt to the whole process group, which includes CMD; kill(1) only to us.
    if (build_pid <= 0 || info->si_code > 0) return;
    const int before = errno;
    // From here on no compile starts (was_stopped). The build tool may end without its children; the broker
    // ends the launchers that wait.
    ::unlink(socket_path.c_str());
    is_stopped = 1;
    if (control_fd >= 0 && ::write(static_cast<int>(control_fd), "s", 1) < 0) errno = 0;
    ::kill(static_cast<pid_t>(build_pid), number);
    errno = before;
}

void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
}

// The variables of the launcher, without those that raise parallelism.
void set_environment(const std::string& socket, const std::string& root, unsigned cores, bool shims) {
    const std::string launcher = own_program() + ";launch;--";
    for (const std::string language : languages) {
        for (const char* kind : {"_COMPILER_LAUNCHER", "_LINKER_LAUNCHER"}) {
            const std::string name = "CMAKE_" + language + kind;
            const char* before = std::getenv(name.c_str());
            const bool ours = before != nullptr && std::string_view(before).starts_with(launcher);
            if (ours) continue;
            set(name, before != nullptr && *before != '\0' ? launcher + ";" + before : launcher);
        }
    }
    set(socket_variable, socket);
    set(root_variable, root);
    set(cores_variable, std::to_string(cores));
    ::unsetenv(held_variable);
    ::unsetenv(raised_variable);
    ::unsetenv(jobs_variable);
    const char* path = std::getenv("PATH");
    const std::string search = path_without(path != nullptr ? path : "/usr/bin:/bin", shim_folder());
    if (!shims) return;
    const auto names = shimmed_names(search);
    const std::string folder = shim_folder_of(names);
    if (const auto made = make_shims(folder, names); !made) {
        base::print(stderr, "governor: cannot create shims: %s\n", made.error().text().c_str());
        return;
    }
    // Only now: make_shims() refuses a folder that another user has prepared, with a link to ours in it.
    if (shim_folder().empty()) remove_unused(std::filesystem::path(folder).parent_path(), "");
    set(shims_variable, folder);
    set("PATH", folder + ":" + search);
}

// Loads the interposer and tests which ways of calling a compiler pass through the launcher. Parallelism is
// raised only if all do; otherwise compiles that nobody holds back would run at once.
Coverage cover(const std::string& folder, bool shims, const std::filesystem::path& history,
               double limit_bytes, unsigned cores, unsigned window) {
    Coverage coverage;
    coverage.jobs = window;
    coverage.limit_bytes = limit_bytes;
    if (shims) {
        const auto library = install_interposer({private_folder(), folder, kept_folder()});
        preload(library ? *library : "");
        coverage.forms = probe(forms_of(base::current_environment(), folder));
        coverage.capped = std::any_of(coverage.forms.begin(), coverage.forms.end(),
                                      [](const Form& form) { return !form.intercepted; });
        const bool works = std::any_of(coverage.forms.begin(), coverage.forms.end(), [](const Form& form) {
            return form.name == by_path && form.intercepted;
        });
        if (!works) preload("");  // a library that does not even load would end every process
        if (!library) coverage.reason = library.error().text();
    } else {
        preload("");
        coverage.reason = "--no-shims governs only what CMake starts";
    }
    if (!coverage.reason.empty()) coverage.capped = true;
    if (!coverage.capped) return coverage;
    std::string warning;  // the broker reads the history again, and reports it
    const double known =
        history.empty() ? 0
                        : largest_peak_below(load_history(history, warning), std::filesystem::current_path());
    coverage.peak_is_known = known > 0;
    coverage.peak_bytes = known > 0 ? known : static_cast<double>(unknown_peak_bytes);
    coverage.jobs = jobs_that_fit(limit_bytes, coverage.peak_bytes, cores);
    return coverage;
}

// What the build itself asks for stays, as far as it fits.
std::string capped(const char* variable, unsigned cap) {
    const auto own = base::parse_decimal(environment(variable)).value_or(cap);
    return std::to_string(std::clamp<std::uint64_t>(own, 1, cap));
}

void set_parallelism(const Coverage& coverage, unsigned window, unsigned cores, bool shims) {
    const unsigned jobs = coverage.jobs;
    set(jobs_variable, std::to_string(jobs));
    if (coverage.capped) {
        set(capped_variable, "1");
    } else {
        ::unsetenv(capped_variable);
    }
    set("MAX_JOBS", coverage.capped ? capped("MAX_JOBS", jobs) : std::to_string(jobs));
    const char* cmake = "CMAKE_BUILD_PARALLEL_LEVEL";  // its compilers have a launcher, with --no-shims too
    set(cmake, coverage.capped && shims ? capped(cmake, jobs) : std::to_string(window));
    // rustc passes no launcher, and go, a static program, calls gcc where no interposer sees it.
    const unsigned unseen = jobs_that_fit(coverage.limit_bytes, unknown_peak_bytes, cores);
    for (const char* variable : {"CARGO_BUILD_JOBS", "GOMAXPROCS"})
        set(variable, capped(variable, unseen));
}

unsigned window_of(const LimitReader& limits, unsigned cores) {
    WindowFacts facts;
    facts.cores = cores;
    facts.limit_bytes = limits.read(0).tightest.room();
    facts.free_pids = free_pids("");
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.open_files = limit.rlim_max;
    if (::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        facts.user_processes = limit.rlim_cur;
    }
    return choose_window(facts);
}

CompileGroups make_groups(const Options& options, const LimitReader& limits) {
    if (options.has("--no-groups")) return {};
    return CompileGroups::make("", limits.cgroups(), ::getpid());
}

base::Result<BrokerPlan> plan_of(const Options& options) {
    BrokerPlan plan;
    if (options.has("--memory")) {
        WHEELYARD_ASSIGN(plan.setting_bytes, parse_limit("--memory", options.get("--memory")));
    }
    if (options.has("--cores")) {
        const auto number = base::parse_decimal(options.get("--cores"));
        if (!number || *number == 0 || *number > 100'000) {
            return base::fail("governor.cores", "--cores is not a number of cores", options.get("--cores"),
                              "");
        }
        plan.cores = static_cast<unsigned>(*number);
    }
    const auto progress = base::parse_decimal(options.get("--progress", "30"));
    if (!progress || *progress > 86'400) {
        return base::fail("governor.progress", "--progress is not a number of seconds",
                          options.get("--progress"), "");
    }
    plan.progress_s = static_cast<std::int64_t>(*progress);
    plan.quiet = options.has("--quiet");
    if (!options.has("--no-history")) {
        plan.history = std::filesystem::absolute(options.get("--history", default_history_file().native()));
    }
    if (options.has("--json")) plan.json = std::filesystem::absolute(options.get("--json"));
    if (options.has("--trace")) plan.trace = std::filesystem::absolute(options.get("--trace"));
    return plan;
}

// The folder of the socket. TMPDIR may name a folder that the node does not have, and a Unix socket's path
// has at most 107 characters.
base::Result<base::TempDir> make_folder() {
    constexpr std::size_t max_path = 60;
    const char* temporary = std::getenv("TMPDIR");
    if (temporary == nullptr || std::strlen(temporary) <= max_path) {
        if (auto folder = base::TempDir::make("wheelyard-governor", "")) return folder;
    }
    if (auto folder = base::TempDir::make("wheelyard-governor", "/tmp")) return folder;
    return base::TempDir::make("wheelyard-governor", "/dev/shm");
}

int complain(const base::Error& error) {
    base::print(stderr, "wheelyard-governor: %s\n", error.text().c_str());
    return 2 << 8;  // as a wait status
}

// Starts the broker's process and returns its PID. The broker ends at end of file on `control_read`.
pid_t start_broker(const BrokerPlan& plan, base::Fd& listening, int control_read, int control_write,
                   CompileGroups& groups) {
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::close(control_write);
    // An interrupt from the terminal ends the build. The broker serves its launchers until then.
    ::setpgid(0, 0);
    mark_held();  // a compiler that it asks for its version is no compile
    int status = 1;
    try {
        status = run_broker(plan, std::move(listening), base::Fd(control_read), groups);
    } catch (const std::exception& error) {
        base::print(stderr, "governor: the broker failed: %s\n", error.what());
    }
    std::fflush(nullptr);
    ::_exit(status);
}

// A file of ours beyond `ulimit -f` is an error of write(2), not our end. The build gets the signal as we got
// it.
const bool file_size_was_ignored = is_ignored(SIGXFSZ);

// Handles `forwarded` from the moment when there is a build to forward them to.
pid_t start_build(const std::vector<std::string>& command, const std::string& socket, int control,
                  bool shims) {
    sigset_t blocked, before;
    ::sigemptyset(&blocked);
    for (const int number : forwarded)
        ::sigaddset(&blocked, number);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    const pid_t pid = ::fork();
    if (pid != 0) {
        socket_path = socket;
        control_fd = control;
        build_pid = pid;
        struct sigaction action {};
        action.sa_sigaction = forward;
        action.sa_flags = SA_SIGINFO;
        for (const int number : forwarded) {
            if (!is_ignored(number)) ::sigaction(number, &action, nullptr);
        }
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        return pid;
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (!file_size_was_ignored) ::signal(SIGXFSZ, SIG_DFL);
    // This program is static: no interposer sees its exec. By name the shims do.
    if (shims && command[0].find('/') != std::string::npos && is_compiler_name(name_of(command[0])))
        run_launcher(command);
    become(command);
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return 1 << 8;
    }
    return status;
}

// --window, or what the machine allows.
unsigned window_of(const Options& options, const LimitReader& limits, unsigned cores) {
    const auto wanted = base::parse_decimal(options.get("--window", "0")).value_or(0);
    return wanted > 0 ? static_cast<unsigned>(std::min<std::uint64_t>(wanted, max_window))
                      : window_of(limits, cores);
}

void wait_for_broker(pid_t broker) {
    if (broker <= 0) return;
    const int ended = wait_for(broker);
    if (!WIFSIGNALED(ended)) return;
    base::print(stderr, "governor: the broker was killed (signal %d); the build continued without it\n",
                WTERMSIG(ended));
}

// Returns CMD's wait status.
int govern(const Options& options, BrokerPlan plan) {
    auto folder = make_folder();
    if (!folder) {
        // A build needs no governor, and a site's mistake must not stop it.
        complain(folder.error());
        base::print(stderr, "governor: the build runs without it\n");
        become(options.command);
    }
    const std::string socket = folder->path() / "socket";
    auto listening = listen_at(socket);
    if (!listening) return complain(listening.error());
    int control[2];
    if (::pipe2(control, O_CLOEXEC) != 0) return complain(base::fail_errno("pipe", "", errno).value());

    const LimitReader limits("", plan.setting_bytes, plan.job_limits);
    remove_stale_groups("", limits.cgroups());
    CompileGroups groups = make_groups(options, limits);
    const unsigned cores = plan.cores > 0 ? plan.cores : limits.cores();
    const unsigned window = window_of(options, limits, cores);
    if (!plan.quiet) {
        base::print(stderr, "governor: %u cores, %s, up to %u compiles wait%s\n", cores,
                    limits.read(0).tightest.text().c_str(), window,
                    groups.usable() ? ", each long one in its own cgroup" : "");
    }
    const bool shims = !options.has("--no-shims");
    set_environment(socket, std::filesystem::current_path().native(), cores, shims);
    plan.coverage = cover(folder->path(), shims, plan.history, limits.read(0).tightest.room(), cores, window);
    set_parallelism(plan.coverage, window, cores, shims);
    const pid_t broker = start_broker(plan, *listening, control[0], control[1], groups);
    ::close(control[0]);
    listening->reset();  // so that connecting fails at once when the broker is dead
    const pid_t build = start_build(options.command, socket, control[1], shims);
    const int status = build < 0 ? 71 << 8 : wait_for(build);
    control_fd = -1;
    ::close(control[1]);
    wait_for_broker(broker);
    if (is_stopped != 0) folder->keep();  // a build tool that goes on finds no socket there
    return status;
}

int run_to_wait_status(const std::vector<std::string>& arguments) {
    const auto options = parse_options(arguments, run_options);
    if (!options) return complain(options.error());
    if (options->has("--help")) {
        base::print(stdout, "wheelyard-governor [options] -- CMD ARGUMENTS\n\n%s",
                    render_options(run_options).c_str());
        return 0;
    }
    if (options->command.empty() || !options->positional.empty()) {
        return complain({"governor.command", "No command to run",
                         options->positional.empty() ? "" : options->positional[0],
                         "wheelyard-governor [options] -- CMD ARGUMENTS"});
    }
    ::signal(SIGXFSZ, SIG_IGN);
    auto plan = plan_of(*options);
    if (!plan) return complain(plan.error());
    plan->job_limits = read_job_limits(base::current_environment());
    return govern(*options, *plan);
}

}  // namespace

void run_build(const std::vector<std::string>& arguments) {
    const int status = run_to_wait_status(arguments);
    std::fflush(nullptr);
    exit_like(status);
}

std::string Options::get(const std::string& name, const std::string& otherwise) const {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
}

base::Result<Options> parse_options(const std::vector<std::string>& arguments,
                                    const std::vector<OptionRow>& table) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& argument = arguments[i];
        if (argument == "--") {
            options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
            return options;
        }
        if (!argument.starts_with("--")) {
            options.positional.push_back(argument);
            continue;
        }
        const auto equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const auto row = std::find_if(table.begin(), table.end(),
                                      [&](const OptionRow& each) { return name == each.name; });
        if (row == table.end()) {
            std::vector<std::string> names;
            for (const auto& each : table)
                names.emplace_back(each.name);
            const auto near = base::nearest(name, names);
            return base::fail("governor.option", "Unknown option", name,
                              near ? "did you mean " + *near + "?" : "see --help");
        }
        if (row->value == nullptr) {
            if (equals != std::string::npos) {
                return base::fail("governor.option", "This option takes no value", argument, "see --help");
            }
            options.values[name] = "yes";
        } else if (equals != std::string::npos) {
            options.values[name] = argument.substr(equals + 1);
        } else if (i + 1 < arguments.size() && arguments[i + 1] != "--") {
            options.values[name] = arguments[++i];
        } else {
            return base::fail("governor.option", "This option needs a value", name, row->value);
        }
    }
    return options;
}

std::string render_options(const std::vector<OptionRow>& table) {
    std::string text;
    for (const auto& row : table) {
        std::string left = "  " + std::string(row.name) + (row.value ? " " + std::string(row.value) : "");
        left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
        text += left + row.help + "\n";
    }
    return base::wrap_help(text);
}

}  // namespace wheelyard::governor
