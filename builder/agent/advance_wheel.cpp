// The steps after the job: finds the wheel, inspects it, uploads (or keeps) it, and checks its page.
#include "builder/agent/advance.hpp"
#include "builder/agent/limits.hpp"
#include "builder/attempt/backoff.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

namespace fs = std::filesystem;

namespace {

// A version without a local label is met by any label ("2.4.0" by "2.4.0+cu126"), otherwise only by its own.
bool meets(const wheel::Version& made, const wheel::Version& wanted) {
    return wanted.has_local() ? made == wanted : made.compare_public(wanted) == std::strong_ordering::equal;
}

// No connection, refused credentials, an expired lease, or an upload that can be resumed.
bool is_no_fault_of_the_wheel(base::ErrorKind kind) {
    using enum base::ErrorKind;
    return kind == unreachable || kind == unauthorized || kind == lost || kind == in_progress;
}

std::string offer_again(const Attempt& attempt) {
    return "see the registry's log; `wheelyard-builder retry " + attempt.id + "` uploads the wheel again";
}

}  // namespace

base::Result<fs::path> Advance::find_wheel(const Attempt& attempt) const {
    std::vector<fs::path> wheels;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_of(attempt).wheel(), error)) {
        if (entry.path().extension() == ".whl") wheels.push_back(entry.path());
    }
    // An unreadable folder is not a failure of the build.
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("reading the folder", folder_of(attempt).wheel().native(), error.value());
    if (wheels.size() == 1) return wheels.front();
    return base::fail(
        "wheel.count",
        "A build must produce exactly one wheel; this one produced " + std::to_string(wheels.size()),
        folder_of(attempt).wheel().string());
}

base::Result<const inspect::Inspection*> Advance::inspection_of(const Attempt& attempt,
                                                                const fs::path& file) {
    if (inspected_ != attempt.id || !inspection_) {
        WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
        inspect::InspectOptions options;
        options.threads = static_cast<unsigned>(parts_.site.cores);
        // The index configures the allowed module trees, so its registry makes the final decision.
        options.policy.severities.emplace("elf.search_path", inspect::Severity::warn);
        options.policy.search_path_prefixes = parts_.site.search_path_prefixes;
        const Accelerator* accelerator = parts_.site.accelerator(attempt.accelerator);
        if (accelerator != nullptr) options.policy.gpu_architectures = accelerator->architectures;
        WHEELYARD_ASSIGN(inspection_, inspect::inspect_wheel(reader, file.filename().string(), options));
        inspected_ = attempt.id;
    }
    return &*inspection_;
}

// A companion package from an upstream was compiled against the upstream's torch. Official torch wheels before 2.6
// use the old std::string ABI, builds from source use the new one; together they fail at import.
base::Status Advance::check_abi(const Attempt& attempt, const inspect::Inspection& inspection) const {
    const Recipe recipe = recipe_of(attempt);
    if (recipe.source != SourceKind::upstream || recipe.against.empty() || attempt.against.empty()) return {};
    const auto version = attempt.against.substr(attempt.against.find("==") + 2);
    const Recipe other =
        recipe_for(parts_.site, parts_.recipes, recipe.against, version, attempt.accelerator);
    const std::string& abi = inspection.facts.torch_cxx11_abi;
    if (other.source == SourceKind::upstream || abi.empty() || abi == "true") return {};
    return base::fail(
        "wheel.other_abi",
        "The upstream's wheel was compiled with another C++ ABI (_GLIBCXX_USE_CXX11_ABI=0) than "
        "this site's own " +
            attempt.against,
        attempt.wheel.filename, "build it here: set a source with the project's code in its recipe");
}

base::Result<Advance::Step> Advance::inspect_wheel(Attempt& attempt, const JobView&) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt));
    inspection_.reset();
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, file));
    WHEELYARD_ASSIGN(attempt.wheel.sha256, base::sha256_hex_of_file(file));
    WHEELYARD_ASSIGN(attempt.wheel.size, base::file_size(file));
    attempt.wheel.filename = file.filename().string();
    attempt.verdicts.clear();
    for (const auto& verdict : inspection->verdicts)
        attempt.verdicts.push_back(verdict.text());
    parts_.failpoints.hit("wheel.inspected");
    // A wheel that would only be quarantined is uploaded: the registry keeps it until a person decides.
    if (inspection->refused()) {
        return base::fail(
            "wheel.rejected", "The wheel breaks the registry's rules: " + base::join(attempt.verdicts, "; "),
            attempt.wheel.filename, "fix the recipe; `wheelyard-registry check` explains each rule");
    }
    const auto wanted = wheel::Version::parse(attempt.version);
    const auto& name = inspection->filename;
    if (name.project != attempt.package || !wanted || !meets(name.version, *wanted)) {
        return base::fail("wheel.other",
                          "The build made another wheel than " + attempt.package + " " + attempt.version,
                          attempt.wheel.filename, "fix the recipe's source, or the version in site.toml");
    }
    WHEELYARD_TRY(check_abi(attempt, *inspection));
    const auto python = parts_.pythons.find(attempt.python);
    if (python == parts_.pythons.end() || !python->second) {
        // Not the wheel's fault: the Python's file system may come back.
        WHEELYARD_TRY(wait(attempt, {"python.missing", "Python " + attempt.python + " does not answer now",
                                     attempt.python, "see `plan --explain`"}));
        return Step::not_yet;
    }
    if (!wheel::best_position(name.tags, python->second->tags)) {
        return base::fail(
            "wheel.other_tags",
            "The build made a wheel that Python " + attempt.python + " of this site would not install",
            attempt.wheel.filename, "fix the recipe: its build sets another Python or platform");
    }
    note(attempt, "built " + attempt.wheel.filename + " (" + base::render_bytes(attempt.wheel.size) +
                      "), sha256 " + attempt.wheel.sha256);
    WHEELYARD_TRY(enter(attempt, State::uploading));
    return Step::moved;
}

