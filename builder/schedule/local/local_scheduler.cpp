// Detached processes, identified by host, boot, pid and start time.
#include "builder/schedule/local/local_scheduler.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

namespace fs = std::filesystem;

std::string boot_id() {
    const auto text = base::read_file("/proc/sys/kernel/random/boot_id", 4096);
    return text ? std::string(base::trim(*text)) : "";
}

// The session of a process (field 6 of /proc/PID/stat, proc(5)); 0 if the process does not exist. The command
// name in parentheses may contain anything, so fields are counted from the last ')'.
std::int64_t session_of(const fs::path& process) {
    const auto text = base::read_file(process / "stat", 64 * base::kib);
    if (!text) return 0;
    const auto end = text->rfind(')');
    if (end == std::string::npos) return 0;
    const auto fields = base::split(std::string_view(*text).substr(end + 2), ' ');
    return fields.size() < 4 ? 0 : static_cast<std::int64_t>(base::parse_decimal(fields[3]).value_or(0));
}

std::vector<std::int64_t> processes_of_session(std::int64_t session) {
    std::vector<std::int64_t> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const auto pid = base::parse_decimal(entry.path().filename().string());
        if (pid && session_of(entry.path()) == session) found.push_back(static_cast<std::int64_t>(*pid));
    }
    return found;
}

bool is_alive(const Owner& owner) {
    return base::process_start_time(owner.pid) == owner.start;
}

// Sends signal `number` to every process of the job's session; does nothing if the session may not be the
// job's.
base::Status signal_session(const AttemptFolder& folder, int number) {
    const auto text = base::read_untrusted_file(folder.owner(), max_record_bytes);
    if (!text) return {};
    WHEELYARD_ASSIGN(const auto owner, parse_owner(*text));
    if (owner.host != base::host_name() || owner.boot != boot_id() || owner.pid <= 1) return {};
    // If the session's leader is alive, the session is the job's. Otherwise its id cannot belong to a new
    // session while an old member is alive (POSIX: a process id is not reused while a process group with that
    // id exists).
    const std::uint64_t leader = base::process_start_time(owner.pid);
    if (leader != 0 && leader != owner.start) return {};
    for (const auto pid : processes_of_session(owner.pid))
        ::kill(static_cast<pid_t>(pid), number);
    return {};
}

}  // namespace

std::int64_t uptime_us() {
    struct timespec time {};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return static_cast<std::int64_t>(time.tv_sec) * base::second_us + time.tv_nsec / 1000;
}

base::Status LocalScheduler::submit(const JobRequest& job) {
    base::Command command;
    command.argv = {"/bin/bash", job.folder.script().string()};
    command.environment = job.environment;
    command.directory = job.folder.root;
    WHEELYARD_ASSIGN([[maybe_unused]] const auto pid, base::start_reaped(command, job.folder.log()));
    return {};
}

JobView LocalScheduler::look(const AttemptFolder& folder) const {
    struct stat claim {};
    if (::stat(folder.claim().c_str(), &claim) != 0) {
        return errno == ENOENT ? JobView{JobState::unclaimed, ""}
                               : JobView{JobState::unknown, "the attempt's folder cannot be read"};
    }
    const auto text = base::read_untrusted_file(folder.owner(), max_record_bytes);
    if (!text) {
        // The script writes the owner file right after mkdir; without one after claim_grace_ms, the script
        // died.
        const std::int64_t age_ms = clock_.now() / 1000 - static_cast<std::int64_t>(claim.st_mtime) * 1000;
        if (text.error().os_error == ENOENT && age_ms > claim_grace_ms) {
            return {JobState::vanished, "the job was killed while it started"};
        }
        return {JobState::unknown, "the job is starting"};
    }
    const auto owner = parse_owner(*text);
    if (!owner) return {JobState::unknown, "the job's claim cannot be read: " + owner.error().sentence};
    const std::string detail = "pid " + std::to_string(owner->pid) + " on " + owner->host;
    if (owner->host != base::host_name())
        return {JobState::unknown, detail + "; its state is visible only on that host"};
    if (owner->boot != boot_id())
        return {JobState::vanished, detail + ", before the last restart of the machine",
                JobEnd{EndCause::node_failure}};
    if (!is_alive(*owner)) return {JobState::vanished, detail};
    JobView view{JobState::running, detail};
    // proc_pid_stat(5): the start is in clock ticks since the machine's.
    view.ran_us =
        uptime_() - static_cast<std::int64_t>(owner->start) * base::second_us / ::sysconf(_SC_CLK_TCK);
    return view;
}

std::map<std::string, JobView> LocalScheduler::poll(const std::map<std::string, AttemptFolder>& attempts) {
    std::map<std::string, JobView> views;
    for (const auto& [attempt, folder] : attempts)
        views.emplace(attempt, look(folder));
    return views;
}

base::Status LocalScheduler::ask_to_end(const std::string&, const AttemptFolder& folder) {
    return signal_session(folder, SIGTERM);
}

base::Status LocalScheduler::cancel(const std::string&, const AttemptFolder& folder) {
    return signal_session(folder, SIGKILL);
}

// The row of jobs that are processes of this machine.
namespace {

std::unique_ptr<Scheduler> make(const QueueSettings& /*settings*/, const EnvironmentMap& /*agent*/,
                                const base::Clock& clock) {
    return std::make_unique<LocalScheduler>(clock);
}

}  // namespace

extern constinit const SchedulerKind local_kind = {
    .name = "local",
    .a_job_is = "a detached process of this machine",
    .programs = "none",
    .make = make,
};

}  // namespace wheelyard::builder
