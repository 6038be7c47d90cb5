// Ranges as in the specification "Version specifiers". Where its text is ambiguous, this follows the
// `packaging` library, which pip uses: range operators compare public versions, `<V` also excludes
// pre-releases of V, and `>V` excludes post-releases and local versions of V.
#include "lib/wheel/specifier.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/base/text/words.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {
namespace {

// Longer operators before their prefixes.
constexpr auto operators = base::words<Comparison>({{Comparison::arbitrary, "==="},
                                                    {Comparison::compatible, "~="},
                                                    {Comparison::equal, "=="},
                                                    {Comparison::not_equal, "!="},
                                                    {Comparison::less_equal, "<="},
                                                    {Comparison::greater_equal, ">="},
                                                    {Comparison::less, "<"},
                                                    {Comparison::greater, ">"}});

bool is_equality(Comparison comparison) {
    return comparison == Comparison::equal || comparison == Comparison::not_equal;
}

bool is_plain_release(const Version& version) {
    return !version.is_prerelease() && !version.is_postrelease() && !version.has_local();
}

// `===` accepts any text except white space, `;` and `)`, which end it inside a requirement.
bool is_arbitrary_version(std::string_view text) {
    return !text.empty() && text.find_first_of(" ;)") == std::string_view::npos &&
           base::is_printable_line(text);
}

}  // namespace

base::Result<Specifier> Specifier::parse(std::string_view text) {
    const auto invalid = [&](std::string sentence) {
        return base::fail("specifier.invalid", std::move(sentence), excerpt(text),
                          "e.g. >=1.2, ~=2.4, ==1.4.*");
    };
    const auto trimmed = base::trim(text);
    const auto* found = std::find_if(operators.rows.begin(), operators.rows.end(),
                                     [&](const auto& row) { return trimmed.starts_with(row.text); });
    if (found == operators.rows.end())
        return invalid("A version specifier must begin with ~= == != <= >= < > or ===");
    auto rest = base::trim(trimmed.substr(found->text.size()));

    Specifier specifier;
    specifier.comparison_ = found->value;
    specifier.written_ = rest;
    if (found->value == Comparison::arbitrary) {
        if (!is_arbitrary_version(rest)) return invalid("=== must be followed by a text without spaces");
        if (auto version = Version::parse(rest)) specifier.version_ = std::move(*version);
        return specifier;
    }
    if (rest.ends_with(".*")) {
        if (!is_equality(found->value)) return invalid("Only == and != accept a version that ends in .*");
        rest.remove_suffix(2);
        if (rest.empty() || base::trim(rest).size() != rest.size())
            return invalid(".* must follow a release number");
        specifier.prefix_match_ = true;
    }
    auto version = Version::parse(rest);
    if (!version) return invalid("The version in this specifier is not valid");
    if (specifier.prefix_match_ && !is_plain_release(*version)) {
        return invalid(".* may follow only a release number");
    }
    if (version->has_local() && !is_equality(found->value)) {
        return invalid("Only == and != accept a version with a local part");
    }
    if (found->value == Comparison::compatible && version->release().size() < 2) {
        return invalid("~= requires a version with at least two numbers, e.g. ~=2.4");
    }
    specifier.version_ = std::move(*version);
    return specifier;
}

bool Specifier::matches_equal(const Version& version) const {
    if (prefix_match_) return version.has_release_prefix(version_, version_.release_.size());
    if (version_.has_local()) return version == version_;
    return version.compare_public(version_) == 0;
}

bool Specifier::matches_less(const Version& version) const {
    if (version_.is_prerelease()) return version < version_;
    Version bound = version_;  // V.dev0 is the first pre-release of V
    bound.dev_ = Number();
    return version < bound;
}

bool Specifier::matches_greater(const Version& version) const {
    if (version.compare_public(version_) <= 0) return false;
    if (version_.dev_ || version_.post_) return true;
    const bool same_release = version.has_release_prefix(version_, version_.release_.size()) &&
                              version_.has_release_prefix(version, version.release_.size());
    return !same_release || version.pre_ != version_.pre_;
}

bool Specifier::contains(const Version& version) const {
    switch (comparison_) {
        case Comparison::compatible:
            return version >= version_ && version.has_release_prefix(version_, version_.release_.size() - 1);
        case Comparison::equal:
            return matches_equal(version);
        case Comparison::not_equal:
            return !matches_equal(version);
        case Comparison::less_equal:
            return version.compare_public(version_) <= 0;
        case Comparison::greater_equal:
            return version >= version_;
        case Comparison::less:
            return matches_less(version);
        case Comparison::greater:
            return matches_greater(version);
        case Comparison::arbitrary:
            return base::equals_ignoring_case(version.text(), written_);
    }
    return false;
}

std::string Specifier::text() const {
    return std::string(operators.text(comparison_)) + written_;
}

bool Specifier::mentions_prerelease() const {
    return comparison_ != Comparison::not_equal && version_.is_prerelease();
}

bool Specifier::is_exact() const {
    return comparison_ == Comparison::arbitrary || (comparison_ == Comparison::equal && !prefix_match_);
}

base::Result<SpecifierSet> SpecifierSet::parse(std::string_view text) {
    if (text.size() > max_specifier_set_bytes) {
        return base::fail("specifier.too_long", "The set of version specifiers is too long", excerpt(text));
    }
    SpecifierSet set;
    // Empty parts are accepted, as in every installer: published metadata contains ">=3.6,".
    for (const auto part : base::split(text, ',')) {
        if (base::trim(part).empty()) continue;
        if (set.specifiers_.size() == max_specifiers) {
            return base::fail("specifier.too_many", "Too many version specifiers", excerpt(text));
        }
        WHEELYARD_ASSIGN(auto specifier, Specifier::parse(part));
        set.specifiers_.push_back(std::move(specifier));
    }
    return set;
}

bool SpecifierSet::contains(const Version& version, Prereleases prereleases) const {
    if (version.is_prerelease() && prereleases != Prereleases::allowed) {
        const bool mentioned =
            std::any_of(specifiers_.begin(), specifiers_.end(),
                        [](const Specifier& specifier) { return specifier.mentions_prerelease(); });
        if (prereleases == Prereleases::excluded || !mentioned) return false;
    }
    return std::all_of(specifiers_.begin(), specifiers_.end(),
                       [&](const Specifier& specifier) { return specifier.contains(version); });
}

void SpecifierSet::add(const SpecifierSet& other) {
    specifiers_.insert(specifiers_.end(), other.specifiers_.begin(), other.specifiers_.end());
}

std::string SpecifierSet::text() const {
    std::vector<std::string> parts;
    parts.reserve(specifiers_.size());
    for (const auto& specifier : specifiers_)
        parts.push_back(specifier.text());
    return base::join(parts, ",");
}

}  // namespace wheelyard::wheel
