// Command line → candidates → answer → text.
#include "indexer/avail_wheels/run.hpp"

#include <ostream>
#include <utility>

#include "indexer/avail_wheels/document.hpp"
#include "indexer/avail_wheels/source.hpp"
#include "indexer/avail_wheels/table.hpp"

namespace wheelyard::avail_wheels {

namespace {

base::Result<std::vector<Candidate>> read_source(const Options& options) {
    if (!options.wheelhouse.empty()) return read_wheelhouse(options.wheelhouse, options.query.wanted);
    io::HttpClient http;
    return read_index(http, options.index_url, options.query.wanted);
}

std::string render_raw(const Answer& answer, const RowOptions& rows) {
    std::string text;
    if (!rows.not_available_only) {
        for (const auto& candidate : answer.wheels)
            text += candidate.link.filename + "\n";
    }
    if (rows.not_available || rows.not_available_only) {
        for (const auto& name : answer.not_available)
            text += name + "\n";
    }
    return text;
}

std::string render(const Options& options, const Answer& answer) {
    if (options.raw) return render_raw(answer, options.rows);
    if (options.format == "json") return render_document(answer);
    return render_table(options.format, options.rows.columns, make_rows(answer, options.rows));
}

}  // namespace

int run(const std::vector<std::string>& arguments, const EnvironmentMap& environment, std::ostream& out,
        std::ostream& err) {
    auto parsed = parse_command_line(arguments, environment);
    if (const auto* leave = std::get_if<Leave>(&parsed)) {
        (leave->status == 0 ? out : err) << leave->text;
        return leave->status;
    }
    const auto& options = std::get<Options>(parsed);
    if (!options.warning.empty()) err << options.warning << '\n';
    auto offered = read_source(options);
    if (!offered) {
        err << "avail_wheels: " << offered.error().text() << '\n';
        return 1;
    }
    out << render(options, select(options.query, std::move(*offered)));
    return 0;
}

}  // namespace wheelyard::avail_wheels
