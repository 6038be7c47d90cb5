// Starts the step when nothing shows that it runs, and reads how it ended.
#include "builder/login_step.hpp"

#include "builder/limits.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/file.hpp"
#include "lib/base/process.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view frame = R"sh(#!/bin/bash
# {{what}}
set -u
cd {{folder}} || exit
touch {{name}}.alive
( while sleep 10 && test -e {{name}}.alive; do touch -c {{name}}.alive; done ) &
bash -eu -o pipefail -c {{script}}
echo "$?" > {{name}}.end.aside
kill "$!"
mv {{name}}.end.aside {{name}}.end
rm -f {{name}}.alive
)sh";

std::string last_lines(const fs::path& log) {
    const auto text = base::read_file(log, log_tail_bytes);
    if (!text) return "";
    const auto lines = base::split_lines(*text);
    std::vector<std::string> last;
    for (std::size_t i = lines.size() > 3 ? lines.size() - 3 : 0; i < lines.size(); ++i)
        last.emplace_back(lines[i]);
    return base::join(last, " / ");
}

bool is_alive(const fs::path& marker) {
    std::error_code error;
    const auto touched = fs::last_write_time(marker, error);
    if (error) return false;
    return fs::file_time_type::clock::now() - touched < std::chrono::milliseconds(login_step_silent_ms);
}

}  // namespace

base::Status advance_login_step(const LoginStep& step, base::Clock& clock) {
    const fs::path base_name = step.folder / step.name;
    const fs::path end = base_name.string() + ".end";
    const fs::path log = base_name.string() + ".log";
    const fs::path alive = base_name.string() + ".alive";
    std::error_code error;
    if (!fs::exists(end, error) && !is_alive(alive)) {
        WHEELYARD_TRY(base::make_directories(step.folder));
        std::string text = base::replace_all(frame, "{{what}}", base::replace_all(step.what, "\n", " "));
        text = base::replace_all(text, "{{folder}}", base::quote_shell(step.folder.string()));
        text = base::replace_all(text, "{{name}}", step.name);
        text = base::replace_all(text, "{{script}}", base::quote_shell(step.script));
        const fs::path file = base_name.string() + ".sh";
        WHEELYARD_TRY(base::replace_file(file, text, 0755));
        base::Command command;
        command.argv = {"/bin/bash", file.string()};
        command.environment = step.environment;
        WHEELYARD_TRY(base::replace_file(alive, ""));
        WHEELYARD_TRY(base::start_detached(command, log));
    }
    // Most take a moment only.
    for (int look = 0; look < login_step_looks && !fs::exists(end, error); ++look)
        clock.sleep_ms(login_step_look_ms);
    if (!fs::exists(end, error))
        return base::fail("source.fetching", "On the login node: " + step.what, log.string());
    WHEELYARD_ASSIGN(const auto code, base::read_file(end, largest_record_bytes));
    if (base::trim(code) == "0") return {};
    WHEELYARD_TRY(base::remove_file(end));
    return base::fail("source.step", "A step on the login node failed: " + step.what + ": " + last_lines(log),
                      log.string(), "read its log; the next tick tries again");
}

}  // namespace wheelyard::builder
