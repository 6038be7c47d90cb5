// Reading and writing the graph, and what follows from it.
#include "builder/closure/closure.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/io/record.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {
namespace {

using io::field;
using io::Need;

constexpr std::string_view closure_format = "wheelyard.closure/1";
constexpr std::size_t max_releases = 10'000;  // the resolver ends far below

constexpr auto file_record = io::record<ReleaseFile>({
    field<&ReleaseFile::filename>("filename", "name of the sdist or the wheel"),
    field<&ReleaseFile::url>("url", "where the index has it, without secrets"),
    field<&ReleaseFile::sha256>("sha256", "digest of its bytes"),
    field<&ReleaseFile::size>("size", "in bytes; 0: not downloaded"),
});
constexpr auto reason_record = io::record<ReleaseReason>({
    field<&ReleaseReason::of>("of", "the release that asks for it; empty: the want"),
    field<&ReleaseReason::kind>("kind", "`wanted`, `run`, `build`, `asked` (by a back end), `recipe`",
                                Need::required),
    field<&ReleaseReason::text>("text", "the requirement"),
});
constexpr auto edge_record = io::record<ReleaseEdge>({
    field<&ReleaseEdge::of>("of", "the release that has to be there first", Need::required),
    field<&ReleaseEdge::kind>("kind", "`build` or `run`", Need::required),
});
constexpr auto release_record = io::record<ClosureRelease>({
    field<&ClosureRelease::name>("name", "normalised", Need::required),
    field<&ClosureRelease::version>("version", "as pip names it", Need::required),
    field<io::WordOf<release_hows>, &ClosureRelease::how>("how", "how it becomes a wheel of the index",
                                                          Need::required),
    field<io::Nested<file_record>, &ClosureRelease::file>("file", "what it is built from, or taken",
                                                          Need::valid),
    field<&ClosureRelease::note>("note", "why not otherwise"),
    field<&ClosureRelease::runtime>("runtime", "needed to run what is wanted"),
    field<&ClosureRelease::loose>("loose",
                                  "its test also takes wheels from elsewhere: a cycle of requirements"),
    field<io::ListOf<io::Nested<reason_record>, max_releases>, &ClosureRelease::why>("why", "who asks for it",
                                                                                     Need::valid),
    field<io::ListOf<io::Nested<edge_record>, max_releases>, &ClosureRelease::after>("after", "what it needs",
                                                                                     Need::valid),
});
constexpr auto closure_record = io::record<Closure>({
    field<&Closure::requirement>("requirement", "what is wanted", Need::required),
    field<&Closure::mode>("mode", "`compiled` or `source`", Need::required),
    field<&Closure::python>("python", "the interpreter's version"),
    field<&Closure::resolver>("resolver", "what chose the versions"),
    field<&Closure::root>("root", "the release that is wanted", Need::required),
    field<io::ListOf<io::Nested<release_record>, max_releases>, &Closure::releases>(
        "releases", "each before what it needs", Need::required),
});

std::string quoted(const std::string& text) {
    return io::Json(text).render();  // of these texts a JSON string is a basic string of TOML
}

std::string file_of_lock(const ReleaseFile& file) {
    return "{ name = " + quoted(file.filename) + ", url = " + quoted(file.url) +
           (file.size > 0 ? ", size = " + std::to_string(file.size) : "") +
           ", hashes = { sha256 = " + quoted(file.sha256) + " } }";
}

ClosureWant closure_want_of(const Closure& closure, const ClosureRelease& release) {
    ClosureWant made;
    made.why = why_needed(closure, release);
    if (release.how == ReleaseHow::none)
        made.problem = release.note.empty() ? "its closure does not say how it is made" : release.note;
    const bool is_own = release.how == ReleaseHow::sdist || release.how == ReleaseHow::wheel;
    if (is_own && !release.loose)
        made.part = ClosurePart{release.how == ReleaseHow::wheel, release.file.sha256};
    made.is_upstreams_wheel = release.how == ReleaseHow::wheel && !release.note.empty();
    if (made.is_upstreams_wheel)
        made.why += (made.why.empty() ? "" : "; ") + std::string("an upstream's wheel: ") + release.note;
    if (release.how == ReleaseHow::recipe) return made;  // its job installs as pip is configured
    for (const auto& edge : release.after) {
        const ClosureRelease* other = closure.find(edge.of);
        if (other != nullptr) made.after.push_back({other->name, other->version, edge.kind == "build"});
    }
    return made;
}

}  // namespace

