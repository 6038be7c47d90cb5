// A fast farm without a network. Fake: a Python whose venv and pip are twenty lines of bash, a project with one
// wheel, a registry in a folder. Real: journal, script, bash, claim, exit record, inspection.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "builder/agent/agent.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/schedule/local/local_scheduler.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "tests/support/wheel_writer.hpp"

namespace wheelyard::builder::testing {

namespace fs = std::filesystem;

inline void must(const base::Status& status) {
    REQUIRE_MESSAGE(status.has_value(), status.error().text());
}
inline void write(const fs::path& file, std::string_view text, mode_t mode = 0644) {
    must(base::make_directories(file.parent_path()));
    must(base::replace_file(file, text, mode));
}
inline std::string read(const fs::path& file) {
    auto text = base::read_file(file, 16 * base::mib);
    REQUIRE_MESSAGE(text.has_value(), text.error().text());
    return *text;
}

// The same error as the HTTP client's.
inline tl::unexpected<base::Error> unreachable() {
    return base::fail_as(base::ErrorKind::unreachable, base::Recovery::retry,
                         {"http.connect", "The registry is down"});
}

// Counts each build in the file `count`, and prints the text of `warns`. Fails while `break` exists, and once with the text of `says`. While the
// fifo `gate` exists, waits for its reader.
constexpr std::string_view fake_python = R"sh(#!/bin/bash
set -eu
farm={{farm}}
test "$1" != -I || shift
case "$1 ${2-} ${3-}" in
"-m venv "*) mkdir -p "${!#}"/{bin,lib/python3/site-packages/pip}; cp "$0" "${!#}/bin/python" ;;
"-m pip install") echo "${PIP_CONFIG_FILE-none}" >> "$farm/pip_saw"; echo "$*" >> "$farm/installed" ;;
"-m pip wheel")
    if test "${4-}" = --only-binary; then echo "$*" >> "$farm/fetched"; exit; fi
    echo "$PWD" >> "$farm/count"
    env > "$farm/build_saw"
    if test -e "$farm/deaf"; then trap "" TERM; fi
    if test -p "$farm/gate"; then echo waiting > "$farm/gate"; fi
    echo "[1/2] compiling"
    if test -e "$farm/says"; then cat "$farm/says"; rm "$farm/says"; exit 1; fi
    if test -e "$farm/warns"; then cat "$farm/warns"; fi
    if test -e "$farm/break"; then echo "x.c:1:1: error: it is broken"; exit 1; fi
    while test "$1" != --wheel-dir; do shift; done
    mkdir -p "$2"
    cp "$farm"/prebuilt/*.whl "$2"
    ;;
"-c "*) ;;
"- "*)
    cat > /dev/null
    last=${!#}
    case $last in --build-number=*) for wheel in "$2"/*.whl; do mv "$wheel" "${wheel/-py3/-${last#*=}-py3}"; done ;; esac
    ;;
*) echo "fake python: what is $*" >&2; exit 9 ;;
esac
)sh";

// Stands in for `wheelyard-governor bound`: runs the command, without limits.
constexpr std::string_view fake_bound = R"sh(#!/bin/bash
while test "$1" != --; do shift; done
shift
exec "$@"
)sh";

// A registry in a folder: survives a killed agent. Its members make it refuse uploads or be unreachable.
class FolderRegistry final : public Registry {
  public:
    explicit FolderRegistry(fs::path folder, std::string index = "test")
        : folder_(std::move(folder)), index_(std::move(index)) {
        must(base::make_directories(folder_));
        must(base::make_directories(promoted_folder()));
    }
    [[nodiscard]] std::string index() const override { return index_; }
    base::Result<std::optional<simple::ProjectPage>> page(const std::string& project) override {
        if (asked) asked();
        if (down) return unreachable();
        simple::ProjectPage page;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            const std::string name = entry.path().filename().string();
            if (!name.starts_with(project + "-") || !name.ends_with(".whl")) continue;
            page.files.push_back(link_of(name));
        }
        if (page.files.empty()) return std::optional<simple::ProjectPage>();
        return std::optional(std::move(page));
    }
    base::Result<std::optional<simple::ProjectPage>> promoted_page(const std::string& project) override {
        if (down) return unreachable();
        simple::ProjectPage page;
        for (const auto& filename : promoted()) {
            if (filename.starts_with(project + "-")) page.files.push_back(link_of(filename));
        }
        if (page.files.empty()) return std::optional<simple::ProjectPage>();
        return std::optional(std::move(page));
    }
    base::Status download(const simple::FileLink& link, const fs::path& file,
                          const io::HttpProgress&) override {
        if (down) return unreachable();
        WHEELYARD_ASSIGN(const auto bytes, base::read_file(folder_ / link.filename, base::mib));
        return base::replace_file(file, bytes);
    }
    Access access(const std::vector<std::string>& packages) override {
        asked_uploads = packages;
        return {refused, store};
    }
    base::Status promote(const std::vector<std::string>& filenames) override {
        ++promotions;
        if (down) return unreachable();
        if (!promote_refusal.empty()) return base::fail("upload.refused", promote_refusal);
        for (const auto& filename : filenames)
            WHEELYARD_TRY(base::replace_file(promoted_folder() / filename, ""));
        return {};
    }
    base::Status upload(const WheelToUpload& wheel, const io::HttpProgress&) override {
        ++uploads;
        provenance = wheel.provenance;
        if (down) return unreachable();
        if (upload_fails)
            return base::fail_as(*upload_fails, base::Recovery::retry, {"test.upload", "The upload failed"});
        if (busy)
            return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry,
                                 {"upload.unavailable", "The registry is busy"});
        if (unauthorised)
            return base::fail_as(base::ErrorKind::unauthorized, base::Recovery::person,
                                 {"upload.not_allowed", "The token is expired"});
        if (!refusal.empty()) return base::fail("upload.refused", refusal);
        if (forgets) return {};
        WHEELYARD_ASSIGN(const auto bytes, base::read_file(wheel.file, base::mib));
        return base::replace_file(folder_ / wheel.file.filename(), bytes);
    }
    [[nodiscard]] bool has(const std::string& filename) const { return fs::exists(folder_ / filename); }
    bool down = false;
    std::function<void()> asked = {};  // called during a request
    std::string provenance = {};       // of the last upload
    bool unauthorised = false;         // refuses the token
    bool busy = false;                 // refuses uploads for now
    bool forgets = false;              // accepts a wheel, but does not show it
    std::optional<base::ErrorKind> upload_fails = {};
    std::string refusal;
    RefusedUploads refused;                  // before an upload is tried
    std::optional<std::string> store;        // its ID, as the answer says it
    std::vector<std::string> asked_uploads;  // of the last question about them
    int uploads = 0;
    [[nodiscard]] std::set<std::string> promoted() const {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(promoted_folder()))
            names.insert(entry.path().filename().string());
        return names;
    }
    std::string promote_refusal;
    int promotions = 0;

  private:
    [[nodiscard]] fs::path promoted_folder() const { return folder_.string() + ".promoted"; }
    [[nodiscard]] simple::FileLink link_of(const std::string& filename) const {
        simple::FileLink file;
        file.filename = filename;
        file.url = "http://127.0.0.1:1/test/files/" + filename;
        file.sha256 = *base::sha256_hex_of_file(folder_ / filename);
        return file;
    }
    fs::path folder_;
    std::string index_;
};

// Runs each job to its end inside submit(), so that tests need not wait. The local scheduler does the rest.
class PromptScheduler final : public Scheduler {
  public:
    explicit PromptScheduler(const base::Clock& clock) : local_(clock) {}
    base::Status submit(const JobRequest& job) override {
        base::Command command;
        command.argv = {"/bin/bash", "-c", "exec /bin/bash \"$0\" > \"$1\" 2>&1",
                        job.folder.script().string(), job.folder.log().string()};
        command.environment = job.environment;
        command.timeout_ms = 0;  // on a busy machine a job may take minutes
        WHEELYARD_ASSIGN([[maybe_unused]] const auto finished, base::run_command(command));
        return {};
    }
    std::map<std::string, JobView> poll(const std::map<std::string, AttemptFolder>& attempts) override {
        return local_.poll(attempts);
    }
    base::Status cancel(const std::string& attempt, const AttemptFolder& folder) override {
        return local_.cancel(attempt, folder);
    }

  private:
    LocalScheduler local_;
};

inline test_support::WheelWriter demo_wheel(const std::string& version = "1.0") {
    test_support::WheelWriter wheel("demo", version);
    wheel.add("demo.py", "answer = 42\n").tag("py3-none-any");
    return wheel;
}

// A site with its services, for any number of agents.
struct Farm {
    base::TempDir folder = *base::TempDir::make("farm");
    Site site;
    Recipes recipes;
    Pythons pythons;
    base::ManualClock clock{1'790'000'000'000'000};
    FolderRegistry registry{folder.path() / "index"};
    io::HttpClient http;
    simple::PipConfig pip;
    std::optional<Sources> sources;
    std::optional<Journal> journal;
    PromptScheduler prompt{clock};
    std::int64_t slept_us = 0;  // by ticks: `clock` may also be set
    LocalScheduler local{clock, [this] { return uptime_us() + slept_us; }};
    Scheduler* scheduler = &prompt;
    base::Clock* agents_clock = &clock;
    std::vector<std::string> notes;
    fs::path governor;  // empty: no governor, to be fast

    Farm() {
        const fs::path root = folder.path();
        site.name = "test";
        site.registry = RegistrySettings{"http://127.0.0.1:1", "test", root / "token"};
        site.state_directory = root / "state";
        site.work_directory = root / "work";
        site.pythons = {{"3.11", (root / "python").string()}};
        site.wants = {{"demo", {"1.0"}, {"3.11"}}};
        write(root / "python", base::replace_all(fake_python, "{{farm}}", base::quote_shell(root.string())),
              0755);
        write(root / "project" / "setup.py", "");
        offer_wheel(demo_wheel());
        Recipe recipe = default_recipe("demo");
        recipe.source = SourceKind::path;
        recipe.path = root / "project";
        recipe.file = root / "demo.toml";
        recipes.add(recipe);
        add_python("3.11", 11);
        pip.values["no-index"] = {"1", "test"};
        sources.emplace(http, site.work_directory, pip,
                        []() -> base::Result<std::string> { return base::fail("test", "no index here"); });
        journal.emplace(site.state_directory);
        must(journal->prepare());
    }

    // Sets the wheel that the next builds produce.
    void offer_wheel(const test_support::WheelWriter& wheel) const {
        fs::remove_all(folder.path() / "prebuilt");
        write(folder.path() / "prebuilt" / wheel.filename(), wheel.bytes());
    }
    void add_python(const std::string& version, int minor) {
        Python python;
        python.version = version;
        python.executable = folder.path() / "python";
        python.full_version = version + ".1";
        python.environment.python_minor = minor;
        python.tags = wheel::supported_tags(python.environment);
        pythons.emplace(version, python);
    }
    AgentParts parts(const std::string& failpoint = {}) {
        return {{site,
                 recipes,
                 pythons,
                 *scheduler,
                 *sources,
                 site.registry ? &registry : nullptr,
                 nullptr,
                 *agents_clock,
                 base::current_environment(),
                 governor,
                 simple::render_pip_conf(pip, {}),
                 [this](const Attempt&, const std::string& text) { notes.push_back(text); },
                 {},
                 Failpoints(failpoint)},
                *journal};
    }
    TickReport tick() {
        Agent agent(parts());
        auto report = agent.tick();
        REQUIRE_MESSAGE(report.has_value(), report.error().text());
        clock.sleep_ms(max_wait_ms * 2);  // longer than every wait, so the next tick tries again
        slept_us += max_wait_ms * 2 * 1000;
        return std::move(*report);
    }
    // Ticks until nothing is active or wanted; limited.
    TickReport settle() {
        for (int count = 0; count < 40; ++count) {
            TickReport report = tick();
            if (report.active.empty() &&
                report.plan.count(CellState::wanted) + report.plan.count(CellState::held) == 0) {
                return report;
            }
        }
        FAIL("the farm does not settle");
        return {};
    }
    [[nodiscard]] std::vector<Attempt> attempts() const { return journal->read()->attempts; }
    // The number of builds that ran.
    [[nodiscard]] std::size_t builds() const {
        const auto text = base::read_file(folder.path() / "count", base::mib);
        return text ? base::split_lines(*text).size() : 0;
    }
};

// Runs one tick in a child process, which a failpoint of `parts` may kill; returns its exit status.
inline int tick_in_child(Farm& farm, const AgentParts& parts) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        Agent agent(parts);
        const auto report = agent.tick();
        ::_exit(report ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    farm.clock.sleep_ms(max_wait_ms * 2);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
inline int tick_in_child(Farm& farm, const std::string& failpoint) {
    return tick_in_child(farm, farm.parts(failpoint));
}

}  // namespace wheelyard::builder::testing
