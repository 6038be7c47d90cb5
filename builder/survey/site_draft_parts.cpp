#include "builder/survey/site_draft_parts.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder {
namespace {

const LoadedModule* tried(const Survey& survey, ModuleRole role) {
    const auto found = std::find_if(survey.modules.tried.begin(), survey.modules.tried.end(),
                                    [&](const LoadedModule& one) { return one.role == role; });
    return found == survey.modules.tried.end() ? nullptr : &*found;
}
}  // namespace

std::string toml_text(std::string_view text) {
    const std::string out = base::replace_all(base::printable_line(text), "\\", "\\\\");
    return "\"" + base::replace_all(out, "\"", "\\\"") + "\"";
}

std::string toml_list(const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    for (const auto& text : texts)
        all.push_back(toml_text(text));
    return "[" + base::join(all, ", ") + "]";
}

void DraftText::line(const std::string& text) {
    draft.text += text + "\n";
}

void DraftText::table(const std::string& header) {
    line("\n" + header);
}

void DraftText::note(const std::string& text) {
    line("# " + base::printable_line(text));
}

void DraftText::set(const std::string& key, const std::string& value, const std::string& why) {
    line(key + " = " + value + (why.empty() ? "" : "  # " + base::printable_line(why)));
}

void DraftText::fill_in(const std::string& text) {
    note("FILL IN: " + text);
    draft.fill_in.push_back(text);
}

const LoadedModule* loadable(const Survey& survey, ModuleRole role) {
    const LoadedModule* found = tried(survey, role);
    return found != nullptr && found->loads ? found : nullptr;
}

void DraftText::note_choices(const Survey& survey, ModuleRole role, const std::string& what) {
    std::vector<std::string> names;
    for (const auto& module : modules_of(role, survey.modules.available))
        names.push_back(module.full_name());
    if (!names.empty()) note("found: " + what + " " + some_of(names));
    const LoadedModule* one = tried(survey, role);
    if (one != nullptr && !one->loads)
        note(one->module.full_name() + " did not load: it may need another module first");
}

}  // namespace wheelyard::builder
