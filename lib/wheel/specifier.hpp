// Version specifiers (PEP 440): `~= == != <= >= < > ===`, prefix matches, and comma-separated sets of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::wheel {

enum class Comparison { compatible, equal, not_equal, less_equal, greater_equal, less, greater, arbitrary };

class Specifier {
  public:
    // Errors: "specifier.invalid", "specifier.too_long".
    [[nodiscard]] static base::Result<Specifier> parse(std::string_view text);
    // Says whether `version` matches; pre-releases get no special treatment (see SpecifierSet).
    [[nodiscard]] bool contains(const Version& version) const;
    [[nodiscard]] Comparison comparison() const { return comparison_; }
    [[nodiscard]] std::string text() const;  // ">=1.2", "==1.4.*"
    [[nodiscard]] bool mentions_prerelease()
        const;                            // its version is a pre-release and the operator is not `!=`
    [[nodiscard]] bool is_exact() const;  // `==` without prefix match, or `===`
    bool operator==(const Specifier&) const = default;

  private:
    [[nodiscard]] bool matches_equal(const Version& version) const;
    [[nodiscard]] bool matches_less(const Version& version) const;
    [[nodiscard]] bool matches_greater(const Version& version) const;

    Comparison comparison_ = Comparison::equal;
    Version version_;
    bool prefix_match_ = false;
    std::string written_;  // the version as written, with `.*`
};

enum class Prereleases { as_specified, allowed, excluded };

class SpecifierSet {
  public:
    SpecifierSet() = default;  // matches everything
    // Errors: those of Specifier::parse, "specifier.too_many".
    [[nodiscard]] static base::Result<SpecifierSet> parse(std::string_view text);
    // as_specified: a pre-release matches only if a specifier of the set mentions one (PEP 440 "Handling of
    // pre-releases"). The fallback for projects with only pre-releases is up to the caller.
    [[nodiscard]] bool contains(const Version& version,
                                Prereleases prereleases = Prereleases::as_specified) const;
    void add(const SpecifierSet& other);  // what both match is left
    [[nodiscard]] const std::vector<Specifier>& specifiers() const { return specifiers_; }
    [[nodiscard]] bool empty() const { return specifiers_.empty(); }
    [[nodiscard]] std::string text() const;  // as parsed, joined by ","

  private:
    std::vector<Specifier> specifiers_;
};

}  // namespace wheelyard::wheel
