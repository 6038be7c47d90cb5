#include "registry/intake/torch_tables.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view table_format = "wheelyard.torch/1", uses_format = "wheelyard.torch_uses/1";
constexpr std::uint64_t max_table_bytes = 64 * base::mib;  // torch 2.15 has 41,300 names
constexpr std::size_t bytes_of_name = 8;
constexpr unsigned bits_of_byte = 8;

struct ShownFit {
    std::string filename;
    inspect::TorchFit fit;
};
using inspect::TorchFit;
struct FitWord : io::Made<inspect::fit_text, io::Plain<std::string>> {
    static std::string type() { return "one of yes, no, unknown"; }
};
using ReasonWord = io::Made<inspect::fit_reason_text, io::Plain<std::string>>;
constexpr auto fit_record = io::record<ShownFit>({
    io::field<&ShownFit::filename>("filename", "the wheel of torch"),
    io::field<FitWord, &ShownFit::fit, &TorchFit::fit>("fits", "whether it can be loaded with that torch"),
    io::field<ReasonWord, &ShownFit::fit, &TorchFit::reason>("reason", "why, as a word: `symbols_missing`"),
    io::field<&ShownFit::fit, &TorchFit::sentence>("sentence", "why, for people"),
    io::field<&ShownFit::fit, &TorchFit::used>("names", "how many names of torch it uses"),
    io::field<&ShownFit::fit, &TorchFit::missing>("missing", "how many of these torch lacks"),
    io::field<&ShownFit::fit, &TorchFit::symbol>("symbol", "the first of these", io::Need::optional,
                                                 io::Written::if_given),
    io::field<&ShownFit::fit, &TorchFit::file>("member", "the file of the wheel that needs it",
                                               io::Need::optional, io::Written::if_given),
});

std::mutex one_at_a_time;

auto no_table(std::string_view what) {
    return base::fail_malformed("torch.table", "This is no table of torch's names", std::string(what));
}

std::vector<std::uint64_t> read_names(std::string_view bytes) {
    std::vector<std::uint64_t> names;
    names.reserve(bytes.size() / bytes_of_name);
    for (std::size_t at = 0; at + bytes_of_name <= bytes.size(); at += bytes_of_name) {
        std::uint64_t name = 0;
        for (const char byte : bytes.substr(at, bytes_of_name))
            name = name << bits_of_byte | static_cast<unsigned char>(byte);
        names.push_back(name);
    }
    return names;
}

std::set<std::string> set_of(const io::Json& json, std::string_view name) {
    auto texts = json.texts(name);
    return {texts.begin(), texts.end()};
}

inspect::StringAbi strings_of(std::string_view text) {
    for (const auto abi : {inspect::StringAbi::old, inspect::StringAbi::cxx11, inspect::StringAbi::mixed}) {
        if (inspect::string_abi_text(abi) == text) return abi;
    }
    return inspect::StringAbi::unknown;
}

bool requirements_allow(const std::vector<std::string>& torch_requires, const wheel::Version& version) {
    return std::all_of(torch_requires.begin(), torch_requires.end(), [&](const std::string& line) {
        const auto requirement = wheel::Requirement::parse(line);
        return !requirement || inspect::is_of_an_extra(*requirement) || requirement->specifiers.empty() ||
               requirement->specifiers.contains(version, wheel::Prereleases::allowed);
    });
}

struct Torch {
    wheel::WheelFilename filename;
    std::string sha256;
};

std::vector<Torch> torches_for(const std::vector<catalog::FileRow>& rows,
                               const wheel::WheelFilename& companion,
                               const std::vector<std::string>& torch_requires) {
    std::vector<Torch> all, of_local;
    for (const catalog::FileRow& row : rows) {
        auto filename = wheel::parse_wheel_filename(row.filename);
        if (!filename || row.state != catalog::FileState::active || row.yanked ||
            !requirements_allow(torch_requires, filename->version) ||
            !inspect::share_a_python(companion.tags, filename->tags))
            continue;
        all.push_back({*std::move(filename), row.sha256});
    }
    const std::string local = companion.version.local_text();
    std::copy_if(all.begin(), all.end(), std::back_inserter(of_local), [&local](const Torch& torch) {
        return !local.empty() && torch.filename.version.local_text() == local;
    });
    std::vector<Torch>& chosen = of_local.empty() ? all : of_local;
    std::sort(chosen.begin(), chosen.end(),
              [](const Torch& a, const Torch& b) { return a.filename.version > b.filename.version; });
    if (chosen.size() > max_torches_judged) chosen.clear();  // the oldest may be the one that fits
    return std::move(chosen);
}

}  // namespace

