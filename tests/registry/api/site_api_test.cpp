// Who may report, what is refused, and what the published tree gets to show.

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/status/index_status.hpp"
#include "registry/access/tokens.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

constexpr base::UnixMicros minute = 60'000'000;

// The board of two nodes in one process.
struct MemoryReports final : nodes::ReportBoard {
    std::map<std::pair<std::string, std::string>, nodes::BoardReport>& rows;
    explicit MemoryReports(std::map<std::pair<std::string, std::string>, nodes::BoardReport>& shared)
        : rows(shared) {}
    base::Status keep(const nodes::BoardReport& report) override {
        auto& row = rows[{report.index, report.site}];
        if (row.time < report.time) row = report;
        return {};
    }
    base::Status remove(const std::string& index, const std::string& site) override {
        rows.erase({index, site});
        return {};
    }
    base::Result<std::vector<nodes::BoardReport>> list() override {
        std::vector<nodes::BoardReport> all;
        for (const auto& [key, row] : rows)
            all.push_back({row.index, row.site, row.time});
        return all;
    }
    base::Result<nodes::BoardReport> read(const std::string& index, const std::string& site) override {
        return rows.at({index, site});
    }
};

struct SiteFixture : RegistryFixture {
    std::map<std::string, std::string> shown;  // by index
    registry::ShowStatus show = [this](const std::filesystem::path&, const std::string& index,
                                       const std::string& document) {
        return std::exchange(shown[index], document) != document;
    };
    registry::SiteReports reports{config, show, clock};
    registry::Api api{parts(nullptr, nullptr, &reports)};
    std::string agent = add_actor({"upload"}, {"main"});

    std::string add_actor(const std::vector<std::string>& actions, const std::vector<std::string>& indexes) {
        return make_token("agent", indexes, {"*"}, actions);
    }
    [[nodiscard]] status::SiteReport report(const std::string& site = "bede") const {
        status::SiteReport made;
        made.site = site;
        made.index = "main";
        made.time = clock.now();
        made.next_tick = clock.now() + 5 * minute;
        made.cells = {{"torch", "2.4.0", "3.12", "", "", "active", "", ""}};
        return made;
    }
    std::string send(const std::string& body, const std::string& who, const std::string& site = "bede",
                     const std::string& index = "main") {
        const auto answer = ask("reportSite", who, site, index, body);
        return answer ? "200" : std::to_string(answer.error().status) + " " + answer.error().code;
    }
    wire::Answered<http::ApiReply> ask(const std::string& operation, const std::string& who,
                                       const std::string& site = "bede", const std::string& index = "main",
                                       const std::string& body = {}) {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters.emplace("index", index);
        request.parameters.emplace("site", site);
        request.authorization = "Bearer " + who;
        request.body = body;
        return api.answer(request);
    }
};

}  // namespace

TEST_CASE(
    "a report needs a token that may upload to its index or build for it, and the address of its site") {
    SiteFixture farm;
    const std::string body = status::render_site_report(farm.report());
    CHECK(farm.send(body, farm.add_actor({"task"}, {"main"})) == "403 site.scope");
    CHECK(farm.send(body, farm.add_actor({"build"}, {"elsewhere"})) == "403 site.scope");
    CHECK(farm.send(body, farm.add_actor({"upload"}, {"elsewhere"})) == "403 site.scope");
    farm.tokens->recognise_publishers({"torch"});  // a job's token only uploads
    for (const std::string project : {"*", "torch"}) {
        const auto end = farm.clock.now() + minute;
        CHECK(farm.send(body, farm.make_token("publisher:torch", {"main"}, {project}, {"upload"}, end)) ==
              "403 site.scope");
    }
    CHECK(farm.send(body, "wy_nobody").starts_with("403 "));
    CHECK(farm.send(body, farm.agent, "other") == "409 site.other");
    CHECK(farm.send(base::replace_all(body, "\"main\"", "\"elsewhere\""), farm.agent) == "409 site.other");
    CHECK(farm.send(body, farm.agent, "bede", "nowhere") == "404 index.unknown");
    CHECK(farm.send("{}", farm.agent) == "400 site_report.format");
    CHECK(farm.send(std::string(status::max_report_bytes + 1, ' '), farm.agent) ==
          "413 site_report.too_large");
    CHECK(farm.shown.empty());
    CHECK(farm.send(body, farm.agent) == "200");
    CHECK(farm.send(body, farm.add_actor({"build"}, {"main"})) == "200");
    const auto read = status::parse_index_status(farm.shown["main"]);
    REQUIRE(read.has_value());
    CHECK(read->sites.at(0).cells.at(0).package == "torch");
    CHECK(farm.ask("showSite", farm.agent)->json == body);
    CHECK(farm.ask("showSite", farm.agent, "absent").error().status == 404);
}

