// The sdists that indexes and folders offer, and the choice of one for a version. Pure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/python.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/page.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

// One sdist, or one wheel, that an index or a folder offers.
struct SdistOffer {
    wheel::Version version;
    std::string filename;
    std::string url;             // for an index; empty for a folder
    std::filesystem::path file;  // for a folder; empty for an index
    std::string sha256;          // empty if the index or folder gives none
    std::string requires_python;
    bool yanked = false;
    std::string place;  // the index or folder, without secrets
};

struct SdistOffers {
    std::vector<SdistOffer> sdists;  // in the order of places
    // All indexes and folders queried, with their configuration setting: "https://… (PIP_INDEX_URL)".
    std::vector<std::string> places;
    // An extra index or a page of find-links that does not answer, if there is one: versions may be missing.
    std::optional<base::Error> unanswered = std::nullopt;
    bool has_project = false;  // one of them has a page of the project, or a file
    std::vector<SdistOffer> wheels = {};
};

// Why none of the sdists is of the version, or in the set of versions, that the site file names: for people.
[[nodiscard]] std::string why_no_sdist(const std::string& project, const SdistOffers& offers,
                                       const std::string& wanted);

// Why no sdist of this project builds it: it is known to be a stub or a placeholder. Empty: none is known.
[[nodiscard]] std::string why_stub(std::string_view project);

// What shows in the files of an sdist that it builds nothing: `file` has `text`; without a file, that is the
// name of its back end.
struct StubMark {
    std::string_view file, text;
    std::string_view does;  // "downloads a wheel from another index"
};
[[nodiscard]] std::vector<StubMark> stub_marks();

// Says whether `name` is a single path component and does not begin like an option. Sources are stored under
// it.
[[nodiscard]] bool is_file_name(std::string_view name);

[[nodiscard]] std::vector<SdistOffer> sdists_on_page(const simple::ProjectPage& page,
                                                     const std::string& project, const std::string& place);
// The best offer for exactly `version`; nullptr if there is none. In order of weight: not a digest other than
// the pinned one, not yanked, .tar.gz before .zip, first place.
[[nodiscard]] const SdistOffer* choose_sdist(const std::vector<SdistOffer>& offers,
                                             const wheel::Version& version, const std::string& pinned_sha256);

// The wheels of an upstream for a Python: which one is taken, and why none is. Pure.

// Says whether pip would take this wheel: its tags and its Requires-Python.
[[nodiscard]] bool fits_python(const SdistOffer& wheel, const Python& python);

// The wheel of this version that pip takes; nullptr: none fits. A version without a local label accepts each
// label.
[[nodiscard]] const SdistOffer* choose_wheel(const SdistOffers& offers, const wheel::Version& version,
                                             const Python& python);

// Why none is taken: "no wheel of torch 2.9.0 fits Python 3.9.2: …; the newest that fits is 2.8.0".
[[nodiscard]] std::string why_no_wheel(const std::string& project, const SdistOffers& offers,
                                       const std::string& wanted, const Python& python);

// For a want that is built and has no sdist: what `from = "upstream"` in its [[want]] would take. Empty:
// there is no wheel of this version.
[[nodiscard]] std::string wheel_instead(const SdistOffers& offers, const std::string& wanted,
                                        const Python& python);

}  // namespace wheelyard::builder