std::string render_torch_table(const inspect::TorchExports& torch) {
    std::string text = io::Json::object({{"format", table_format},
                                         {"machines", io::Json::array_of(torch.machines)},
                                         {"needed", io::Json::array_of(torch.needed)},
                                         {"libraries", io::Json::array_of(torch.libraries)},
                                         {"strings", inspect::string_abi_text(torch.strings)},
                                         {"complete", torch.is_complete},
                                         {"names", std::uint64_t{torch.names.size()}}})
                           .render() +
                       "\n";
    for (const std::uint64_t name : torch.names) {
        for (unsigned shift = 64; shift != 0; shift -= bits_of_byte)
            text += static_cast<char>(name >> (shift - bits_of_byte) & 0xffU);
    }
    return text;
}

base::Result<inspect::TorchExports> parse_torch_table(const wheel::WheelFilename& filename,
                                                      std::string_view bytes) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) return no_table("it has no first line");
    WHEELYARD_ASSIGN(const io::Json json, io::parse_json(bytes.substr(0, end)));
    if (json.string_or("format", "") != table_format) return no_table(json.string_or("format", ""));
    const std::string_view names = bytes.substr(end + 1);
    inspect::TorchExports torch;
    torch.names = read_names(names);
    const auto count = static_cast<std::uint64_t>(json.int_or("names", -1));
    if (names.size() % bytes_of_name != 0 || count != torch.names.size() ||
        !std::is_sorted(torch.names.begin(), torch.names.end()))
        return no_table("its names are cut or not sorted");
    torch.version = filename.version.text();
    torch.tags = filename.tags;
    torch.machines = set_of(json, "machines");
    torch.needed = set_of(json, "needed");
    torch.libraries = set_of(json, "libraries");
    torch.strings = strings_of(json.string_or("strings", ""));
    torch.is_complete = json.bool_or("complete", false);
    return torch;
}

std::string render_torch_uses(const inspect::CompanionUses& companion) {
    io::Json files = io::Json::array();
    for (const inspect::FileUses& file : companion.files)
        files.push(io::Json::object({{"name", file.name},
                                     {"names", io::Json::array_of(file.names)},
                                     {"libraries", io::Json::array_of(file.torch_libraries)}}));
    return io::Json::object({{"format", uses_format},
                             {"machines", io::Json::array_of(companion.machines)},
                             {"needed", io::Json::array_of(companion.needed)},
                             {"strings", inspect::string_abi_text(companion.strings)},
                             {"complete", companion.is_complete},
                             {"files", std::move(files)}})
        .render();
}

base::Result<inspect::CompanionUses> parse_torch_uses(const wheel::WheelFilename& filename,
                                                      std::string_view bytes) {
    const auto json = io::parse_json(bytes);
    if (!json || json->string_or("format", "") != uses_format)
        return base::fail_malformed("torch.uses", "This is no list of the names of torch that a wheel uses",
                                    filename.text());
    inspect::CompanionUses companion;
    companion.tags = filename.tags;
    companion.machines = set_of(*json, "machines");
    companion.needed = set_of(*json, "needed");
    companion.strings = strings_of(json->string_or("strings", ""));
    companion.is_complete = json->bool_or("complete", false);
    for (const io::Json& file : json->items("files"))
        companion.files.push_back({file.string_or("name", ""), file.texts("names"), file.texts("libraries")});
    return companion;
}

io::Json torch_fit_to_json(const std::string& filename, const inspect::TorchFit& fit) {
    return fit_record.write({filename, fit});
}

io::Document torch_fit_document() {
    return {.name = "torch_fit", .tables = {fit_record.members}};
}

TorchTables::TorchTables(const blobs::BlobStore& blobs, const std::filesystem::path& store, IfBusy if_busy)
    : blobs_(&blobs), folder_(store / "torch"), if_busy_(if_busy) {}

base::Result<std::unique_lock<std::mutex>> TorchTables::turn(const wheel::WheelFilename& filename) const {
    if (if_busy_ == IfBusy::wait) return std::unique_lock(one_at_a_time);
    std::unique_lock lock(one_at_a_time, std::try_to_lock);
    if (lock.owns_lock()) return lock;
    return base::fail_for_now("torch.busy", "Another wheel is being read", filename.text());
}

base::Result<inspect::Inspection> TorchTables::read(const wheel::WheelFilename& filename,
                                                    const std::string& sha256) const {
    WHEELYARD_ASSIGN(const auto reader, blobs_->open(sha256, blobs::ReadFrom::cache));
    inspect::InspectOptions options;
    options.torch_names = true;
    return inspect::inspect_wheel(*reader, filename.text(), options);
}

base::Result<inspect::TorchExports> TorchTables::of(const wheel::WheelFilename& filename,
                                                    const std::string& sha256) const {
    const auto kept = [&] {
        return base::read_file(folder_ / sha256, max_table_bytes).and_then([&](const std::string& bytes) {
            return parse_torch_table(filename, bytes);
        });
    };
    if (auto torch = kept()) return torch;
    WHEELYARD_ASSIGN(const auto lock, turn(filename));
    if (auto torch = kept()) return torch;  // meanwhile
    WHEELYARD_ASSIGN(const auto inspection, read(filename, sha256));
    WHEELYARD_ASSIGN(auto torch, inspect::torch_exports(filename, inspection.elves));
    WHEELYARD_TRY(write(folder_, sha256, render_torch_table(torch)));
    return torch;
}

