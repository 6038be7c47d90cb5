#include "builder/steps/built_wheel.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "builder/attempt/failpoints.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/doctor/doctor_rules.hpp"
#include "builder/doctor/error_line.hpp"
#include "builder/plan/version_choice.hpp"
#include "builder/steps/provenance.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/truth/declared_variant.hpp"
#include "lib/wire/cpu_options.hpp"

namespace wheelyard::builder {

namespace fs = std::filesystem;

base::Result<fs::path> find_wheel(const Attempt& attempt, const Ports& ports) {
    const fs::path folder = ports.folder_of(attempt).wheel();
    std::vector<fs::path> wheels;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".whl") wheels.push_back(entry.path());
    }
    // An unreadable folder is not a failure of the build.
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("reading the folder", folder.native(), error.value());
    if (wheels.size() == 1) return wheels.front();
    return base::fail(
        "wheel.count",
        "A build must produce exactly one wheel; this one produced " + std::to_string(wheels.size()),
        folder.string());
}

base::Result<const inspect::Inspection*> inspection_of(const Attempt& attempt, Ports& ports,
                                                       const fs::path& file) {
    if (ports.inspected != file.native() || !ports.inspection) {
        WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
        inspect::InspectOptions options;
        options.threads = static_cast<unsigned>(ports.site.cores);
        // The index configures the allowed module trees, so its registry makes the final decision.
        options.policy.severities.emplace("elf.search_path", inspect::Severity::warn);
        options.policy.search_path_prefixes = ports.site.search_path_prefixes;
        options.policy.variants = file.parent_path() == ports.folder_of(attempt).variant();
        const Site site = for_gpus(ports.site, ports.recipe_of(attempt), attempt.asked);
        const Accelerator* accelerator = site.accelerator(attempt.asked.accelerator);
        if (accelerator != nullptr) options.policy.gpu_architectures = accelerator->architectures;
        WHEELYARD_ASSIGN(ports.inspection, inspect::inspect_wheel(reader, file.filename().string(), options));
        ports.inspected = file.native();
    }
    return &*ports.inspection;
}

fs::path kept_wheel(const Attempt& attempt, const Ports& ports) {
    return ports.site.work_directory / "wheels" / attempt.wheel.filename;
}

namespace {

namespace fs = std::filesystem;

const wheel::LabelledVariant* declared_variant(const Attempt& attempt, const Ports& ports) {
    const Accelerator* accelerator = ports.site.accelerator(attempt.asked.accelerator);
    return accelerator == nullptr || !accelerator->variant ? nullptr : &*accelerator->variant;
}

// A section that was read in part names some GPUs only.
base::Status check_all_was_read(const inspect::Inspection& inspection) {
    constexpr std::array<std::string_view, 3> unread{"gpu.malformed", "gpu.compressed", "gpu.not_read"};
    for (const auto& verdict : inspection.verdicts) {
        if (std::find(unread.begin(), unread.end(), verdict.code) != unread.end())
            return base::fail("variant.unproven", "Not all of its GPU code was read", verdict.text());
    }
    return {};
}

base::Result<wheel::LabelledVariant> prove(const Attempt& attempt, const Ports& ports,
                                           const inspect::Inspection& inspection) {
    WHEELYARD_TRY(check_all_was_read(inspection));
    const auto build = provenance_of_build(attempt, ports);
    return inspect::prove_variant(
        *declared_variant(attempt, ports), inspection.facts,
        {accelerator::find_accelerator_kind(ports.site.accelerator(attempt.asked.accelerator)->kind),
         wire::level_of_options(build.environment), inspection.filename.version.local_text(), build.modules});
}

}  // namespace

bool wants_variant(const Attempt& attempt, const Ports& ports) {
    return ports.variants != nullptr && !attempt.asked.for_task && attempt.variant.not_made.empty() &&
           declared_variant(attempt, ports) != nullptr && !attempt.wheel.filename.ends_with("-any.whl");
}

