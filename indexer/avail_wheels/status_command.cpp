// avail_wheels --status: what the farm builds, and what failed and why.
#include <ostream>

#include "indexer/avail_wheels/farm.hpp"
#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/show.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

namespace {

std::string render_status(const FarmStatus& status) {
    io::Json cells = io::Json::array();
    for (const auto& row : status.rows) {
        io::Json cell = io::Json::object();
        for (std::size_t i = 0; i < row.size(); ++i)
            cell.set(status_columns[i], row[i]);
        cells.push(std::move(cell));
    }
    return io::Json::object({{"format", "wheelyard.avail_wheels-status/1"},
                             {"cells", std::move(cells)},
                             {"notices", io::Json::array_of(status.notices)}})
        .render_pretty();
}

}  // namespace

int answer_status(const Options& options, const World& world, std::ostream& out, std::ostream& err) {
    auto status = read_status(world.get, options, world.clock->now());
    if (!status) return print_error(err, status.error());
    if (options.display.format == "json") {
        out << render_status(*status);
        return 0;
    }
    print_table(options.display, status_columns, status->rows, world, out);
    for (const std::string& notice : status->notices)
        err << "avail_wheels: warning: " << notice << '\n';
    return 0;
}

}  // namespace wheelyard::avail_wheels
