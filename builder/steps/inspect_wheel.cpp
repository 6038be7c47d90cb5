// built ─► uploading: inspects the wheel by the registry's own rules, and compares it with what was asked.
#include <string_view>

#include "builder/attempt/limits.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/steps/built_wheel.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

// setuptools calls so a project whose name it does not find.
constexpr std::string_view nameless_project = "unknown";

// A version without a local label is met by any label ("2.4.0" by "2.4.0+cu126"), otherwise only by its own.
bool meets(const wheel::Version& made, const wheel::Version& wanted) {
    return wanted.has_local() ? made == wanted : made.compare_public(wanted) == std::strong_ordering::equal;
}

base::Result<const inspect::Inspection*> record_wheel(Attempt& attempt, Ports& ports) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt, ports));
    ports.inspection.reset();
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, ports, file));
    WHEELYARD_ASSIGN(attempt.wheel.sha256, base::sha256_hex_of_file(file));
    WHEELYARD_ASSIGN(attempt.wheel.size, base::file_size(file));
    attempt.wheel.filename = file.filename().string();
    attempt.wheel.verdicts.clear();
    for (const auto& verdict : inspection->verdicts)
        attempt.wheel.verdicts.push_back(verdict.text());
    ports.failpoints.hit("wheel.inspected");
    return inspection;
}

// A companion package from an upstream was compiled against the upstream's torch. Official torch wheels
// before 2.6 use the old std::string ABI, builds from source use the new one; together they fail at import.
base::Status check_abi(const Attempt& attempt, const Ports& ports, const inspect::Inspection& inspection) {
    const Recipe recipe = ports.recipe_of(attempt);
    if (recipe.source != SourceKind::upstream || recipe.against.empty() || attempt.asked.against.empty())
        return {};
    const auto version = attempt.asked.against.substr(attempt.asked.against.find("==") + 2);
    const Recipe other =
        recipe_for(ports.site, ports.recipes, recipe.against, version, attempt.asked.accelerator);
    const std::string& abi = inspection.facts.torch_cxx11_abi;
    if (other.source == SourceKind::upstream || abi.empty() || abi == "true") return {};
    return base::fail(
        "wheel.other_abi",
        "The upstream's wheel was compiled with another C++ ABI (_GLIBCXX_USE_CXX11_ABI=0) than "
        "this site's own " +
            attempt.asked.against,
        attempt.wheel.filename, "build it here: set a source with the project's code in its recipe");
}

// A wheel without compiled code where an extension was wanted; its tag may name a platform all the same.
// nullopt: it is as it should be; its notice is recorded.
std::optional<Fail> check_extension(Attempt& attempt, const Ports& ports,
                                    const inspect::Inspection& inspection) {
    attempt.wheel.notice.clear();
    const Recipe recipe = ports.recipe_of(attempt);
    if (recipe.source == SourceKind::upstream || recipe.extension == ExtensionWish::optional ||
        inspection.facts.elf_files > 0)
        return std::nullopt;
    const AttemptFolder folder = ports.folder_of(attempt);
    const auto line = find_left_out_extension(read_log_tail(folder.log(), course_log_bytes));
    if (!line && recipe.extension != ExtensionWish::required) {
        attempt.wheel.notice = notice_of_pure_wheel(recipe, folder.tree() / attempt.source.folder);
        return std::nullopt;
    }
    Failure failure{"inspect",
                    {"build.extension_missing",
                     line ? "The build left an extension out, and made a pure wheel"
                          : "The wheel has no extension, and its recipe requires one",
                     attempt.wheel.filename,
                     "make the compiler work (`wheelyard-builder site check`), then run wheelyard-builder "
                     "retry; if the pure "
                     "wheel is good enough: `extension = \"optional\"` in [build] of its recipe"},
                    line ? line->text : "",
                    false};
    failure.line = line ? line->number : 0;
    return Fail{std::move(failure)};
}

base::Status check_wheel(const Attempt& attempt, const Ports& ports, const inspect::Inspection& inspection) {
    const auto& name = inspection.filename;
    if (name.project == nameless_project && attempt.asked.package != nameless_project) {
        const DoctorRule& rule = *ports.site.doctor_rules->find("pip.no_name");
        return base::fail("wheel.no_name", cause_of(rule), attempt.wheel.filename, rule.remedy);
    }
    // A wheel that would only be quarantined is uploaded: the registry keeps it until a person decides.
    if (inspection.refused()) {
        return base::fail(
            "wheel.rejected",
            "The wheel breaks the registry's rules: " + base::join(attempt.wheel.verdicts, "; "),
            attempt.wheel.filename, "fix the recipe; `wheelyard-registry check` explains each rule");
    }
    const auto wanted = wheel::Version::parse(attempt.asked.version);
    if (name.project != attempt.asked.package || !wanted || !meets(name.version, *wanted)) {
        return base::fail(
            "wheel.other",
            "The build made another wheel than " + attempt.asked.package + " " + attempt.asked.version,
            attempt.wheel.filename, "fix the recipe's source, or the version in site.toml");
    }
    return check_abi(attempt, ports, inspection);
}

}  // namespace

base::Result<Next> inspect_wheel(Attempt& attempt, Ports& ports) {
    WHEELYARD_ASSIGN(const auto* inspection, record_wheel(attempt, ports));
    WHEELYARD_TRY(check_wheel(attempt, ports, *inspection));
    const auto python = ports.pythons.find(attempt.asked.python);
    if (python == ports.pythons.end() || !python->second) {
        // Not the wheel's fault: the Python's file system may be temporarily unavailable.
        return TryLater{{"python.missing", "Python " + attempt.asked.python + " does not answer now",
                         attempt.asked.python, "see `plan --explain`"}};
    }
    if (!wheel::best_position(inspection->filename.tags, python->second->tags)) {
        return base::fail(
            "wheel.other_tags",
            "The build made a wheel that Python " + attempt.asked.python + " of this site would not install",
            attempt.wheel.filename, "fix the recipe: its build sets another Python or platform");
    }
    if (auto failed = check_extension(attempt, ports, *inspection)) return std::move(*failed);
    if (attempt.asked.closure && !attempt.asked.closure->strangers.empty())
        attempt.wheel.notice += (attempt.wheel.notice.empty() ? "" : ", ") +
                                std::string("built with an upstream's ") +
                                base::join(attempt.asked.closure->strangers, ", ");
    ports.report(attempt, "built " + attempt.wheel.filename + " (" + base::render_bytes(attempt.wheel.size) +
                              "), sha256 " + attempt.wheel.sha256);
    if (!attempt.wheel.notice.empty()) ports.report(attempt, "its wheel is " + attempt.wheel.notice);
    return Move{State::uploading};
}

}  // namespace wheelyard::builder