base::Result<inspect::CompanionUses> TorchTables::uses_of(const wheel::WheelFilename& filename,
                                                          const std::string& sha256) const {
    const auto kept = [&] {
        return base::read_file(folder_ / "uses" / sha256, max_table_bytes)
            .and_then([&](const std::string& bytes) { return parse_torch_uses(filename, bytes); });
    };
    if (auto companion = kept()) return companion;
    WHEELYARD_ASSIGN(const auto lock, turn(filename));
    if (auto companion = kept()) return companion;  // meanwhile
    WHEELYARD_ASSIGN(const auto inspection, read(filename, sha256));
    auto companion = inspect::companion_uses(filename, inspection.elves);
    WHEELYARD_TRY(write(folder_ / "uses", sha256, render_torch_uses(companion)));
    return companion;
}

base::Status TorchTables::keep(const std::string& sha256, const inspect::Inspection& inspection) const {
    if (inspection.filename.project != "torch" || inspection.elves.empty()) return {};
    const auto torch = inspect::torch_exports(inspection.filename, inspection.elves);
    return torch ? write(folder_, sha256, render_torch_table(*torch)) : base::Status();
}

base::Status TorchTables::write(const std::filesystem::path& folder, const std::string& sha256,
                                const std::string& table) const {
    WHEELYARD_TRY(base::make_private_directories(folder));
    remove_some(folder, sha256.size());
    return base::replace_file(folder / sha256, table, base::private_file_mode);
}

// The store may be a network away: of many tables, those are looked up that were not for the longest time.
void TorchTables::remove_some(const std::filesystem::path& folder, std::size_t name_size) const {
    namespace fs = std::filesystem;
    std::vector<std::pair<fs::file_time_type, fs::path>> tables;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        if (entry->path().filename().native().size() != name_size) continue;
        tables.emplace_back(entry->last_write_time(failed), entry->path());
    }
    const std::size_t some = std::min(tables.size(), max_tables_looked_up);
    const auto end = tables.begin() + static_cast<std::ptrdiff_t>(some);
    std::partial_sort(tables.begin(), end, tables.end());
    for (auto table = tables.begin(); table != end; ++table) {
        const auto blob = blobs_->find(table->second.filename().native());
        if (!blob) return;  // the store does not answer
        if (*blob)
            fs::last_write_time(table->second, fs::file_time_type::clock::now(), failed);
        else
            fs::remove(table->second, failed);
    }
}

inspect::TorchesFor torch_lookup(const inspect::Policy& policy, OfferedFiles offered, TorchTables tables) {
    if (inspect::severity_under(policy, "torch.cannot_load") == inspect::Severity::ignore) return {};
    return [offered = std::move(offered), tables = std::move(tables)](
               const wheel::WheelFilename& companion, const std::vector<std::string>& torch_requires) {
        std::vector<inspect::TorchExports> known;
        for (const Torch& torch : torches_for(offered("torch"), companion, torch_requires)) {
            auto exports = tables.of(torch.filename, torch.sha256);
            if (exports)
                known.push_back(*std::move(exports));
            else
                io::log_warn("torch.table",
                             {{"filename", torch.filename.text()}, {"error", exports.error().text()}});
        }
        return known;
    };
}

base::Status check_with_torches(const RegistryConfig& config, const std::string& index,
                                const catalog::FileRow& row, const OfferedFiles& offered,
                                const std::vector<catalog::FileRow>& with, const TorchTables& tables) {
    const IndexConfig* const known = config.find_index(index);
    const auto filename = wheel::parse_wheel_filename(row.filename);
    const auto facts = io::parse_json(row.facts_json);
    const bool is_asked = known != nullptr && inspect::severity_under(known->policy, "torch.cannot_load") >=
                                                  inspect::Severity::quarantine;
    if (!is_asked || row.index == index || !filename || filename->project == "torch" || !facts ||
        facts->string_or("torch_stable_abi", "").empty())
        return {};
    const auto torches_for = torch_lookup(
        known->policy,
        [&](std::string_view project) {
            auto files = offered(project);
            std::copy_if(with.begin(), with.end(), std::back_inserter(files),
                         [&](const catalog::FileRow& one) { return one.project == project; });
            return files;
        },
        tables);
    const auto torches = torches_for(*filename, facts->texts("torch_requires"));
    if (torches.empty()) return {};
    WHEELYARD_ASSIGN(const auto companion, tables.uses_of(*filename, row.sha256));
    const auto fit = inspect::fits_none(companion, torches);
    if (!fit) return {};
    return wire::fail("lifecycle.cannot_load", "No torch of the other index can load it: " + fit->sentence,
                      row.filename,
                      "promote a torch that it was built with, alone before it or as one change");
}

}  // namespace wheelyard::registry
