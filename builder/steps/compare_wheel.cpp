// built ─► done, for a reproduction: gets the recorded wheel and compares it with the one that was just built. Nothing is
// uploaded.

#include "builder/attempt/temporary_files.hpp"
#include "builder/steps/built_wheel.hpp"
#include "builder/steps/differences.hpp"
#include "builder/steps/provenance.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_recorded_text_bytes = 1 * base::mib;  // a file of tools or settings of a build

namespace fs = std::filesystem;

base::Status check_digest(const Attempt& attempt, const fs::path& file) {
    WHEELYARD_ASSIGN(const auto sha256, base::sha256_hex_of_file(file));
    if (sha256 == attempt.reproduced.sha256) return {};
    return base::fail(
        "reproduce.other_wheel",
        "The recorded wheel has been replaced: sha256 " + sha256 + " instead of " + attempt.reproduced.sha256,
        file.string(), "a wheel can be compared only while its index or the work folder has it");
}

tl::unexpected<base::Error> fail_gone(const Attempt& attempt, const std::string& place) {
    return base::fail("reproduce.gone", "The recorded wheel is no longer in " + place,
                      attempt.reproduced.filename,
                      "a wheel can be compared only while its index or the work folder has it");
}

// From the site's index, or from the work folder of a site without a registry.
base::Result<fs::path> fetch_recorded(const Attempt& attempt, const Ports& ports) {
    const std::string& filename = attempt.reproduced.filename;
    if (ports.registry == nullptr) {
        const fs::path kept = ports.site.work_directory / "wheels" / filename;
        std::error_code error;
        if (!fs::exists(kept, error)) return fail_gone(attempt, "the work folder");
        WHEELYARD_TRY(check_digest(attempt, kept));
        return kept;
    }
    const fs::path folder = ports.folder_of(attempt).recorded();
    WHEELYARD_TRY(free_space(folder, ports.keep_alive));
    WHEELYARD_TRY(base::make_directories(folder));
    WHEELYARD_ASSIGN(const auto page, ports.registry->page(attempt.asked.package));
    const auto* link = page ? simple::find_file(*page, filename) : nullptr;
    if (link == nullptr) return fail_gone(attempt, "index `" + ports.registry->index() + "`");
    const io::HttpProgress still_ours = [&ports](std::uint64_t, std::uint64_t) {
        return ports.still_ours().has_value();
    };
    WHEELYARD_TRY(ports.registry->download(*link, folder / filename, still_ours));
    WHEELYARD_TRY(check_digest(attempt, folder / filename));
    return folder / filename;
}

std::string read_record(const fs::path& file) {
    return base::read_untrusted_file(file, max_recorded_text_bytes).value_or("");
}

// The inputs that both jobs recorded: a difference there explains one in the wheels.
void compare_inputs(const AttemptFolder& recorded, const AttemptFolder& again, Comparison& comparison) {
    const std::string key = read_record(recorded.build_key());
    if (!key.empty() && key != read_record(again.build_key()))
        comparison.add(Cause::settings, {"", "recipe or site"});
    const wire::Provenance before = parse_built_by(read_record(recorded.built_by()));
    const wire::Provenance now = parse_built_by(read_record(again.built_by()));
    if (before.system.empty() || now.system.empty()) return;  // not recorded
    const auto compare = [&](const std::string& what, const std::string& a, const std::string& b) {
        if (a != b) comparison.add(Cause::tools, {"", what, a, b});
    };
    compare("system", before.system, now.system);
    compare("modules", base::join(before.modules, ":"), base::join(now.modules, ":"));
    for (const auto& [tool, version] : before.tools) {
        for (const auto& [other, other_version] : now.tools) {
            if (other == tool) compare(tool, version, other_version);
        }
    }
}

base::Status record_wheel(Attempt& attempt, const fs::path& file) {
    WHEELYARD_ASSIGN(attempt.wheel.sha256, base::sha256_hex_of_file(file));
    WHEELYARD_ASSIGN(attempt.wheel.size, base::file_size(file));
    attempt.wheel.filename = file.filename().string();
    return {};
}

