// One table writes, reads and documents the fields. An absent member, or one of another type, leaves the
// default.
#include "builder/attempt/attempt.hpp"

#include <string>
#include <string_view>

#include "lib/io/record.hpp"
#include "lib/wire/fields.hpp"

namespace wheelyard::builder {
namespace {

using io::field;
using io::Json;
using io::Need;

constexpr std::string_view attempt_format = "wheelyard.attempt/1";

// An unknown cause has no code.
struct CauseCode : io::Plain<std::string> {
    static Json to(EndCause value) { return value == EndCause::unexplained ? "" : end_row(value).code; }
    static bool from(const Json& json, EndCause& into) {
        const auto cause = cause_of_code(json.as_string() == nullptr ? "" : *json.as_string());
        if (cause) into = *cause;
        return cause.has_value();
    }
};

constexpr auto failure_record = io::record<Failure>({
    field<&Failure::phase>("phase", "phase of the job, or step of the agent"),
    field<&Failure::error, &base::Error::code>("code", "the error's code"),
    field<&Failure::error, &base::Error::sentence>("sentence", "the error as text for a person"),
    field<&Failure::error, &base::Error::value>("value", "the invalid value, or empty"),
    field<&Failure::error, &base::Error::advice>("advice", "what to do, or empty"),
    field<&Failure::first_error>("first_error", "the first line of the log that looks like the cause"),
    field<&Failure::cause>("cause", "the code of the matching doctor rule, or empty"),
    field<&Failure::line>("line", "the line of the log that the doctor's rule matches"),
    field<&Failure::try_again>("try_again", "false: another attempt would fail the same way"),
});

constexpr auto job_end_record = io::record<JobEnd>({
    field<CauseCode, &JobEnd::cause>("cause", "the code of the cause, or empty if it is unknown"),
    field<&JobEnd::scheduler_status>("scheduler_status", "the status text of its scheduler"),
    field<&JobEnd::used, &wire::JobUsage::seconds>("seconds", "run time; 0: not known"),
    field<&JobEnd::used, &wire::JobUsage::cpu_seconds>("cpu_seconds", "processor time; 0: not known"),
    field<&JobEnd::used, &wire::JobUsage::memory_kib>("memory_kib", "peak memory; 0: not known"),
});

constexpr auto phase_record = io::record<PhaseRecord>({
    field<&PhaseRecord::name>("name", "name of the phase"),
    field<io::Time, &PhaseRecord::began>("began", "when the phase began"),
});

struct FailureValue : io::Nested<failure_record> {
    static bool from(const Json& json, Failure& into, io::Fault& fault) {
        const bool is_read = failure_record.read(json, into, fault);
        into.end = cause_of_code(into.error.code);
        return is_read;
    }
};

constexpr auto closure_part_record = io::record<ClosurePart>({
    field<&ClosurePart::is_taken>("taken", "true: the wheel of an upstream, of which nothing is built here"),
    field<&ClosurePart::sha256>("sha256", "digest of the sdist or of that wheel; empty: not known"),
    field<wire::TextPairs, &ClosurePart::lock>(
        "lock", "its build environment: the file names of the wheels, and their digests"),
    field<&ClosurePart::strangers>(
        "strangers", "those of them that are an upstream's, though the closure builds such ones"),
});

using A = Attempt;
using S = SourceRecord;
using J = JobRecord;
using W = WheelRecord;
using V = VariantRecord;
using R = ReproducedRecord;
constexpr auto attempt_record = io::record<A>({
    field<&A::id>("id", "the attempt's ID, also its job's name", Need::required),
    field<&A::asked, &Asked::cell>("cell", "the name of its cell in the plan", Need::required),
    field<io::WordOf<purpose_words>, &A::asked, &Asked::purpose>(
        "purpose",
        "`build`, or `gpu-test`, `multi-node-test`, `promotion` of the wheel in `source` "
        "(kind `wheel`), or `reproduction` of the build in `reproduced`",
        Need::valid),
    field<&A::asked, &Asked::package>("package", "the project's normalised name", Need::required),
    field<&A::asked, &Asked::version>("version", "including the local label", Need::required),
    field<&A::asked, &Asked::python>("python", "`3.11`, as in the site file", Need::required),
    field<&A::asked, &Asked::accelerator>("accelerator",
                                          "name in the site file; empty: one wheel for all accelerators"),
    field<&A::asked, &Asked::against>(
        "against", "`torch==2.4.0+cu123`: the package in the same index to build against, or empty"),
    field<&A::asked, &Asked::build>(
        "build", "the number of its wheel's build tag, after `retry --rebuild`; 0: it has none"),
    field<&A::number>("number", "counts the attempts at this cell, from 1"),
    field<io::WordOf<state_words>, &A::state>("state", "as above", Need::required),
    field<io::Time, &A::created>("created", "when the attempt began"),
    field<io::Time, &A::changed>("changed", "when it entered its state"),
    field<&A::source, &S::kind>("source.kind", "`sdist`, `tarball`, `git`, `path`, `upstream`, `wheel`"),
    field<&A::source, &S::origin>("source.origin", "URL without secrets, or folder"),
    field<&A::source, &S::filename>("source.filename", "name of the downloaded file"),
    field<&A::source, &S::sha256>("source.sha256", "digest of the downloaded file; empty for a path"),
    field<&A::source, &S::folder>("source.folder", "the project's folder in the attempt's tree"),
    field<&A::source, &S::back_end>("source.back_end", "`build-backend` of its pyproject.toml"),
    field<&A::source, &S::back_end_path>("source.back_end_path", "`backend-path` of its pyproject.toml"),
    field<&A::source, &S::build_requires>("source.requires", "`requires` of its pyproject.toml"),
    field<&A::job, &J::tree>("job.tree", "its build tree, `WORK/trees/TREE`; empty: it builds nothing"),
    field<&A::job, &J::builds_in>("job.builds_in",
                                  "the attempt that began its build tree, if it continues one; else empty"),
    field<&A::job, &J::max_walltime_minutes>("job.max_walltime_minutes", "requested by its job; 0: no limit"),
    field<&A::job, &J::memory_mib>("job.memory_mib", "requested by its job; 0: no request"),
    field<&A::job, &J::cores>("job.cores", "parallel compile jobs, if fewer than the site's cores; else 0"),
    field<&A::job, &J::remedy>("job.remedy", "what it changes after the previous attempt, and why"),
    field<&A::job, &J::submits>("job.submits", "how often it was submitted"),
    field<io::Time, &A::job, &J::submitted>("job.submitted", "when it was last submitted"),
    field<io::Time, &A::job, &J::ended>("job.ended", "when the job ended, or since when it is missing"),
    field<&A::job, &J::exit_code>("job.exit_code", "exit code in the exit record, or null"),
    field<io::ListOf<io::Nested<phase_record>>, &A::job, &J::phases>("job.phases",
                                                                     "phases in the exit record"),
    field<io::Time, &A::job, &J::asked_to_end>("job.asked_to_end",
                                               "when the agent asked its job to end after its time limit"),
    field<io::Nested<job_end_record>, &A::job, &J::end>(
        "job.end", "the end of its job as its scheduler reports it, or null"),
    field<&A::job, &J::granted, &JobGrant::max_walltime_minutes>(
        "job.granted_minutes", "what its scheduler granted instead of `job.max_walltime_minutes`, or 0"),
    field<&A::job, &J::granted, &JobGrant::memory_mib>(
        "job.granted_memory_mib", "what its scheduler granted instead of `job.memory_mib`, or 0"),
    field<wire::Governed, &A::job, &J::governed>(
        "job.governor",
        "null, or the governor's summary: `compiles`, `killed` and `oom_kills` (both run "
        "again), `could_not_fit`, `wall_s`, `high_water_bytes`, `limit_bytes`, `limit`, `worst` "
        "(`source`, `peak_bytes`, `seconds`), `messages`"),
    field<&A::wheel, &W::filename>("wheel.filename", "file name of the built wheel"),
    field<&A::wheel, &W::sha256>("wheel.sha256", "digest of its bytes"),
    field<&A::wheel, &W::size>("wheel.size", "in bytes"),
    field<&A::wheel, &W::sends>("wheel.sends", "uploads started, at most 10"),
    field<io::Time, &A::wheel, &W::sent>("wheel.sent", "when the registry accepted it"),
    field<&A::wheel, &W::index>("wheel.index",
                                "the index whose page listed it: the site's, or that of the registry's task"),
    field<&A::wheel, &W::verdicts>("verdicts", "findings of the inspection, one line each"),
    field<&A::wheel, &W::notice>(
        "wheel.notice",
        "what people should know of it: a pure wheel of a source that can have an "
        "extension, wheels of an upstream in its build; left out where there is nothing",
        Need::optional, io::Written::if_given),
    field<&A::variant, &V::filename>(
        "variant.filename", "file name of its [variant](../explanation/wheel-variants.md); empty: none"),
    field<&A::variant, &V::sha256>("variant.sha256", "digest of its bytes"),
    field<&A::variant, &V::size>("variant.size", "in bytes"),
    field<&A::variant, &V::sends>("variant.sends", "uploads started, at most 10"),
    field<io::Time, &A::variant, &V::sent>("variant.sent", "when the registry accepted it"),
    field<&A::variant, &V::index>("variant.index", "the index whose page listed it"),
    field<&A::variant, &V::not_made>("variant.not_made", "why `registry.variants_to` got none; else empty"),
    field<&A::reproduced, &R::attempt>("reproduced.attempt",
                                       "of a reproduction: the attempt that made the recorded wheel"),
    field<&A::reproduced, &R::tree>("reproduced.tree", "the build tree of that attempt"),
    field<&A::reproduced, &R::filename>("reproduced.filename", "file name of the recorded wheel"),
    field<&A::reproduced, &R::sha256>("reproduced.sha256", "its digest"),
    field<&A::reproduced, &R::identical>("reproduced.identical",
                                         "whether both wheels have the same bytes; null: not compared yet"),
    field<&A::reproduced, &R::causes>("reproduced.causes", "codes of the causes of the differences"),
    field<io::WordOf<wait_words>, &A::waiting, &Waiting::what>(
        "waiting.for",
        "what it waits for: `retry`, `person`, `login_step`, `job_slot`, `submission`, `queue`, `scheduler`, "
        "or "
        "nothing"),
    field<&A::waiting, &Waiting::tries>("waiting.tries", "temporary errors so far"),
    field<io::Time, &A::waiting, &Waiting::since>("waiting.since",
                                                  "the first of the consecutive temporary errors"),
    field<io::Time, &A::waiting, &Waiting::not_before>("waiting.not_before", "when the agent tries again"),
    field<&A::waiting, &Waiting::reason>("waiting.reason", "the reason, as text for a person"),
    field<FailureValue, &A::failure>("failure", "null, or why it failed"),
    field<&A::tree, &TreeRecord::bytes>(
        "tree.bytes",
        "size of its build tree and venv; null before they are measured, 0 after they are removed"),
    field<io::Time, &A::tree, &TreeRecord::removed>(
        "tree.removed", "when the agent removed them to keep within `work.trees_gib` of the site"),
    field<&A::asked, &Asked::for_task>(
        "for_task",
        "true: for a task of the registry that the site file does not request; "
        "the upload needs the task"),
    field<&A::asked, &Asked::with>(
        "with",
        "of a promotion: the file names of the other wheels of its set, promoted in the same request"),
    field<io::Nested<wire::uploaded_record>, &A::asked, &Asked::uploaded>(
        "uploaded", "null, or the uploaded source that it builds in a namespace", Need::valid),
    field<io::Nested<closure_part_record>, &A::asked, &Asked::closure>(
        "closure",
        "what makes a cell of a closure: `taken`, `sha256`, `lock`, `strangers`; its job installs from the "
        "index "
        "of the site alone; left out of other cells",
        Need::valid, io::Written::if_given),
    field<&A::superseded>("superseded", "true after `retry`: no longer counted"),
});

}  // namespace

std::string render_attempt(const Attempt& attempt) {
    Json json = Json::object({{"format", attempt_format}});
    attempt_record.write_into(json, attempt);
    return json.render_pretty();
}

base::Result<Attempt> parse_attempt(std::string_view text) {
    const auto json = io::parse_json(text);
    if (!json) return base::fail("journal.broken", "A journal file is not JSON: " + json.error().sentence);
    const std::string found = json->string_or("format", "");
    if (found != attempt_format) {
        return base::fail("journal.format",
                          "The format of a journal file is not " + std::string(attempt_format), found,
                          "use the version of wheelyard-builder that wrote it");
    }
    Attempt attempt;
    io::Fault fault;
    if (!attempt_record.read(*json, attempt, fault))
        return base::fail("journal.broken", "A journal file cannot be read: " + fault.sentence(),
                          fault.value);
    return attempt;
}

std::string render_attempt_fields() {
    return attempt_record.document(attempt_format);
}

}  // namespace wheelyard::builder
