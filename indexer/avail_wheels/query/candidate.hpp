// A wheel from a source, before filtering.
//
// A list has far fewer releases than wheels and only a few dozen tag sets. Wheels share both by pointer, so
// that only about 10,000 names are parsed for 100,000 wheels.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/simple/page.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::avail_wheels {

// The part of a file name before its tags …
struct Release {
    std::string name;     // as written
    std::string project;  // normalised (PEP 503)
    std::string key;      // sort key: wheel::escape_name
    wheel::Version version;
    std::string public_version;  // without the local part
    std::string build;           // the build tag; usually empty
};

// … and the tags.
struct TagSet {
    std::string text;                  // "py2.py3-none-any", with the variant label if there is one
    std::vector<std::string> pythons;  // the compressed tags as written, split at '.'
    std::vector<std::string> abis;
    std::vector<std::string> platforms;
    std::vector<wheel::Tag> tags;  // expanded
    std::string variant;           // the variant label (PEP 825); usually empty
    std::string python;            // for display: "py2,py3"
    std::string arch;              // arch_of_platforms
};

struct WheelName {
    std::shared_ptr<const Release> release;
    std::shared_ptr<const TagSet> tags;
};

struct Candidate {
    std::shared_ptr<const Release> release;
    std::shared_ptr<const TagSet> tags;
    simple::FileLink link;
    std::string arch;        // "generic", "x86_64"; or the architecture folder of a wheelhouse: "avx2"
    std::string facts = {};  // JSON of the wheel list, or of the wheel in a folder; empty: unknown
    std::string no_facts =
        {};  // why the file was not read: "could not be read"; empty: only its name was asked
    // Set if a node was checked: "yes", "no" or "unknown"; the latter two with a reason and advice.
    std::string runs = {};
    std::string why_code = {};
    std::string why = {};
    std::string advice = {};
};

[[nodiscard]] inline bool is_other_project(const Candidate& a, const Candidate& b) {
    return a.release != b.release && a.release->key != b.release->key;
}

// An empty `arch` means that of the platform tags.
[[nodiscard]] Candidate make_candidate(WheelName name, simple::FileLink link, const std::string& arch = {});

// Says whether the facts may have a member, before they are parsed. `text`, as `built":`, does not begin with
// its quote, of which facts are full: a search would stop at each.
[[nodiscard]] inline bool may_have(const Candidate& candidate, std::string_view text) {
    return candidate.facts.find(text) != std::string::npos;
}

// For maps with std::string keys and string_view lookups.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// Splits "torch-2.4.0-1-cp312-cp312-linux_x86_64.whl" at the dash before its tags, into "torch-2.4.0-1" and
// "cp312-cp312-linux_x86_64" (plus a variant label if there is one). nullopt: not the parts of a wheel name.
struct FilenameHalves {
    std::string_view release;
    std::string_view tags;
};
[[nodiscard]] std::optional<FilenameHalves> halves_of(std::string_view filename);

// Parses file names and caches the parts: the last release, which neighbours in a list usually share, and
// every tag set.
class WheelNames {
  public:
    // nullopt: not a wheel name.
    [[nodiscard]] std::optional<WheelName> parse(std::string_view filename);
    // Takes FilenameHalves::tags; nullptr: not seen yet.
    [[nodiscard]] const TagSet* known_tags(std::string_view tags) const;

  private:
    std::string release_text_;  // as written in the last name
    std::shared_ptr<const Release> release_;
    TextMap<std::shared_ptr<const TagSet>> tag_sets_;
};

// "generic" for `any`, otherwise the machine ("x86_64"); several are joined by ",". Platforms without a
// machine are returned unchanged ("win32").
[[nodiscard]] std::string arch_of_platforms(const std::vector<std::string>& platforms);

// A tag set for display: sorted and unique, "py2,py3".
[[nodiscard]] std::string joined_tags(const std::vector<std::string>& tags);

}  // namespace wheelyard::avail_wheels
