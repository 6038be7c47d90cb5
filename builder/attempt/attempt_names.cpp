#include "builder/attempt/attempt_names.hpp"

#include <algorithm>
#include <set>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

// A project has several spellings, and cells have one (PEP 503).
std::string one_spelling(const std::string& name) {
    std::string text = base::ascii_lower(name);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '_' || c == '.'; }, '-');
    return text;
}

// "torch-2.14.0+cu130-cp312" → "torch-2.14.0-cp312": a label has no hyphen (PEP 440).
std::string without_the_label(std::string cell) {
    const auto plus = cell.find('+');
    if (plus != std::string::npos) cell.erase(plus, cell.find('-', plus) - plus);
    return cell;
}

}  // namespace

base::Result<std::string> complete_name(const std::string& name, const std::vector<Attempt>& attempts,
                                        const std::function<bool(const Attempt&)>& counts,
                                        const std::vector<std::string>& planned) {
    std::set<std::string> cells;
    std::set<std::string> ids;
    const std::string part = one_spelling(name);
    const auto add_if_meant = [&part](std::set<std::string>& to, const std::string& whole) {
        const std::string all = one_spelling(whole);
        if (!part.empty() && (all.find(part) != std::string::npos ||
                              one_spelling(without_the_label(whole)).find(part) != std::string::npos))
            to.insert(whole);
    };
    for (const auto& cell : planned) {
        if (cell == name) return name;
        add_if_meant(cells, cell);
    }
    for (const auto& attempt : attempts) {
        if (attempt.asked.cell == name || attempt.id == name) return name;
        if (!counts(attempt)) continue;
        add_if_meant(cells, attempt.asked.cell);
        add_if_meant(ids, attempt.id);
    }
    // "torch" is a project, and not a part of "torchvision" or of "torchvision-for-torch-2.14.0-cp312".
    std::set<std::string> of_project;
    for (const auto& cell : cells) {
        const std::string whole = one_spelling(cell);
        const bool is_of_it = whole.starts_with(part + "-") && whole.size() > part.size() + 1 &&
                              base::is_ascii_digit(whole[part.size() + 1]);
        if (is_of_it || one_spelling(without_the_label(cell)) == part) of_project.insert(cell);
    }
    if (!of_project.empty()) cells = std::move(of_project);
    const auto& found = cells.empty() ? ids : cells;
    if (found.empty()) return name;
    if (found.size() == 1) return *found.begin();
    constexpr std::size_t max_named = 8;
    std::vector<std::string> named(found.begin(), found.end());
    const std::string more = named.size() > max_named ? ", …" : "";
    if (named.size() > max_named) named.resize(max_named);
    return base::fail("name.ambiguous", "Several cells have this in their name", name,
                      "give one of " + base::join(named, ", ") + more);
}

}  // namespace wheelyard::builder
