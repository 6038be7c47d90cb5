// A wheel that a source offers, before anything is chosen.
//
// A list has far fewer releases than wheels and only a few dozen sets of tags, so wheels point to theirs
// instead of holding them: of 100,000 wheels hardly 10,000 names are taken apart.
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

// What a file name says before its tags.
struct Release {
    std::string name;     // as written
    std::string project;  // normalised (PEP 503)
    std::string key;      // by which names sort: wheel::escape_name
    wheel::Version version;
    std::string public_version;  // as it is shown, without the local part
    std::string build;           // the build tag, mostly none
};

// … and from its tags on.
struct TagSet {
    std::string text;                  // "py2.py3-none-any", and a variant label if there is one
    std::vector<std::string> pythons;  // the compressed sets as written, split at '.'
    std::vector<std::string> abis;
    std::vector<std::string> platforms;
    std::vector<wheel::Tag> tags;  // expanded
    std::string python;            // as it is shown: "py2,py3"
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
    std::string arch;        // "generic", "x86_64"; in a wheelhouse sorted by architecture its folder: "avx2"
    std::string facts = {};  // of the catalogue, JSON; empty: nothing is known
    // Where a node was asked about: "yes", "no" or "unknown", and in the latter two why, and what to do.
    std::string runs = {};
    std::string why_code = {};
    std::string why = {};
    std::string advice = {};
};

[[nodiscard]] inline bool is_other_project(const Candidate& a, const Candidate& b) {
    return a.release != b.release && a.release->key != b.release->key;
}

// `arch` empty: that of the platform tags.
[[nodiscard]] Candidate make_candidate(WheelName name, simple::FileLink link, const std::string& arch = {});

// For maps that are asked with a part of a longer text.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// "torch-2.4.0-1-cp312-cp312-linux_x86_64.whl" at the dash before its tags: "torch-2.4.0-1" and
// "cp312-cp312-linux_x86_64", with a variant label if there is one. nullopt: it has not the parts of a
// wheel's.
struct FilenameHalves {
    std::string_view release;
    std::string_view tags;
};
[[nodiscard]] std::optional<FilenameHalves> halves_of(std::string_view filename);

// Takes file names apart and remembers the parts: the last release, as neighbours in a list mostly share it,
// and every set of tags.
class WheelNames {
  public:
    // nullopt: this is no wheel's name.
    [[nodiscard]] std::optional<WheelName> parse(std::string_view filename);
    // Of FilenameHalves::tags; nullptr: not met yet.
    [[nodiscard]] const TagSet* known_tags(std::string_view tags) const;

  private:
    std::string release_text_;  // as the last name had it
    std::shared_ptr<const Release> release_;
    TextMap<std::shared_ptr<const TagSet>> tag_sets_;
};

// "generic" for `any`, else the machine ("x86_64"), several joined by ",". Platforms without a machine stay
// as they are ("win32").
[[nodiscard]] std::string arch_of_platforms(const std::vector<std::string>& platforms);

// A compressed tag set as it is shown: sorted, each once, "py2,py3".
[[nodiscard]] std::string joined_tags(const std::vector<std::string>& tags);

}  // namespace wheelyard::avail_wheels
