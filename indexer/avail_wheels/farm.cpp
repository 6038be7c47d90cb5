// Reads the farm's plan and writes requests.
#include "indexer/avail_wheels/farm.hpp"

#include <algorithm>
#include <system_error>

#include "indexer/avail_wheels/limits.hpp"
#include "lib/base/blake2b.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

base::Result<std::string> read_plan(const simple::GetPage& get, const std::string& where) {
    if (where.empty()) {
        return base::fail("farm.no_status", "this site publishes no farm status", {},
                          "set `status` in the site file to a URL or a file");
    }
    if (!where.starts_with("http://") && !where.starts_with("https://")) {
        auto text = base::read_file(where, max_status_bytes);
        if (text) return text;
        return base::fail("farm.status", "the farm's status could not be read: " + text.error().sentence,
                          where, "`status` in the site file names it; ask the site's administrator");
    }
    constexpr int status_ok = 200;
    WHEELYARD_ASSIGN(auto answer, get(where, {{"Accept", "application/json"}}, max_status_bytes));
    if (answer.status != status_ok) {
        return base::fail("farm.http",
                          "the farm's status could not be read: status " + std::to_string(answer.status));
    }
    return std::move(answer.body);
}

// Writes a TOML basic string; the text has no characters that need escaping.
std::string toml_text(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

}  // namespace

base::Result<std::vector<Row>> read_status(const simple::GetPage& get, const Options& options) {
    WHEELYARD_ASSIGN(const auto text, read_plan(get, options.site.status));
    WHEELYARD_ASSIGN(const auto json, io::parse_json(text));
    if (json.string_or("format", {}) != "wheelyard.plan/1") {
        return base::fail("farm.format", "the farm's status has an unknown format",
                          json.string_or("format", {}),
                          "it must be the output of `wheelyard-builder plan --json`");
    }
    std::vector<Row> rows;
    for (const auto& cell : json.items("cells")) {
        const std::string name = cell.string_or("package", {});
        const std::string project = wheel::normalize_name(name);
        const auto& wanted = options.query.wanted;
        if (std::none_of(wanted.begin(), wanted.end(),
                         [&](const Wanted& one) { return one.matches(project); }))
            continue;
        rows.push_back({name, cell.string_or("version", {}), cell.string_or("python", {}),
                        cell.string_or("state", {}), cell.string_or("reason", {})});
    }
    return rows;
}

base::Result<std::string> write_request(const Options& options, const std::string& requirement,
                                        const std::string& user, const std::string& host,
                                        const base::Clock& clock) {
    const fs::path& folder = options.site.requests;
    if (folder.empty()) {
        return base::fail("farm.no_requests", "this site accepts no requests", {},
                          "set `requests` in the site file to a folder");
    }
    WHEELYARD_ASSIGN(const auto wanted, parse_wanted(requirement));
    if (wanted.is_glob())
        return base::fail("farm.glob", "a request needs a package name, not a pattern", requirement);
    // Only the normalised spelling of the specifiers is written: no quotes, no line ends.
    const std::string versions = wanted.specifiers.empty() ? "latest" : wanted.specifiers.text();
    std::vector<std::string> pythons;
    for (const auto& python : options.query.pythons)
        pythons.push_back(toml_text(python.text()));

    std::string text =
        "[[want]]\npackage = " + toml_text(wanted.pattern) + "\nversions = [" + toml_text(versions) + "]\n";
    if (!pythons.empty()) text += "pythons = [" + base::join(pythons, ", ") + "]\n";
    constexpr std::size_t digest_bytes = 6;
    base::Blake2b digest(digest_bytes);
    digest.update(text);
    const std::string start = user + "-";
    const fs::path file =
        folder / (start + wanted.pattern + "-" + base::encode_hex(digest.finish()) + ".toml");

    std::size_t open = 0;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path() == file) return "Already requested: " + file.native();
        if (entry->path().filename().native().starts_with(start)) ++open;
    }
    if (error) {
        return base::fail("farm.requests", "the folder for requests could not be read: " + error.message(),
                          folder.native(),
                          "`requests` in the site file names it; ask the site's administrator");
    }
    if (open >= max_requests_per_user) {
        return base::fail("farm.quota", "you have " + std::to_string(open) + " open requests already", {},
                          "wait until they are handled");
    }
    const std::string head =
        "# requested by " + user + " on " + host + ", " + base::render_rfc3339(clock.now()) + "\n";
    WHEELYARD_TRY(base::replace_file(file, head + text));
    return "Requested " + wanted.pattern + " (" + versions + "): " + file.native() +
           "\nAn administrator adds it to the farm's plan; --status then shows it.";
}

}  // namespace wheelyard::avail_wheels
