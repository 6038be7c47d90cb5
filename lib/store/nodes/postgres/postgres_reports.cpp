// The board of the sites' reports, as a table.
#include "lib/store/nodes/postgres/postgres_board.hpp"

#include <array>
#include <utility>

#include "lib/store/engine/columns.hpp"
#include "lib/store/engine/postgres/postgres.hpp"

namespace wheelyard::nodes {
namespace {

using postgres::Database;

constexpr postgres::Deadlines report_deadlines{.connect_s = 2, .statement_ms = 2'000};

constexpr std::array report_schema{
    "CREATE TABLE site_report (index_name TEXT NOT NULL, site TEXT NOT NULL, time BIGINT NOT NULL, document "
    "BYTEA NOT NULL, PRIMARY KEY (index_name, site))",
};

class PostgresReports final : public ReportBoard {
  public:
    explicit PostgresReports(Database database) : database_(std::move(database)) {}

    [[nodiscard]] base::Status keep(const BoardReport& report) override {
        return database_.run(
            "INSERT INTO site_report VALUES (?, ?, ?::bigint, ?) ON CONFLICT (index_name, site) DO UPDATE "
            "SET "
            "time = excluded.time, document = excluded.document WHERE site_report.time < excluded.time",
            report.index, report.site, report.time, Database::Bytes{report.text});
    }

    [[nodiscard]] base::Status remove(const std::string& index, const std::string& site) override {
        return database_.run("DELETE FROM site_report WHERE index_name = ? AND site = ?", index, site);
    }

    [[nodiscard]] base::Result<std::vector<BoardReport>> list() override {
        WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT index_name, site, time FROM site_report"));
        return engine::collect(query, [](const auto& row) {
            return BoardReport{.index = row.text(0), .site = row.text(1), .time = row.integer(2)};
        });
    }

    [[nodiscard]] base::Result<BoardReport> read(const std::string& index, const std::string& site) override {
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare("SELECT time, document FROM site_report WHERE index_name = ? AND site = ?",
                              index, site));
        WHEELYARD_ASSIGN(const bool has_row, query.step());
        if (!has_row) return base::fail("sites.gone", "The report of this site is not there any more", site);
        return BoardReport{.index = index, .site = site, .time = query.integer(0), .text = query.text(1)};
    }

  private:
    const Database database_;
};

}  // namespace

base::Result<std::unique_ptr<ReportBoard>> open_postgres_reports(const postgres::Target& target) {
    WHEELYARD_ASSIGN(Database database, Database::open(target, Database::Mode::read_write, report_deadlines));
    WHEELYARD_TRY(postgres::migrate(database, "sites", {.steps = report_schema}));
    return std::make_unique<PostgresReports>(std::move(database));
}

}  // namespace wheelyard::nodes
