#include "indexer/web/shown_report.hpp"

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::indexer {

namespace {

constexpr std::string_view first_line = "wheelyard.shown/1";
constexpr std::size_t digest_digits = 16;

// Parts are told apart, whatever they contain.
void add_part(std::string& text, std::string_view part) {
    text.append(std::to_string(part.size())).append(" ").append(part);
}

std::string digest_of(const std::string& text) {
    return base::sha256_hex(text).substr(0, digest_digits);
}

std::string nodes_text(const std::vector<ReportedNode>& nodes) {
    std::string text;
    for (const ReportedNode& node : nodes) {
        add_part(text, node.name());
        add_part(text, node.accelerator);
        add_part(text, avail_wheels::node_to_json(node.node).render());
        add_part(text, base::join(node.job, "\n"));
        add_part(text, node.submit);
        for (const ReportedSetup& setup : node.setups) {
            add_part(text, setup.python);
            add_part(text, setup.program);
            add_part(text, base::join(setup.lines, "\n"));
        }
    }
    return text;
}

std::string cells_text(const std::vector<ReportedBuild>& cells) {
    std::string text;
    for (const ReportedBuild& cell : cells) {
        for (const std::string* part : {&cell.site, &cell.version, &cell.python, &cell.accelerator,
                                        &cell.purpose, &cell.state, &cell.reason, &cell.id})
            add_part(text, *part);
    }
    return text;
}

}  // namespace

ShownReport shown_of(const FarmReport& report) {
    ShownReport shown{.nodes = digest_of(nodes_text(report.nodes)), .left = std::nullopt, .projects = {}};
    for (const auto& [package, cells] : report.cells)
        shown.projects[package] = digest_of(cells_text(cells));
    return shown;
}

std::string render_shown_report(const ShownReport& shown) {
    std::string text(first_line);
    text.append("\nnodes ").append(shown.nodes).append("\n");
    if (shown.left) text.append("left ").append(*shown.left).append("\n");
    for (const auto& [project, digest] : shown.projects)
        text.append("project ").append(digest).append(" ").append(project).append("\n");
    return text;
}

ShownReport parse_shown_report(std::string_view text) {
    ShownReport shown;
    const auto lines = base::split(text, '\n');
    if (lines.empty() || lines.front() != first_line) return shown;
    for (const std::string_view line : lines) {
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const std::string_view word = line.substr(0, space);
        const std::string_view rest = line.substr(space + 1);
        if (word == "nodes") shown.nodes = rest;
        if (word == "left") shown.left = rest;
        if (word == "project" && rest.size() > digest_digits)
            shown.projects[std::string(rest.substr(digest_digits + 1))] = rest.substr(0, digest_digits);
    }
    return shown;
}

}  // namespace wheelyard::indexer
