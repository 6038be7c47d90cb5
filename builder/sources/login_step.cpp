// Starts the step unless it is running, and reads its exit status.
#include "builder/sources/login_step.hpp"

#include <chrono>
#include <cstdint>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/job_end.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/doctor/doctor.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

// `timeout` leads its own process group, which contains all processes that the step starts.
extern const std::string_view login_step;

}  // namespace templates

namespace {

// A step on the login node is dead if it has not touched its marker for this long. It does so every 10 s.
constexpr std::int64_t login_step_silent_ms = 120'000;

constexpr std::int64_t login_step_check_pause_ms = 100;
constexpr std::uint64_t max_step_script_bytes = 4 * base::mib;

namespace fs = std::filesystem;

constexpr std::string_view time_is_over = "124";  // exit status of timeout(1)

struct StepFiles {
    explicit StepFiles(const fs::path& folder, std::string_view name)
        : base((folder / std::string(name)).string()) {}
    std::string base;
    [[nodiscard]] fs::path script() const { return base + ".sh"; }
    [[nodiscard]] fs::path log() const { return base + ".log"; }
    [[nodiscard]] fs::path log_before() const { return base + ".log.before"; }
    [[nodiscard]] fs::path alive() const { return base + ".alive"; }
    [[nodiscard]] fs::path now() const { return base + ".now"; }
    [[nodiscard]] fs::path starts() const { return base + ".starts"; }
    [[nodiscard]] fs::path end() const { return base + ".end"; }
};

// Compares file system times, because this node's clock may differ. The write comes first: it makes a network
// file system refresh its view of the folder, which another node may have changed.
base::Result<bool> is_alive(const StepFiles& files) {
    std::error_code error;
    WHEELYARD_TRY(base::make_directories(files.now().parent_path()));
    WHEELYARD_TRY(base::replace_file(files.now(), ""));
    const auto touched = fs::last_write_time(files.alive(), error);
    if (error) return false;
    const auto now = fs::last_write_time(files.now(), error);
    if (error) return base::fail_errno("reading the file system's time", files.now().native(), error.value());
    const auto silent = now > touched ? now - touched : touched - now;
    return silent < std::chrono::milliseconds(login_step_silent_ms);
}

// The error may pass if the step's log blames the machine or the network.
tl::unexpected<base::Error> fail_step(const LoginStep& step, base::Error error) {
    const auto seen = examine_log(error.value, *step.rules);
    const DoctorRule* rule = seen && seen->likeliest() != nullptr ? seen->likeliest()->rule : nullptr;
    const bool may_pass =
        rule != nullptr && (rule->weight == Weight::machine || rule->automatic == Automatic::again ||
                            rule->automatic == Automatic::wait);
    return base::fail_as(base::ErrorKind::program, may_pass ? base::Recovery::retry : base::Recovery::never,
                         std::move(error));
}

std::string script_of(const LoginStep& step) {
    std::string text =
        base::replace_all(templates::login_step, "{{what}}", base::replace_all(step.what, "\n", " "));
    text = base::replace_all(text, "{{folder}}", base::quote_shell(step.folder.string()));
    text = base::replace_all(text, "{{name}}", step.name);
    text = base::replace_all(text, "{{max_s}}", std::to_string(step.max_s));
    text = base::replace_all(text, "{{touch_s}}", std::to_string(step.touch_s));
    text = base::replace_all(text, "{{time_is_over}}", time_is_over);
    return base::replace_all(text, "{{script}}", base::quote_shell(step.script));
}

// Says whether the script that began the step is no longer the wanted one.
bool has_changed(const LoginStep& step, const StepFiles& files) {
    const auto begun = base::read_untrusted_file(files.script(), max_step_script_bytes);
    return begun && *begun != script_of(step);
}

base::Status start(const LoginStep& step, const StepFiles& files) {
    WHEELYARD_TRY(base::make_directories(step.folder));
    std::uint64_t starts = 0;
    if (const auto text = base::read_untrusted_file(files.starts(), max_record_bytes))
        starts = base::parse_decimal(base::trim(*text)).value_or(0);
    if (starts >= max_login_starts) {
        WHEELYARD_TRY(base::remove_file(files.starts()));
        return fail_step(step,
                         {"source.step",
                          "A step on the login node began " + std::to_string(starts) +
                              " times and never recorded its end: " + step.what,
                          files.log().string(),
                          "does something there end what a session leaves behind, or what takes long? In a "
                          "batch job of its own `wheelyard-builder tick --stay` waits for it"});
    }
    WHEELYARD_TRY(base::replace_file(files.starts(), std::to_string(starts + 1) + "\n"));
    WHEELYARD_TRY(base::replace_file(files.script(), script_of(step), 0755));
    std::error_code ignored;  // there may be no previous log
    fs::rename(files.log(), files.log_before(), ignored);
    base::Command command;
    command.argv = {"/bin/bash", files.script().string()};
    command.environment = step.environment;
    WHEELYARD_TRY(base::replace_file(files.alive(), ""));
    WHEELYARD_TRY(base::start_reaped(command, files.log()));
    return {};
}

// The exit status as text. What else the step's script put there is a failure of the step.
base::Result<std::string> read_end(const StepFiles& files) {
    auto code = base::read_untrusted_file(files.end(), max_record_bytes);
    std::error_code error;
    const bool is_regular = fs::is_regular_file(fs::symlink_status(files.end(), error));
    if (!code && !error && !is_regular) return std::string("no exit status");
    return code;
}

}  // namespace

