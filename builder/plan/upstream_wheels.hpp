// The wheels of an upstream for a Python: which one is taken, and why none is. Pure.
#pragma once

#include <optional>
#include <string>

#include "builder/plan/offers.hpp"
#include "builder/site/python.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

// Whether pip would take this wheel: its tags and its Requires-Python.
[[nodiscard]] bool fits_python(const SdistOffer& wheel, const Python& python);

// The wheel of this version that pip takes; nullptr: none fits. A version without a local label accepts each label.
[[nodiscard]] const SdistOffer* choose_wheel(const SdistOffers& offers, const wheel::Version& version,
                                             const Python& python);

// Why none is taken: "no wheel of torch 2.9.0 fits Python 3.9.2: …; the newest that fits is 2.8.0".
[[nodiscard]] std::string why_no_wheel(const std::string& project, const SdistOffers& offers,
                                       const std::string& wanted, const Python& python);

// For a want that is built and has no sdist: what `from = "upstream"` in its [[want]] would take. Empty: there is no wheel of
// this version.
[[nodiscard]] std::string wheel_instead(const SdistOffers& offers, const std::string& wanted,
                                        const Python& python);

}  // namespace wheelyard::builder