const ClosureRelease* Closure::find(std::string_view id) const {
    const auto found = std::find_if(releases.begin(), releases.end(),
                                    [&](const ClosureRelease& one) { return one.id() == id; });
    return found == releases.end() ? nullptr : &*found;
}

base::Result<Closure> parse_closure(std::string_view text) {
    const auto json = io::parse_json(text);
    if (!json || json->string_or("format", "") != closure_format)
        return base::fail("closure.format",
                          "The file of a closure is not of format " + std::string(closure_format),
                          json ? json->string_or("format", "") : json.error().sentence, "resolve it again");
    Closure closure;
    io::Fault fault;
    if (!closure_record.read(*json, closure, fault))
        return base::fail("closure.broken", "The file of a closure cannot be read: " + fault.sentence(),
                          fault.value, "resolve it again");
    if (closure.find(closure.root) == nullptr)
        return base::fail("closure.broken", "The file of a closure lacks the release that is wanted",
                          closure.root, "resolve it again");
    for (const ClosureRelease& release : closure.releases) {
        if (!wheel::is_valid_name(release.name) || !wheel::Version::parse(release.version))
            return base::fail("closure.broken", "The file of a closure has a release that is none",
                              release.id(), "resolve it again");
        for (const auto& edge : release.after) {
            if (closure.find(edge.of) == nullptr)
                return base::fail("closure.broken", "The file of a closure lacks what a release needs",
                                  edge.of, "resolve it again");
        }
    }
    return closure;
}

std::string render_closure(const Closure& closure) {
    io::Json json = io::Json::object({{"format", closure_format}});
    closure_record.write_into(json, closure);
    return json.render_pretty();
}

std::string render_pylock(const Closure& closure) {
    std::string text =
        "lock-version = \"1.0\"\ncreated-by = \"wheelyard-builder\"\n# Versions: " + closure.resolver +
        ", with Python " + closure.python + "\n";
    for (const ClosureRelease& release : closure.releases) {
        if (!release.runtime || release.file.sha256.empty()) continue;
        text += "\n[[packages]]\nname = " + quoted(release.name) + "\nversion = " + quoted(release.version) +
                "\n";
        const bool is_wheel = release.file.filename.ends_with(".whl");
        text += is_wheel ? "wheels = [" + file_of_lock(release.file) + "]\n"
                         : "sdist = " + file_of_lock(release.file) + "\n";
    }
    return text;
}

std::string why_needed(const Closure& closure, const ClosureRelease& release) {
    if (release.id() == closure.root || release.why.empty()) return {};
    const ReleaseReason& first = release.why.front();
    const ClosureRelease* by = closure.find(first.of);
    if (by == nullptr) return {};
    return "needed by " + by->name + " " + by->version + ", to " + (first.kind == "run" ? "run" : "build");
}

std::vector<Want> wants_of(const Closure& closure, const Want& want, const std::string& python) {
    std::vector<Want> wants;
    for (const ClosureRelease& release : closure.releases) {
        Want one{release.name, {release.version}, {python}, want.accelerators};
        if (release.id() == closure.root) {
            one = want;
            one.versions = {release.version};
            one.pythons = {python};
        }
        one.of_closure = closure_want_of(closure, release);
        wants.push_back(std::move(one));
    }
    return wants;
}

}  // namespace wheelyard::builder