base::Status advance_login_step(const LoginStep& step, base::Clock& clock) {
    const StepFiles files(step.folder, step.name);
    std::error_code error;
    int checks = 1;
    if (step.follows_script && fs::exists(files.end(), error) && has_changed(step, files))
        WHEELYARD_TRY(base::remove_tree(files.end()));
    if (!fs::exists(files.end(), error)) {
        WHEELYARD_ASSIGN(const bool alive, is_alive(files));
        if (!alive && !fs::exists(files.end(), error)) {
            WHEELYARD_TRY(start(step, files));
            checks = step.checks;
        }
    }
    for (int check = 1; check < checks && !fs::exists(files.end(), error); ++check)
        clock.sleep_ms(login_step_check_pause_ms);
    if (!fs::exists(files.end(), error))
        return base::fail_as(base::ErrorKind::in_progress, base::Recovery::retry,
                             {"source.fetching", "On the login node: " + step.what, files.log().string()});
    WHEELYARD_ASSIGN(const auto code, read_end(files));
    // Removed here, not by the step: a late step could remove its successor's file.
    WHEELYARD_TRY(base::remove_file(files.alive()));
    if (base::trim(code) == "0") return {};
    WHEELYARD_TRY(base::remove_tree(files.starts()));
    WHEELYARD_TRY(base::remove_tree(files.end()));
    if (base::trim(code) == time_is_over) {
        return fail_step(step, {"source.step_time",
                                "A step on the login node exceeded its limit of " +
                                    base::render_duration_ms(step.max_s * 1000) + ": " + step.what,
                                files.log().string(), "raise `network.login_minutes` in site.toml"});
    }
    if (base::trim(code) == std::to_string(over_limit_exit_code)) {
        const EndRow& end = end_row(EndCause::over_limit);
        return base::fail(std::string(end.code),
                          std::string(end.sentence) + ": " + read_over_limit(files.log()),
                          files.log().string(), std::string(end.advice));
    }
    return fail_step(step, {"source.step",
                            "A step on the login node failed: " + step.what + ": " +
                                last_words(read_log_tail(files.log())),
                            files.log().string(), "read its log"});
}

void call_off_login_step(const fs::path& folder, std::string_view name) {
    std::error_code ignored;  // a missing marker means that there is nothing to cancel
    fs::remove(StepFiles(folder, name).alive(), ignored);
}

}  // namespace wheelyard::builder