TEST_CASE("with read_logs = \"token\" lines of logs are only in the report that a token with `read` gets") {
    SiteFixture farm;
    farm.config.indexes.front().are_logs_for_tokens = true;
    auto sent = farm.report();
    status::BuildReport attempt;
    attempt.id = "w1";
    attempt.package = "torch";
    attempt.version = "2.4.0";
    attempt.python = "3.12";
    attempt.state = "running";
    attempt.log_tail = {"a line of a running build"};
    sent.attempts = {attempt};
    status::BuildReport failure;
    failure.id = "w0";
    failure.package = "torch";
    failure.version = "2.3.0";
    failure.python = "3.12";
    failure.cause = "it broke [a line of its cause]";
    failure.log_tail = {"a line of a failed build"};
    sent.failures = {failure};
    sent.cells.at(0).reason = "failed in build: it broke [a line of a cell";  // cut
    CHECK(farm.send(status::render_site_report(sent), farm.agent) == "200");
    CHECK(farm.shown["main"].find("it broke") != std::string::npos);
    CHECK(farm.shown["main"].find("a line of") == std::string::npos);
    CHECK(farm.ask("showSite", farm.agent)->json.find("a line of") == std::string::npos);
    const std::string reader = farm.add_actor({"read"}, {"main"});
    CHECK(farm.ask("showSite", reader)->json.find("a line of a failed build") != std::string::npos);
}

TEST_CASE("an older report is ignored, and one from the future is refused") {
    SiteFixture farm;
    const auto now = farm.report();
    CHECK(farm.send(status::render_site_report(now), farm.agent) == "200");
    auto older = now;
    older.time -= minute;
    older.cells.clear();
    CHECK(farm.send(status::render_site_report(older), farm.agent) == "200");
    CHECK(farm.reports.find("main", "bede")->cells.size() == 1);
    auto future = now;
    future.time += 11 * minute;
    CHECK(farm.send(status::render_site_report(future), farm.agent) == "409 site.time");
}

TEST_CASE("a restart keeps the reports, except damaged ones, and shows them") {
    SiteFixture farm;
    CHECK(farm.send(status::render_site_report(farm.report()), farm.agent) == "200");
    CHECK(farm.send(status::render_site_report(farm.report("archer")), farm.agent, "archer") == "200");
    REQUIRE(base::replace_file(farm.config.store / "sites" / "main" / "archer.json", "{"));
    for (const char* name : {".bede.json.1", "aaa.tmp", "zzz.tmp"})  // of a crash between write and rename
        REQUIRE(base::replace_file(farm.config.store / "sites" / "main" / name, "{"));
    farm.shown.clear();
    const registry::SiteReports again(farm.config, farm.show, farm.clock);
    REQUIRE(again.list().size() == 1);
    CHECK(again.list().at(0).site == "bede");
    CHECK(status::parse_index_status(farm.shown["main"])->sites.size() == 1);
}

TEST_CASE("a cell that waits has the time of the first report in which it does, also after a restart") {
    status::SiteReport first;
    first.site = "bede";
    first.index = "main";
    first.time = 5 * minute;
    first.cells = {{"torch", "2.4.0", "3.12", "", "", "wanted", "", ""},
                   {"six", "1.0", "3.12", "", "", "active", "", ""}};
    status::SiteReport second = first;
    second.time = 10 * minute;
    second.cells[0].since = 1;  // an agent does not say it
    second.cells[0].state = "held";
    second.cells[1].state = "wanted";
    registry::note_waiting(first, nullptr);
    const auto kept = status::parse_site_report(status::render_site_report(first));
    REQUIRE(kept.has_value());
    registry::note_waiting(second, &*kept);
    CHECK(first.cells[1].since == 0);
    CHECK(second.cells[0].since == 5 * minute);
    CHECK(second.cells[1].since == 10 * minute);
    // What would be too large to be read again has none.
    second.cells.resize(2);
    while (status::render_site_report(second).size() <= status::max_report_bytes)
        second.cells.insert(second.cells.end(), 64, second.cells[1]);
    registry::note_waiting(second, &first);
    CHECK(second.cells[0].since == 0);
}

