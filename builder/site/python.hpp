// What a Python interpreter of the site says about itself: version, prefix, and the tags it accepts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::builder {

struct Python {
    std::string version;  // "3.11", as the site names it
    std::filesystem::path executable;
    std::string full_version;  // "3.11.2"
    std::filesystem::path prefix;
    wheel::Environment environment;
    std::vector<wheel::Tag> tags;  // what pip would install there, best first

    // "cp311", "cp313t", "pp310": the name in task ids.
    [[nodiscard]] std::string tag() const;
};

// Reads the answer to the probe (one JSON object). Pure.
[[nodiscard]] base::Result<Python> parse_python(std::string_view answer, const PythonChoice& choice);

// Runs the interpreter once, after `setup`: bash that brings a Python that only a module or Conda has; empty
// where it needs none. Errors: "python.missing", "python.broken", "python.other_version" (it is not the
// version promised).
[[nodiscard]] base::Result<Python> probe_python(const PythonChoice& choice, const std::string& setup = "");

// The index that this interpreter's pip uses without configuration: asked of pip itself, because distributors
// change it.
[[nodiscard]] base::Result<std::string> ask_default_index(const Python& python);

}  // namespace wheelyard::builder
