// Queries run in the Python that builds, in an environment with the packages installed so far.
#include "builder/script/script_requirements.hpp"

#include <algorithm>
#include <vector>

#include "builder/script/script_frame.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

extern const std::string_view ask_back_end;
// A Python of its own, because importing pip before setuptools changes what setuptools does.
extern const std::string_view check_requirements;
extern const std::string_view needs;

}  // namespace templates

namespace {

using base::quote_shell;

// A Python list of strings.
std::string render_list(const std::vector<std::string>& items) {
    std::vector<std::string> quoted;
    for (const auto& item : items) {
        std::string text = base::replace_all(base::replace_all(item, "\\", "\\\\"), "\"", "\\\"");
        text = base::replace_all(text, "\n", "\\n");  // a line of it could end the here-document
        quoted.push_back("\"" + text + "\"");
    }
    return "[" + base::join(quoted, ", ") + "]";
}

}  // namespace

bool asks_back_end(const ScriptInput& input) {
    return input.recipe.front_end != "setup-py" && input.recipe.source != SourceKind::upstream;
}

std::string requirements_command(const ScriptInput& input) {
    // A tree that continues keeps the tools that began it, and files with hashes keep what they name.
    const bool is_locked = input.attempt.asked.closure.has_value();
    if (!input.attempt.job.builds_in.empty() || !input.hashed_files.empty() || is_locked)
        return "pip_install";
    return "pip_install --upgrade --upgrade-strategy eager";
}

std::string render_install(const ScriptInput& input, std::string_view command) {
    const auto& closure = input.attempt.asked.closure;
    if (closure && !closure->lock.empty()) return "";  // it has all of them
    std::string text;
    for (const auto* list : {&input.attempt.source.build_requires, &input.recipe.build_requires}) {
        if (list == &input.attempt.source.build_requires && !asks_back_end(input)) continue;
        for (const auto& requirement : *list)
            text += " " + quote_shell(requirement);
    }
    if (input.recipe.front_end == "build") text += " build";
    if (needs_metadata_step(input) && (text + " ").find(" wheel ") == std::string::npos) text += " wheel";
    if (!input.attempt.asked.against.empty()) text += " " + quote_shell(input.attempt.asked.against);
    const auto& hashed = input.hashed_files;
    for (const auto& file : input.recipe.requirements_files) {
        if (std::find(hashed.begin(), hashed.end(), file) == hashed.end())
            text += " --requirement " + quote_shell(file);
    }
    return text.empty() ? "" : std::string(command) + text + "\n";
}

std::string render_lock(const ScriptInput& input, std::string_view command) {
    const auto& closure = input.attempt.asked.closure;
    if (!closure || closure->lock.empty()) return "";
    std::string text = "# The build environment of its closure, by hash.\nprintf '%s\\n'";
    for (const auto& [filename, digest] : closure->lock) {
        const auto name = wheel::parse_wheel_filename(filename);  // of the index: the plan has read it
        if (name)
            text += " \\\n    " + quote_shell(wheel::normalize_name(name->project) +
                                              "==" + name->version_text + " --hash=" + digest);
    }
    return text + " > \"$folder/lock.txt\"\n" + std::string(command) +
           " --no-deps --require-hashes --requirement \"$folder/lock.txt\"\n";
}

std::string render_asking(const ScriptInput& input) {
    return fill(templates::ask_back_end,
                {{"back_end", input.attempt.source.back_end},
                 {"back_end_path", render_list(input.attempt.source.back_end_path)}}) +
           fill(templates::check_requirements, {{"file", "requires.txt"}});
}

std::string render_needs(const ScriptInput& input) {
    const std::string& against = input.attempt.asked.against;
    const std::string name = against.substr(0, std::min(against.size(), against.find("==")));
    return fill(templates::needs, {{"against", quote_shell(name)},
                                   {"back_end", asks_back_end(input) ? input.attempt.source.back_end : ""},
                                   {"back_end_path", render_list(input.attempt.source.back_end_path)}}) +
           fill(templates::check_requirements, {{"file", "needs.txt"}});
}

}  // namespace wheelyard::builder
