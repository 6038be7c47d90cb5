// `wheelyard-governor history show|export|import`: prints the history, copies it to a file, merges a file
// into it.
#include <algorithm>
#include <cstdio>

#include "builder/governor/admission/history.hpp"
#include "builder/governor/run.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

const std::vector<OptionRow> history_options = {
    {"--history", "FILE", "The history (default: ~/.cache/wheelyard/governor/history)"},
    {"--help", nullptr, "Print this help"},
};

int complain(const std::string& sentence) {
    base::print(stderr, "wheelyard-governor: %s\n", sentence.c_str());
    return 1;
}

int show(const History& history) {
    std::vector<const Record*> rows;
    for (const auto& [key, record] : history)
        rows.push_back(&record);
    std::sort(rows.begin(), rows.end(), [](const Record* a, const Record* b) {
        return std::max(a->peak_bytes, a->min_bytes) > std::max(b->peak_bytes, b->min_bytes);
    });
    base::print(stdout, "%-12s %-10s %5s  %-8s %s\n", "peak", "time", "runs", "language", "source");
    for (const auto* row : rows) {
        const bool killed = row->peak_bytes <= 0;
        const auto bytes = static_cast<std::uint64_t>(killed ? row->min_bytes : row->peak_bytes);
        base::print(stdout, "%-12s %-10s %5llu  %-8s %s\n",
                    ((killed ? "> " : "") + base::render_bytes(bytes)).c_str(),
                    base::render_duration_ms(static_cast<std::int64_t>(row->seconds * 1000)).c_str(),
                    static_cast<unsigned long long>(row->runs), row->language.c_str(), row->source.c_str());
    }
    return 0;
}

}  // namespace

int run_history(const std::vector<std::string>& arguments) {
    const auto options = parse_options(arguments, history_options);
    if (!options) return complain(options.error().text()) + 1;
    const auto& words = options->positional;
    const bool known = !words.empty() && (words[0] == "show" || words[0] == "export" || words[0] == "import");
    if (options->has("--help") || !known || (words[0] != "show") != (words.size() == 2)) {
        base::print(stdout, "wheelyard-governor history show | export FILE | import FILE\n\n%s",
                    render_options(history_options).c_str());
        return options->has("--help") ? 0 : 2;
    }
    const std::filesystem::path file = options->get("--history", default_history_file().native());
    std::string warning;
    if (words[0] == "import") {
        const auto text = base::read_file(words[1], max_history_bytes);
        if (!text) return complain(text.error().text());
        const auto added = parse_history(*text);
        if (!added) return complain(added.error().text());
        const auto stored = store_history(file, *added, base::SystemClock{});
        return stored ? 0 : complain(stored.error().text());
    }
    const auto history = load_history(file, warning);
    if (!warning.empty()) return complain(warning);
    if (words[0] == "show") return show(history);
    const auto written = base::replace_file(words[1], render_history(history));
    return written ? 0 : complain(written.error().text());
}

}  // namespace wheelyard::governor
