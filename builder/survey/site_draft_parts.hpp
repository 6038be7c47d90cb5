// The parts of a draft of site.toml: its lines, and the tables that describe GPUs and node types. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/survey/site_draft.hpp"

namespace wheelyard::builder {

// Text of the machine stays on its line, whatever it contains.
struct DraftText {
    SiteDraft draft;

    void line(const std::string& text);     // as it is
    void table(const std::string& header);  // after an empty line
    void note(const std::string& text);     // a comment
    void set(const std::string& key, const std::string& value,
             const std::string& why = "");  // `value` is TOML
    void fill_in(const std::string& text);
    // The modules with this role, and whether the one that was tried loads.
    void note_choices(const Survey& survey, ModuleRole role, const std::string& what);
};

[[nodiscard]] std::string toml_text(std::string_view text);  // a basic string
[[nodiscard]] std::string toml_list(const std::vector<std::string>& texts);

// The module with this role that was tried and loads; nullptr: none.
[[nodiscard]] const LoadedModule* loadable(const Survey& survey, ModuleRole role);

void write_accelerators(const Survey& survey, DraftText& text);
// The names of the node types that the draft has, in the order of `survey.batch.nodes`; empty: it leaves this
// one out.
[[nodiscard]] std::vector<std::string> node_names(const Survey& survey);
void write_nodes(const Survey& survey, DraftText& text);

}  // namespace wheelyard::builder