base::Result<Comparison> compare_files(const Attempt& attempt, const Ports& ports, const fs::path& recorded,
                                       const fs::path& again) {
    WHEELYARD_ASSIGN(const auto recorded_bytes, base::FileReader::open(recorded));
    WHEELYARD_ASSIGN(const auto again_bytes, base::FileReader::open(again));
    const ReproducedRecord& was = attempt.reproduced;
    const BuildNames names{{was.attempt, was.tree}, {attempt.id, attempt.job.tree}};
    WHEELYARD_ASSIGN(Comparison comparison,
                     compare_wheels({recorded_bytes, again_bytes, names, ports.keep_alive}));
    if (comparison.identical) return comparison;
    compare_inputs({ports.site.work_directory / "attempts" / was.attempt}, ports.folder_of(attempt),
                   comparison);
    return comparison;
}

// Keeps a wheel that differs where the command for diffoscope names it: the attempt's other files are
// removed.
base::Result<std::string> keep_differing(const fs::path& wheel, const fs::path& folder) {
    WHEELYARD_TRY(base::make_directories(folder));
    const fs::path kept = folder / wheel.filename();
    WHEELYARD_TRY(base::remove_file(kept));
    std::error_code error;
    fs::create_hard_link(wheel, kept, error);
    if (error) fs::copy_file(wheel, kept, error);
    if (error) return base::fail_errno("keeping the wheel", kept.native(), error.value());
    return kept.native();
}

}  // namespace

base::Result<Next> compare_wheel(Attempt& attempt, Ports& ports) {
    // Compared before a kill: the wheel may be gone.
    if (attempt.reproduced.identical) return Move{State::done};
    WHEELYARD_ASSIGN(const auto again, find_wheel(attempt, ports));
    WHEELYARD_TRY(record_wheel(attempt, again));
    if (attempt.wheel.filename != attempt.reproduced.filename) {
        return base::fail(
            "reproduce.other_name",
            "The build made a wheel of another name than the recorded one, " + attempt.reproduced.filename,
            attempt.wheel.filename, "the recipe, the version or the Python has changed since");
    }
    WHEELYARD_ASSIGN(const auto recorded, fetch_recorded(attempt, ports));
    WHEELYARD_ASSIGN(const auto recorded_size, base::file_size(recorded));
    DifferencesReport report{attempt.asked.cell,
                             attempt.wheel.filename,
                             {attempt.reproduced.attempt, attempt.reproduced.sha256, recorded_size, ""},
                             {attempt.id, attempt.wheel.sha256, attempt.wheel.size, ""},
                             {}};
    WHEELYARD_ASSIGN(report.comparison, compare_files(attempt, ports, recorded, again));
    const AttemptFolder folder = ports.folder_of(attempt);
    if (!report.comparison.identical) {
        WHEELYARD_ASSIGN(report.recorded.file, keep_differing(recorded, folder.compared() / "recorded"));
        WHEELYARD_ASSIGN(report.again.file, keep_differing(again, folder.compared() / "rebuilt"));
    }
    WHEELYARD_TRY(base::replace_file(folder.differences(), render_differences(report)));
    WHEELYARD_TRY(base::replace_file(folder.differences_json(), render_differences_json(report)));
    attempt.reproduced.identical = report.comparison.identical;
    attempt.reproduced.causes.clear();
    for (const FoundCause& found : report.comparison.causes)
        attempt.reproduced.causes.emplace_back(cause_row(found.cause).code);
    ports.report(attempt, report.comparison.identical
                              ? "identical: " + attempt.wheel.filename
                              : "differs (" + base::join(attempt.reproduced.causes, ", ") + "): see " +
                                    folder.differences().string());
    return WriteJournal{compare_wheel};
}

}  // namespace wheelyard::builder
