// A wheel that a source offers, before anything is chosen.
#pragma once

#include <string>
#include <vector>

#include "lib/simple/page.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::avail_wheels {

struct Candidate {
    wheel::WheelFilename wheel;
    simple::FileLink link;
    std::string key;         // by which names sort: wheel::escape_name
    std::string arch;        // "generic", "x86_64"; in a wheelhouse sorted by architecture its folder: "avx2"
    std::string facts = {};  // of the catalogue, JSON; empty: nothing is known
    // Where a node was asked about: "yes", "no" or "unknown", and in the latter two why, and what to do.
    std::string runs = {};
    std::string why_code = {};
    std::string why = {};
    std::string advice = {};
};

// `arch` empty: that of the platform tags.
[[nodiscard]] Candidate make_candidate(wheel::WheelFilename wheel, simple::FileLink link,
                                       std::string arch = {});

// "generic" for `any`, else the machine ("x86_64"), several joined by ",". Platforms without a machine stay
// as they are ("win32").
[[nodiscard]] std::string arch_of_platforms(const wheel::WheelFilename& wheel);

// A compressed tag set as it is shown: sorted, each once, "py2,py3".
[[nodiscard]] std::string joined_tags(const std::vector<std::string>& tags);

}  // namespace wheelyard::avail_wheels