TEST_CASE("lists and metrics say which site is late") {
    SiteFixture farm;
    CHECK(farm.send(status::render_site_report(farm.report()), farm.agent) == "200");
    CHECK(farm.ask("listSites", farm.agent)->json.find("\"late\":false") != std::string::npos);
    CHECK(farm.reports.samples().back().value == 0);
    farm.clock.sleep_ms(15 * 60'000 + 1);
    CHECK(farm.ask("listSites", farm.agent)->json.find("\"late\":true") != std::string::npos);
    const auto samples = farm.reports.samples();
    REQUIRE(samples.size() == 2);
    CHECK(samples[0].labels == "index=\"main\",site=\"bede\"");
    CHECK(samples[0].value > 900);
    CHECK(samples[1].value == 1);
}

TEST_CASE("sites of one index are limited, and one that is silent for a month makes room") {
    SiteFixture farm;
    for (std::size_t i = 0; i < status::max_sites_per_index; ++i)
        REQUIRE(farm.reports.keep(farm.report("site" + std::to_string(i))).has_value());
    CHECK(farm.send(status::render_site_report(farm.report("more")), farm.agent, "more") ==
          "409 site.too_many");
    CHECK(farm.reports.keep(farm.report("site7")).has_value());
    farm.clock.sleep_ms(std::int64_t{31} * 24 * 3'600'000);
    CHECK(farm.send(status::render_site_report(farm.report("more")), farm.agent, "more") == "200");
    CHECK(farm.reports.list().size() == status::max_sites_per_index);
}

TEST_CASE("what one node was told the others show, with the requests that ended there") {
    SiteFixture farm;
    std::map<std::pair<std::string, std::string>, nodes::BoardReport> rows;
    int shown = 0;
    std::vector<status::RequestReport> open(1);
    open[0].package = "six";
    open[0].state = "queued";
    const auto temporary = base::TempDir::make("other-node").value();
    registry::RegistryConfig other_config = farm.config;
    other_config.store = temporary.path();
    REQUIRE(base::make_directories(other_config.tree_of("main") / "main"));
    registry::SiteReports told(farm.config, farm.show, farm.clock, {}, {},
                               std::make_unique<MemoryReports>(rows));
    std::string document;
    registry::SiteReports other(
        other_config,
        [&](const std::filesystem::path& tree, const std::string& index,
            const std::string& text) -> base::Result<bool> {
            ++shown;
            document = text;
            return base::replace_file(tree / index / "status.json", text).map([] { return true; });
        },
        farm.clock,
        [&](const std::string& index) {
            return index == "main" ? open : std::vector<status::RequestReport>();
        },
        {}, std::make_unique<MemoryReports>(rows));
    const auto seen = [&] { return status::parse_index_status(document).value(); };
    CHECK(seen().requests.size() == 1);

    REQUIRE(told.keep(farm.report()));
    CHECK(other.list().empty());
    other.follow();
    REQUIRE(other.list().size() == 1);
    CHECK(seen().sites.at(0).site == "bede");
    CHECK(other.samples().size() == 2);
    open.clear();
    other.follow();
    CHECK(seen().requests.empty());

    // An older one changes nothing; a newer one does. A row that is no report, or of an index that is not here, is left out.
    farm.clock.sleep_ms(60'000);
    auto newer = farm.report();
    newer.cells.clear();
    REQUIRE(told.keep(newer));
    rows[{"main", "odd"}] = {"main", "odd", 1, "{"};
    rows[{"elsewhere", "bede"}] = {"elsewhere", "bede", 1, "{"};
    other.follow();
    REQUIRE(other.list().size() == 1);
    CHECK(seen().sites.at(0).cells.empty());

    // A restart without the database knows them from its own folder.
    const registry::SiteReports again(other_config, farm.show, farm.clock);
    CHECK(again.list().size() == 1);
}

TEST_CASE("only the node that was told notes the builds of a report") {
    SiteFixture farm;
    std::map<std::pair<std::string, std::string>, nodes::BoardReport> rows;
    int noted = 0;
    const registry::NoteReport note = [&](const status::SiteReport&) { ++noted; };
    registry::SiteReports told(farm.config, farm.show, farm.clock, {}, note,
                               std::make_unique<MemoryReports>(rows));
    registry::RegistryConfig other_config = farm.config;
    other_config.store = farm.config.store / "other";
    registry::SiteReports other(other_config, farm.show, farm.clock, {}, note,
                                std::make_unique<MemoryReports>(rows));
    REQUIRE(told.keep(farm.report()));
    other.follow();
    CHECK(other.list().size() == 1);
    CHECK(noted == 1);
}

TEST_CASE("a site that made room for another leaves the board, too") {
    SiteFixture farm;
    std::map<std::pair<std::string, std::string>, nodes::BoardReport> rows;
    registry::SiteReports told(farm.config, farm.show, farm.clock, {}, {},
                               std::make_unique<MemoryReports>(rows));
    for (std::size_t i = 0; i < status::max_sites_per_index; ++i)
        REQUIRE(told.keep(farm.report("site" + std::to_string(i))).has_value());
    farm.clock.sleep_ms(std::int64_t{31} * 24 * 3'600'000);
    REQUIRE(told.keep(farm.report("more")));
    CHECK(rows.size() == status::max_sites_per_index);
    CHECK(rows.contains({"main", "more"}));
}

TEST_CASE("a package of a report is the normalised name of a project") {
    SiteFixture farm;
    for (const char* name : {"Torch", "ruamel.yaml", "a__b", "../etc", "<b>x</b>", "torch 2", "-torch"}) {
        status::SiteReport report = farm.report();
        report.cells.front().package = name;
        const auto refused =
            farm.ask("reportSite", farm.agent, "bede", "main", status::render_site_report(report));
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().status == 400);
        CHECK(refused.error().code == "site.package");
        CHECK(refused.error().value.find("in `cells`") != std::string::npos);
    }
    status::SiteReport report = farm.report();
    status::BuildReport& failure = report.failures.emplace_back();
    failure.id = "w1";
    failure.package = "Torch";
    failure.version = "1.0";
    failure.python = "3.12";
    failure.phase = failure.rule = failure.cause = "build";
    CHECK(farm.send(status::render_site_report(report), farm.agent) == "400 site.package");
    CHECK(farm.send(status::render_site_report(farm.report()), farm.agent) == "200");
}
