// Provenances as JSON.
#include "lib/wire/wheel_provenance.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"
#include "lib/wire/documents.hpp"
#include "lib/wire/fields.hpp"

namespace wheelyard::wire {
namespace {

using io::field;
using io::Json;

// The members of the governor's summary that name no file of the build; of the limit's source the first word.
struct GovernorCounts {
    static Json to(const GovernedBuild& build) {
        GovernedBuild shown = build;
        shown.limit.resize(std::min(shown.limit.find(' '), shown.limit.size()));
        const Json all = render_governed_build(shown);
        Json json = Json::object();
        for (const auto* name : {"compiles", "killed", "oom_kills", "could_not_fit", "wall_s",
                                 "high_water_bytes", "limit_bytes", "limit"}) {
            if (const Json* value = all.find(name); value != nullptr) json.set(name, *value);
        }
        return json;
    }
    static bool from(const Json& json, GovernedBuild& into) {
        if (json.as_object() == nullptr) return false;
        into = parse_governed_build(json);
        into.worst.clear();
        into.messages.clear();
        return true;
    }
    static std::string type() { return "object"; }
};

using W = WheelProvenance;
constexpr auto wheel_provenance_record = io::record<W>(
    {
        field<io::Nested<wheel_record>, &W::wheel>(
            "wheel", "the file that it is about; file name and digest are required"),
        field<&W::site>("site", "the site of the agent"),
        field<&W::program>("program", "the agent's name and version"),
        field<&W::attempt>("attempt", "ID of the attempt"),
        field<&W::number>("number", "the attempt's number at this cell"),
        field<&W::cell>("cell", "the cell of the site's plan"),
        field<&W::package>("package", "what was asked for: the project"),
        field<&W::version>("version", "what was asked for"),
        field<&W::python>("python", "what was asked for"),
        field<&W::accelerator>("accelerator", "what was asked for; empty: one wheel for all accelerators"),
        field<Moment, &W::began>("began", "when the attempt was created"),
        field<io::Nested<source_record>, &W::source>("source", "what was built"),
        field<&W::build, &Provenance::script_sha256>("build.script_sha256", "of the job's script"),
        field<&W::build, &Provenance::system>("build.system", "kernel and machine"),
        field<&W::build, &Provenance::modules>("build.modules", "loaded modules"),
        field<TextPairs, &W::build, &Provenance::tools>("build.tools",
                                                        "compilers and tools with their `--version` lines"),
        field<TextPairs, &W::build, &Provenance::environment>(
            "build.environment",
            "compilers, their options and what PyTorch's and CMake's builds read, nothing else; values with "
            "credentials are "
            "`(hidden)`"),
        field<TextPairs, &W::build, &Provenance::requirements>(
            "build.requirements",
            "the wheels of the build environment that were installed by hash: a requirements file's, a "
            "closure's"),
        field<&W::recipe>("recipe", "the name of the recipe's file; left out where the package has none",
                          io::Need::optional, io::Written::if_given),
        field<&W::recipe_sha256>("recipe_sha256",
                                 "its digest; left out where it was changed after the attempt began",
                                 io::Need::optional, io::Written::if_given),
        field<&W::node_type>("node_type", "the node type of the site's description that builds run on",
                             io::Need::optional, io::Written::if_given),
        field<GovernorCounts, &W::governed>(
            "governor",
            "the governor's summary: `compiles`, `killed`, `oom_kills`, `could_not_fit`, `wall_s`, "
            "`high_water_bytes`, `limit_bytes`, `limit`, as in [the journal](journal.md), without sources, "
            "messages and the "
            "limit's path; left out where it did not run",
            io::Need::optional, io::Written::unless_null),
        field<&W::notice>("notice", "what people should know of the wheel; left out where there is nothing",
                          io::Need::optional, io::Written::if_given),
        field<&W::log>("log", "the command that prints the log at the site"),
        field<&W::is_cut>("cut", "`true`: the document was too large, and lists were left out",
                          io::Need::optional, io::Written::if_given),
    },
    "wheelyard.provenance/1");

std::string render(const WheelProvenance& provenance) {
    return wheel_provenance_record.write(provenance).render() + "\n";
}

tl::unexpected<base::Error> fail_too_large(std::size_t size) {
    return base::fail_malformed("provenance.too_large", "The provenance is too large",
                                std::to_string(size) + " bytes",
                                "send at most " + std::to_string(max_provenance_bytes) + " bytes");
}

}  // namespace

std::string render_wheel_provenance(const WheelProvenance& provenance) {
    std::string whole = render(provenance);
    if (whole.size() <= max_provenance_bytes) return whole;
    WheelProvenance shorter = provenance;
    shorter.is_cut = true;
    shorter.build.requirements.clear();
    if (std::string text = render(shorter); text.size() <= max_provenance_bytes) return text;
    shorter.build.modules.clear();
    shorter.build.tools.clear();
    shorter.build.environment.clear();
    return render(shorter);
}

base::Result<WheelProvenance> parse_wheel_provenance(std::string_view text) {
    if (text.size() > max_provenance_bytes) return fail_too_large(text.size());
    WHEELYARD_ASSIGN(const Json json, io::parse_json(text));
    const std::string found = json.string_or("format", "");
    if (found != wheel_provenance_record.format)
        return base::fail_malformed(
            "provenance.format",
            "The provenance does not have the format " + std::string(wheel_provenance_record.format), found,
            "upgrade the older of agent and registry");
    WheelProvenance provenance;
    WHEELYARD_TRY(wheel_provenance_record.read(json, provenance));
    if (provenance.wheel.filename.empty() || !base::is_sha256_hex(provenance.wheel.sha256))
        return base::fail_malformed("provenance.wheel", "The provenance does not name its wheel",
                                    provenance.wheel.filename, "send the wheel's filename and sha256");
    // Escaped characters can make our rendering longer than the text.
    WheelProvenance longest = provenance;
    longest.is_cut = true;
    const std::size_t size = render(longest).size();
    if (size > max_provenance_bytes) return fail_too_large(size);
    return provenance;
}

Json governor_counts(const GovernedBuild& build) {
    return GovernorCounts::to(build);
}

io::Document wheel_provenance_document() {
    return {
        .name = wheel_provenance_record.format, .tables = {wheel_provenance_record.members}, .is_kept = true};
}

std::string document_wheel_provenance() {
    return wheel_provenance_record.document(wheel_provenance_record.format);
}

}  // namespace wheelyard::wire
