// One table for each kind of object writes, reads and documents it.
#include "lib/status/site_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/record.hpp"
#include "lib/status/build_members.hpp"
#include "lib/status/codecs.hpp"
#include "lib/status/documents.hpp"

namespace wheelyard::status {
namespace {

constexpr std::size_t max_finished = 50;  // attempts that ended well: more than end between two reports
// A tick takes some minutes at a slow file system, and cron may skip one.
constexpr std::int64_t late_after_ms = 10 * 60'000;
// For a report that does not say when the next one is due.
constexpr std::int64_t silent_after_ms = 24 * 3'600'000;

using base::Result;
using io::Json;
using io::Need;

tl::unexpected<base::Error> malformed(std::string sentence, std::string_view value = {}) {
    return base::fail_malformed("site_report.format", std::move(sentence),
                                std::string(base::cut_utf8(value, 80)), "see docs/reference/site-status.md");
}

using N = NodeReport;
constexpr auto node_record = io::record<N>({
    member<Word, &N::name>("name", "its name in the site file", Need::required),
    member<Count, &N::cores>("cores", "cores of one node"),
    member<Count, &N::memory_mib>("memory_mib", "memory of one node"),
    member<Count, &N::gpus>("gpus", "GPUs of one node"),
    member<Word, &N::accelerator>("accelerator", "name in the site file; absent: none"),
    member<Words, &N::architectures>("architectures", "of that accelerator: `sm_90`, `gfx90a`"),
    member<Words, &N::gpu_code>(
        "gpu_code",
        "in status.json only: names of the code that runs on these architectures: `sm_90`, `sm_90a`"),
    member<Word, &N::machine>("machine", "machine type: `aarch64`"),
    member<Word, &N::glibc>("glibc", "version of its glibc: `2.34`; absent: not known, or musl"),
    member<Some<Text<max_log_line_bytes>, max_log_lines>, &N::job>(
        "job",
        "the lines that begin the script of a user's job on one such node, with `ACCOUNT` in place of the "
        "account that is charged; absent: no batch system"),
});

using U = SetupReport;
constexpr auto setup_record = io::record<U>({
    member<Word, &U::python>("python", "`3.12`", Need::required),
    member<Word, &U::accelerator>("accelerator", "name in the site file; absent: none"),
    member<Word, &U::program>("program", "its interpreter, on `PATH` after these lines", Need::required),
    member<Some<Text<max_log_line_bytes>, max_log_lines>, &U::lines>(
        "lines",
        "bash that loads its modules and those that wheels for the accelerator need, or its Conda "
        "environment; first the site's `users.advice`, as comments; absent: nothing has to be loaded"),
});

using C = CellReport;
constexpr auto cell_record = io::record<C>({
    member<Word, &C::package>("package", "normalised name", Need::required),
    member<Word, &C::version>("version", "as in the site file if it could not be resolved", Need::required),
    member<Word, &C::python>("python", "`3.12`", Need::required),
    member<Word, &C::accelerator>("accelerator",
                                  "name in the site file; absent: one wheel for all accelerators"),
    member<Word, &C::purpose>(
        "purpose",
        "absent: a build; else `gpu-test`, `multi-node-test`, `promotion` or `reproduction` of its wheel"),
    member<Word, &C::state>("state", "the state of the cell in the plan (site.md, \"Cells of the plan\")",
                            Need::required),
    member<Text<max_text_bytes>, &C::reason>("reason", "why it has this state"),
    member<Word, &C::attempt>("attempt", "ID of the latest attempt"),
    member<io::Time, &C::since>("since",
                                "in answers of the registry: since which report it has waited (`wanted` or "
                                "`held`); absent: it does not"),
});

constexpr auto attempt_record = io::record<BuildReport>({
    build::id,
    build::package,
    build::version,
    build::python,
    build::accelerator,
    build::state,
    build::phase,
    build::waiting,
    build::began,
    build::done,
    build::total,
    build::memory_limit_mib,
    build::memory_mib,
    build::phases,
    build::phase_seconds,
    build::log_tail,
    build::source,
    build::source_sha256,
});
constexpr auto failure_record = io::record<BuildReport>({
    build::attempt,
    build::package,
    build::version,
    build::python,
    build::accelerator,
    build::began,
    build::ended,
    build::phase,
    build::rule,
    build::cause,
    build::remedy,
    build::phases,
    build::phase_seconds,
    build::log_tail,
    build::source,
    build::source_sha256,
});
constexpr auto finished_record = io::record<BuildReport>({
    build::attempt,
    build::package,
    build::version,
    build::python,
    build::accelerator,
    build::purpose,
    build::began,
    build::ended,
    build::phases,
    build::phase_seconds,
});

using Q = HeldQueueReport;
constexpr auto queue_record = io::record<Q>({
    member<Word, &Q::queue>("queue", "its name; absent: the batch system's default"),
    member<Text<max_text_bytes>, &Q::reason>("reason", "the batch system's own words", Need::required),
    member<io::Time, &Q::since>("since", "the first refusal"),
});

using S = SiteReport;
constexpr auto site_record = io::record<S>(
    {
        member<Word, &S::site>("site", "the site's name", Need::required),
        member<Word, &S::index>("index", "the index that its wheels are uploaded to", Need::required),
        member<Word, &S::program>("program", "the agent and its version"),
        member<io::Time, &S::time>("time", "when the tick ended", Need::required),
        member<io::Time, &S::next_tick>("next_tick",
                                        "when the next tick is due; the site is late 10 minutes after that"),
        member<io::Plain<bool>, &S::is_cut>("cut",
                                            "true: the report was too large, and lists are not complete"),
        member<Word, &S::claims>(
            "claims",
            "which requests of users it takes: `no`, `recipes` or `any` (`claim_tasks` in "
            "site.toml); absent: not known"),
        member<Some<Word, max_report_items>, &S::recipes>(
            "recipes",
            "where `claims` is `recipes`: the packages that have "
            "one; absent: not known; not shown in status.json"),
        member<Words, &S::pythons>("pythons", "versions of Python that the site builds for"),
        member<Word, &S::machine>("machine", "machine type of the agent's host"),
        member<Word, &S::glibc>("glibc", "version of glibc of the Pythons there; absent: not known, or musl"),
        member<List<node_record>, &S::nodes>("nodes", "its kinds of node"),
        member<Word, &S::submit>(
            "submit", "the program that takes the scripts of jobs: `sbatch`; absent: no batch system"),
        member<Some<io::Nested<setup_record>, max_report_items>, &S::setups>(
            "setups", "how users get each Python, with what wheels for each accelerator need"),
        member<List<cell_record>, &S::cells>("cells", "the cells of its plan"),
        member<List<attempt_record>, &S::attempts>("attempts", "attempts that are not over"),
        member<List<failure_record>, &S::failures>("failures", "failed attempts, newest first"),
        member<List<finished_record>, &S::finished>(
            "finished", "attempts that ended well, newest first, at most 50; not shown in status.json"),
        member<Some<io::Nested<queue_record>, max_log_lines>, &S::held_queues>(
            "held_queues", "queues that refuse jobs for now; absent: none"),
    },
    report_format);

}  // namespace

Json site_report_json(const SiteReport& report) {
    return site_record.write(report);
}

io::Document site_report_document() {
    return io::document_of<site_record>();
}

std::string render_site_report(const SiteReport& report) {
    return site_report_json(report).render();
}

SiteReport fit_site_report(SiteReport report, std::size_t max_bytes) {
    const auto keep = [](auto& list, std::size_t count) {
        if (list.size() > count) list.resize(count);
    };
    keep(report.failures, max_failures);
    keep(report.finished, max_finished);
    if (report.recipes.size() > max_report_items) report.recipes.clear();  // a part would deny the others
    const auto is_small = [&] {
        return report.cells.size() <= max_report_items && render_site_report(report).size() <= max_bytes;
    };
    if (is_small()) return report;
    report.is_cut = true;
    for (std::size_t lines = max_log_lines / 2;; lines /= 4) {
        const auto cut = [&](std::vector<std::string>& log) {
            const std::size_t left = std::min(lines, log.size());
            log.erase(log.begin(), log.end() - static_cast<std::ptrdiff_t>(left));
        };
        for (BuildReport& attempt : report.attempts)
            cut(attempt.log_tail);
        for (BuildReport& failure : report.failures)
            cut(failure.log_tail);
        if (is_small()) return report;
        if (lines == 0) break;
    }
    keep(report.failures, max_failures / 5);
    report.finished.clear();
    for (CellReport& cell : report.cells) {
        if (cell.state == "have") cell.reason.clear();
    }
    if (is_small()) return report;
    report.failures.clear();
    report.attempts.clear();
    keep(report.cells, max_report_items);
    while (!report.cells.empty() && !is_small())
        report.cells.resize(report.cells.size() * 3 / 4);
    if (!is_small()) {
        report.recipes.clear();
        report.held_queues.clear();
        report.setups.clear();
        for (NodeReport& node : report.nodes)
            node.job.clear();
    }
    return report;
}

bool is_site_name(std::string_view text) {
    return !text.empty() && text.size() <= max_word_bytes && text.front() != '.' &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return base::is_ascii_alnum(c) || c == '.' || c == '_' || c == '-'; });
}

