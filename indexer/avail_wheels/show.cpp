#include "indexer/avail_wheels/show.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <set>

#include "indexer/avail_wheels/find_wheels.hpp"
#include "indexer/avail_wheels/query/fit.hpp"
#include "indexer/avail_wheels/query/needs.hpp"
#include "indexer/avail_wheels/table/table.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/url.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/simple/client_config.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::avail_wheels {

namespace {

std::string render_raw(const DisplayOptions& display, const Answer& answer) {
    std::string text;
    const auto& columns = display.rows.columns;
    if (std::find(columns.begin(), columns.end(), "modules") != columns.end()) {
        std::set<std::string> modules;
        for (const auto& candidate : answer.wheels) {
            for (auto& module : modules_of(candidate))
                modules.insert(std::move(module));
        }
        for (const auto& module : modules)
            text += module + "\n";
        return text;
    }
    if (!display.rows.not_available_only) {
        for (const auto& candidate : answer.wheels)
            text += candidate.link.filename + "\n";
    }
    if (display.rows.not_available || display.rows.not_available_only) {
        for (const auto& name : answer.not_available)
            text += name + "\n";
    }
    return text;
}

// On a terminal, the two formats without lines fit its width: cells break between words.
std::string wrapped_table(const DisplayOptions& display, const std::vector<std::string>& headers,
                          std::vector<Row> rows, std::size_t columns) {
    const bool can_wrap = display.format == "simple" || display.format == "plain";
    if (columns > 0 && can_wrap) {
        // The table draws a column at least as wide as its header and two more.
        Row heads = headers;
        for (std::string& head : heads)
            head += "--";
        std::vector<Row> headed = rows;
        headed.insert(headed.begin(), std::move(heads));
        headed = base::wrap_cells(headed, columns, 2, display_width);
        std::vector<std::size_t> widths(headers.size());
        for (const Row& row : headed) {
            for (std::size_t at = 0; at < row.size(); ++at)
                widths[at] = std::max(widths[at], display_width(row[at]));
        }
        if (std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1)) > columns &&
            !rows.empty()) {
            rows.insert(rows.begin(), headers);
            return base::stack_rows(rows, columns, display_width);
        }
        headed.erase(headed.begin());
        rows = std::move(headed);
    }
    return render_table(display.format, headers, rows);
}

bool is_plain(const DisplayOptions& display) {
    return display.format == "simple" || display.format == "plain";
}

// The header in bold; stacked rows have none.
std::string with_bold_header(std::string text, const std::vector<std::string>& headers) {
    const auto end = text.find('\n');
    if (text.substr(0, end).find(headers.back()) == std::string::npos) return text;
    return std::string(bold).append(text, 0, end).append(not_bold).append(text, end);
}

}  // namespace

int print_error(std::ostream& err, const base::Error& error) {
    err << "avail_wheels: " << error.text() << '\n';
    return 1;
}

void print_table(const DisplayOptions& display, const std::vector<std::string>& headers,
                 std::vector<Row> rows, const World& world, std::ostream& out) {
    const bool has_colour =
        display.color == Color::always || (display.color == Color::automatic && world.out_is_terminal);
    for (Row& row : rows) {
        for (std::string& cell : row)
            cell = base::printable_line(cell);
    }
    std::string text = wrapped_table(display, headers, std::move(rows), world.out_columns);
    out << (has_colour && is_plain(display) ? with_bold_header(std::move(text), headers) : text);
}

void print_answer(const DisplayOptions& display, const Answer& answer, const World& world,
                  std::ostream& out) {
    if (display.raw)
        out << render_raw(display, answer);
    else if (display.format == "json")
        out << render_document(answer);
    else
        print_table(display, display.rows.columns, make_rows(answer, display.rows), world, out);
}

// The first wheel of each project has the newest listed version.
std::string render_install_line(const SourceOptions& source, const Answer& answer,
                                const std::vector<Wanted>& wanted) {
    std::string line = "pip install";
    if (const auto folder = folder_with_wheel_list(source.wheelhouse); !folder.empty()) {
        line += " --index-url " + base::quote_shell(url_of(folder));
    } else if (!source.find_links.empty()) {
        line += " --no-index";
        for (const auto& links : source.find_links)
            line += " --find-links " + base::quote_shell(links.native());
    } else if (source.wheelhouse.empty()) {
        const auto url = base::parse_url(source.index_url);
        line += " --index-url " + base::quote_shell(url ? url->text_without_secrets() : source.index_url) +
                simple::pip_trust_option(source.index_url);
    } else {
        line += " --no-index --find-links " + base::quote_shell(source.wheelhouse.native());
    }
    const std::string* last = nullptr;
    for (const auto& candidate : answer.wheels) {
        if (last != nullptr && *last == candidate.release->key) continue;
        last = &candidate.release->key;
        const auto asked = std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& one) {
            return !one.asked_extras.empty() && one.pattern == candidate.release->project;
        });
        const std::string extras =
            asked == wanted.end() ? std::string() : "[" + base::join(asked->asked_extras, ",") + "]";
        line += " " + base::quote_shell(candidate.release->name + extras +
                                        "==" + candidate.release->version.text());
    }
    return last == nullptr ? std::string() : line + "\n";
}

void tell_missing(const Query& query, const DisplayOptions& display, const Answer& answer,
                  std::ostream& err) {
    std::set<std::string> asked;
    for (const auto& wanted : query.wanted)
        asked.insert(wanted.name);
    const std::size_t missing = answer.not_available.size();
    const bool shows_them =
        display.rows.not_available || display.rows.not_available_only || display.format == "json";
    if (asked.size() < 2 || missing == 0 || shows_them) return;
    err << "avail_wheels: " << missing << " of " << asked.size() << (missing == 1 ? " has" : " have")
        << " no wheel: " << base::join(answer.not_available, ", ") << '\n';
}

void warn_of_unsure(const Answer& answer, std::ostream& err) {
    const Candidate* first = nullptr;  // of a project: the line names its version
    const Candidate* unsure = nullptr;
    bool runs = false;
    std::string missing;  // of the first that runs: why an installer stops all the same
    const auto tell = [&] {
        if (!missing.empty())
            err << "avail_wheels: warning: " << first->release->name << ' ' << first->release->version.text()
                << ' ' << missing << '\n';
        if (unsure != nullptr && (!runs || unsure->runs == "unknown"))
            err << "avail_wheels: warning: " << unsure->release->name << ' '
                << unsure->release->version.text()
                << (unsure->runs == "no" ? " does not run here: " : ": whether it runs here is unknown: ")
                << unsure->why << '\n';
    };
    for (const auto& candidate : answer.wheels) {
        if (first == nullptr || is_other_project(*first, candidate)) {
            tell();
            first = &candidate;
            unsure = nullptr;
            runs = false;
            missing.clear();
        }
        if (candidate.release->version != first->release->version) continue;
        if (!runs && candidate.runs == "yes" && candidate.why_code == missing_code)
            missing = candidate.why.substr(std::string_view("but ").size());
        runs = runs || candidate.runs == "yes";
        const bool is_worse = unsure == nullptr || (unsure->runs == "no" && candidate.runs == "unknown");
        if (candidate.runs != "yes" && is_worse) unsure = &candidate;
    }
    tell();
}

}  // namespace wheelyard::avail_wheels
