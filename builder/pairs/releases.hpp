// The final releases of a project in the configured indexes, with what the metadata of one wheel of each says.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "builder/sources/places.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

struct Release {
    wheel::Version version;
    bool has_wheel = false;
    // The newest CPython that one of its wheels is for ("3.15"); nullopt: they are for no particular one.
    std::optional<wheel::Version> newest_python = std::nullopt;
    bool one_for_all = false;  // one wheel serves every Python: pure, or of the stable ABI
    bool is_pure = false;
    // From the metadata, if it was requested.
    std::string requires_python = {};
    std::vector<wheel::Requirement> requirements = {};  // that its wheel has on Linux, without extras
};

struct Project {
    std::vector<Release> releases;           // in order, without pre-releases and yanked ones
    std::string source;                      // the page of the project, for people
    std::vector<std::string> problems = {};  // what could not be read
};
using Projects = std::map<std::string, Project>;  // by normalised name

// The oldest Python that Requires-Python allows: "3.9" of ">=3.8,>=3.9.2,!=3.10.*"; nullopt: it has no such bound.
[[nodiscard]] std::optional<std::string> oldest_python(const std::string& requires_python);

// The page for people: that of PyPI on pypi.org, else that of the index itself.
[[nodiscard]] std::string page_for_people(const std::string& index, const std::string& project);

using IsWanted = std::function<bool(const wheel::Version&)>;
// Reads the metadata of each release that `is_wanted`. An empty project: no place has it. Error: a place does not answer.
[[nodiscard]] base::Result<Project> read_project(Places& places, io::HttpClient& http,
                                                 const std::string& name, const IsWanted& is_wanted);

}  // namespace wheelyard::builder