Result<SiteReport> site_report_of(const Json& json) {
    if (json.as_object() == nullptr) return malformed("A site's report must be an object");
    if (json.string_or("format", "") != report_format)
        return malformed("The report does not have the format " + std::string(report_format),
                         json.string_or("format", ""));
    SiteReport report;
    io::Fault fault;
    if (!site_record.read(json, report, fault)) return malformed(fault.sentence(), fault.value);
    for (const std::string* name : {&report.site, &report.index}) {
        if (!is_site_name(*name)) return malformed("A site or an index has an invalid name", *name);
    }
    return report;
}

Result<SiteReport> parse_site_report(std::string_view text) {
    if (text.size() > max_report_bytes)
        return base::fail_as(
            base::ErrorKind::too_large, base::Recovery::never,
            {"site_report.too_large", "The report of a site has too many bytes", std::to_string(text.size()),
             "send at most " + std::to_string(max_report_bytes) + " bytes"});
    const auto json = io::parse_json(text, {.bytes = max_report_bytes, .depth = max_report_depth});
    if (!json) return malformed("The report of a site is not JSON: " + json.error().sentence);
    return site_report_of(*json);
}

std::string node_type_name(const std::string& site, const std::string& node, const std::string& accelerator) {
    std::string text = site;
    if (!node.empty()) text.append(", ").append(node);
    if (!accelerator.empty() && accelerator != node) text.append(" (").append(accelerator).append(")");
    return text;
}

std::optional<std::int64_t> late_ms(const SiteReport& report, base::UnixMicros now) {
    const bool is_announced = report.next_tick > 0;
    const base::UnixMicros due = is_announced ? report.next_tick : report.time;
    const std::int64_t patience_ms = is_announced ? late_after_ms : silent_after_ms;
    if (now - due <= patience_ms * 1000) return std::nullopt;
    return (now - report.time) / 1000;
}

std::string render_report_fields() {
    return site_record.document(report_format);
}

}  // namespace wheelyard::status