Registry* Advance::registry_of(const Attempt& attempt) const {
    Registry* own = parts_.registry_for ? parts_.registry_for(attempt) : nullptr;
    if (own != nullptr) return own;
    return attempt.for_task ? nullptr : parts_.registry;
}

base::Result<bool> Advance::is_published(const Attempt& attempt) {
    WHEELYARD_ASSIGN(const auto page, registry_of(attempt)->page(attempt.package));
    const auto* file = page ? simple::find_file(*page, attempt.wheel.filename) : nullptr;
    if (file == nullptr) return false;
    if (file->sha256 == attempt.wheel.sha256) return true;
    return base::fail("upload.name_taken",
                      "The index has another file of this name: sha256 " + file->sha256 + ", ours is " +
                          attempt.wheel.sha256,
                      attempt.wheel.filename,
                      "a published file never changes its bytes; build another version");
}

base::Result<Advance::Step> Advance::upload(Attempt& attempt, const JobView&) {
    if (registry_of(attempt) == nullptr && attempt.for_task)
        return base::fail_as(
            base::ErrorKind::lost, base::Recovery::retry,
            {"upload.no_grant", "The lease of the wheel's task is not available now", attempt.task});
    if (registry_of(attempt) == nullptr) {
        WHEELYARD_TRY(keep(attempt));
    } else {
        WHEELYARD_ASSIGN(bool there, is_published(attempt));
        if (!there && attempt.wheel.sent == 0) {
            if (uploads_paused_ && !is_granted(attempt)) {  // reported by the wheel that got the error
                WHEELYARD_TRY(wait(attempt, *uploads_paused_, Notes::no));
                return Step::not_yet;
            }
            WHEELYARD_TRY(send(attempt));
            WHEELYARD_ASSIGN(there, is_published(attempt));
        }
        if (!there && parts_.clock.now() - attempt.wheel.sent > upload_visible_ms * 1000) {
            return base::fail("upload.never_visible",
                              "The registry accepted the wheel at " +
                                  base::render_rfc3339(attempt.wheel.sent) + ", but its page never showed it",
                              attempt.wheel.filename, offer_again(attempt));
        }
        if (!there) {  // an accepted wheel is not sent again
            return base::fail_for_now("upload.not_visible",
                                      "The registry accepted the wheel, but its page does not show it yet",
                                      attempt.wheel.filename);
        }
        attempt.wheel.index = registry_of(attempt)->index();
        note(attempt, "published in " + attempt.wheel.index);
    }
    parts_.failpoints.hit("upload.seen");
    WHEELYARD_TRY(finish(attempt));
    return Step::moved;
}

// A wheel for a task is uploaded with the task's own credentials.
bool Advance::is_granted(const Attempt& attempt) const {
    return registry_of(attempt) != parts_.registry;
}

// Tries once; on failure the attempt keeps its wheel and waits for another tick. The try is counted before the bytes
// are sent, so that an agent that is killed repeatedly does not send without limit.
base::Status Advance::send(Attempt& attempt) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt));
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, file));
    if (attempt.wheel.sends >= max_sends) {
        return base::fail("upload.too_often",
                          "The wheel was sent " + std::to_string(attempt.wheel.sends) +
                              " times and never accepted. The last answer: " + attempt.waiting.reason,
                          attempt.wheel.filename, offer_again(attempt));
    }
    Registry* const registry = registry_of(attempt);
    ++attempt.wheel.sends;
    WHEELYARD_TRY(write(attempt));
    auto sent = registry->upload({file, attempt.wheel.sha256, *inspection}, progress());
    if (!sent) {
        const base::ErrorKind kind = sent.error().kind;
        if (kind == base::ErrorKind::unauthorized && !is_granted(attempt)) uploads_paused_ = sent.error();
        if (is_no_fault_of_the_wheel(kind)) --attempt.wheel.sends;
        return sent;
    }
    parts_.failpoints.hit("upload.sent");
    attempt.wheel.sent = parts_.clock.now();
    attempt.waiting = {};
    return write(attempt);
}

fs::path Advance::kept_wheel(const Attempt& attempt) const {
    return parts_.site.work_directory / "wheels" / attempt.wheel.filename;
}

base::Status Advance::keep(Attempt& attempt) {
    const auto kept = base::sha256_hex_of_file(kept_wheel(attempt));
    if (kept && *kept == attempt.wheel.sha256) return {};  // moved before the agent was killed
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt));
    WHEELYARD_TRY(base::make_directories(kept_wheel(attempt).parent_path()));
    WHEELYARD_TRY(base::rename_durably(file, kept_wheel(attempt)));
    note(attempt, "kept as " + kept_wheel(attempt).string());
    return {};
}

}  // namespace wheelyard::builder