base::Status make_variant(Attempt& attempt, Ports& ports) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt, ports));
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, ports, file));
    WHEELYARD_ASSIGN(const auto variant, prove(attempt, ports, *inspection));
    const auto name = inspection->filename;
    const std::string& against = attempt.asked.against;
    const std::string version = against.empty() ? "" : against.substr(against.find("==") + 2);

    const fs::path folder = ports.folder_of(attempt).variant();
    WHEELYARD_TRY(base::make_directories(folder));
    const fs::path made = folder / inspect::variant_filename(name, variant.label);
    WHEELYARD_ASSIGN(const auto bytes, base::FileReader::open(file));
    WHEELYARD_ASSIGN(auto into, base::FileReplacement::begin(made));
    const auto write = [&](std::string_view piece) -> base::Status {
        WHEELYARD_TRY(ports.still_ours());
        return into.write(piece);
    };
    WHEELYARD_TRY(inspect::write_variant_wheel(bytes, name, variant, version, write));
    WHEELYARD_TRY(into.commit());

    WHEELYARD_ASSIGN(inspection, inspection_of(attempt, ports, made));
    VariantRecord record;
    for (const auto& verdict : inspection->verdicts)
        record.verdicts.push_back(verdict.text());
    if (inspection->refused())
        return base::fail("variant.refused",
                          "The variant breaks the registry's rules: " + base::join(record.verdicts, "; "),
                          made.filename().string());
    record.filename = made.filename().string();
    WHEELYARD_ASSIGN(record.sha256, base::sha256_hex_of_file(made));
    WHEELYARD_ASSIGN(record.size, base::file_size(made));
    attempt.variant = std::move(record);
    ports.failpoints.hit("variant.made");
    ports.report(attempt, "made the variant " + attempt.variant.filename);
    return {};
}

namespace {

constexpr std::uint64_t max_build_file_bytes = base::mib;  // of setup.py and the like

// In lower case; `*` is any text. A pure wheel after one of these lines lacks an extension.
constexpr std::array<std::string_view, 10> left_out = {
    "building '*' extension",                  // setuptools begins one
    "building extension \"*\" failed",         // setuptools, of an optional one
    "extension could not be compiled",         // markupsafe, SQLAlchemy, simplejson, tornado
    "extension) could not be compiled",        // zope.interface
    "plain-python build succeeded",            // markupsafe
    "pure python build",                       // multidict, frozenlist, yarl: NO_EXTENSIONS
    "couldn't install with extension module",  // coverage
    "build optional rust extension*failed",    // setuptools-rust
    "forcing --without-libyaml",               // PyYAML
    "skipping optional extension",
};

// Why: what a compiler, or who starts it, prints.
constexpr std::array<std::string_view, 5> reasons = {"error: command '*' failed", "unable to execute '*'",
                                                     "fatal error:", "error: linker `*` not found",
                                                     "can't find rust compiler"};

struct Declaration {
    const char* file;
    std::string_view text;
};
// What declares an extension in a project's own build files.
constexpr std::array<Declaration, 8> declarations = {{
    {"setup.py", "ext_modules"},
    {"setup.py", "mypycify"},
    {"setup.py", "cffi_modules"},
    {"setup.py", "rust_extensions"},
    {"setup.cfg", "ext_modules"},
    {"pyproject.toml", "ext-modules"},
    {"pyproject.toml", "mypyc"},
    {"pyproject.toml", "cython"},
}};

template <std::size_t size>
bool has_one(const std::array<std::string_view, size>& patterns, std::string_view lower) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](std::string_view pattern) { return matches_pattern(pattern, lower); });
}

}  // namespace

std::optional<LogLine> find_left_out_extension(std::string_view log) {
    std::optional<LogLine> found;
    std::uint64_t number = 0;
    bool is_build = true;  // a log without marks is of one
    for (const auto line : base::split_lines(log)) {
        ++number;
        if (line.starts_with(phase_mark)) {
            is_build = line.substr(phase_mark.size()).starts_with("build ");
            continue;
        }
        if (!is_build) continue;
        const std::string lower = base::ascii_lower(line);
        if (found && has_one(reasons, lower)) return LogLine{number, shorten_line(line)};
        if (!found && has_one(left_out, lower)) found = LogLine{number, shorten_line(line)};
    }
    return found;
}

std::string extension_in_source(const std::filesystem::path& project) {
    for (const auto& [file, text] : declarations) {
        const auto content = base::read_untrusted_file(project / file, max_build_file_bytes);
        if (content && content->find(text) != std::string::npos) return std::string(text) + " in " + file;
    }
    return "";
}

std::string notice_of_pure_wheel(const Recipe& recipe, const std::filesystem::path& project) {
    if (recipe.extension != ExtensionWish::unsaid) return "";
    const std::string declared = extension_in_source(project);
    if (declared.empty()) return "";
    return "without an extension, which its source can have (" + declared +
           "); `extension` in [build] of its recipe says whether it is wanted";
}

}  // namespace wheelyard::builder
