// A closure: the releases that one requirement needs to run and to be built, as pip chose them for one
// interpreter. Pure.
//
//     {"format": "wheelyard.closure/1", "requirement": "pandas", "mode": "compiled", "python": "3.12.4", "resolver": "pip 25.3",
//      "root": "pandas==3.1.1", "releases": [
//       {"name": "pandas", "version": "3.1.1", "how": "sdist", "file": {"filename": …, "url": …, "sha256": …, "size": …},
//        "runtime": true, "why": [{"of": "", "kind": "wanted", "text": "pandas"}],
//        "after": [{"of": "cython==3.1.2", "kind": "build"}, {"of": "numpy==2.4.6", "kind": "run"}]}, …]}
//
// Each release comes before what it needs; `after` has no cycle. Two environments may have two versions of
// one project.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// How a release becomes a wheel of the index.
enum class ReleaseHow {
    sdist,   // built here, its build environment locked
    wheel,   // an upstream's wheel: a pure one, or where nothing else is there
    recipe,  // by a recipe with a source or requirements of its own, as without a closure
    none,    // it cannot be had: `note` says why
};
inline constexpr auto release_hows = base::words<ReleaseHow>({{ReleaseHow::sdist, "sdist"},
                                                              {ReleaseHow::wheel, "wheel"},
                                                              {ReleaseHow::recipe, "recipe"},
                                                              {ReleaseHow::none, "none"}});

struct ReleaseFile {
    std::string filename;
    std::string url;  // without secrets
    std::string sha256;
    std::int64_t size = 0;  // of what was downloaded to resolve; else 0
};
// Who asks for a release: `of` (empty: the want), by these words, to run, to build, because its back end or
// its recipe says so.
struct ReleaseReason {
    std::string of;
    std::string kind;  // "wanted", "run", "build", "asked", "recipe"
    std::string text;  // "numpy>=2"
};
struct ReleaseEdge {
    std::string of;
    std::string kind;  // "build" or "run"
};
struct ClosureRelease {
    std::string name;
    std::string version;
    ReleaseHow how = ReleaseHow::none;
    ReleaseFile file;
    std::string note;  // why not otherwise: "the release has no sdist", a cycle, a failure
    bool runtime = false;
    bool loose = false;  // a cycle of run-time requirements: its test also takes wheels from elsewhere
    std::vector<ReleaseReason> why;
    std::vector<ReleaseEdge> after;
    [[nodiscard]] std::string id() const { return name + "==" + version; }
};

struct Closure {
    std::string requirement;
    std::string mode;
    std::string python;
    std::string resolver;
    std::string root;  // the id of what is wanted
    std::vector<ClosureRelease> releases;
    [[nodiscard]] const ClosureRelease* find(std::string_view id) const;
};

// Errors: "closure.format" (another one, or none), "closure.broken" (a member or the release that it names is
// missing).
[[nodiscard]] base::Result<Closure> parse_closure(std::string_view text);
[[nodiscard]] std::string render_closure(const Closure& closure);

// The run-time part as a pylock.toml (https://packaging.python.org/en/latest/specifications/pylock-toml/).
[[nodiscard]] std::string render_pylock(const Closure& closure);

// "needed by pandas 3.1.1, to build" by the first that asks for it; empty for what is wanted itself.
[[nodiscard]] std::string why_needed(const Closure& closure, const ClosureRelease& release);

// A want for each release, in their order: `want` itself with its version pinned, then what it needs.
[[nodiscard]] std::vector<Want> wants_of(const Closure& closure, const Want& want, const std::string& python);

}  // namespace wheelyard::builder
