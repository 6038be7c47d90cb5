// The Python interpreters of a site: version, prefix, and the wheel tags that each accepts.
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
    std::string version;  // as in site.toml: "3.11"
    std::filesystem::path executable;
    std::string full_version;  // "3.11.2"
    std::filesystem::path prefix;
    wheel::Environment environment;
    std::vector<wheel::Tag> tags;  // the tags that pip accepts, best first

    // "cp311", "cp313t", "pp310": the Python part of a cell's name.
    [[nodiscard]] std::string tag() const;
};

// Parses the output of the probe (one JSON object). Pure.
[[nodiscard]] base::Result<Python> parse_python(std::string_view answer, const PythonChoice& choice);

// Runs the interpreter once to read its properties. `setup` is bash that loads the module or Conda
// environment that provides the interpreter; empty where none is needed. Errors: "python.missing",
// "python.broken", "python.other_version" (the interpreter's version differs from the one in site.toml).
[[nodiscard]] base::Result<Python> probe_python(const PythonChoice& choice, const std::string& setup = "");

// The index URL that this interpreter's pip uses when nothing is configured. Runs pip to find out, because
// distributors change the default.
[[nodiscard]] base::Result<std::string> ask_default_index(const Python& python);

}  // namespace wheelyard::builder
