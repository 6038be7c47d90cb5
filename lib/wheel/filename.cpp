// The parts are split at '-' and identified by count and first character: a build tag begins with a digit, a
// Python tag never does, and a part after the platform is a variant label (PEP 825).
#include "lib/wheel/filename.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/text.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {
namespace {

constexpr std::string_view wheel_extension = ".whl";
constexpr std::array<std::string_view, 2> sdist_extensions{".tar.gz", ".zip"};

// The characters allowed in a file name: printable ASCII except those that separate paths or need quoting.
bool has_only_name_characters(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return base::is_ascii_alnum(c) || c == '-' || c == '_' || c == '.' || c == '+' || c == '!';
    });
}

std::vector<std::string> split_set(std::string_view text) {
    const auto members = base::split(text, '.');
    return {members.begin(), members.end()};
}

// Releases of `wheel` before 0.38 wrote the '-' of "1.0-1" as '_' (PEP 427's escaping).
base::Result<Version> parse_escaped_version(std::string_view text) {
    auto version = Version::parse(text);
    if (version || text.find('_') == std::string_view::npos) return version;
    return Version::parse(base::replace_all(text, "_", "-"));
}

base::Result<BuildTag> parse_build_tag(std::string_view text) {
    std::size_t digits = 0;
    while (digits < text.size() && base::is_ascii_digit(text[digits]))
        ++digits;
    const auto rest = text.substr(digits);
    if (digits == 0 || rest.find_first_of("+!") != std::string_view::npos) {
        return base::fail("filename.build",
                          "The build tag must be digits followed by letters, digits, dots or underscores",
                          excerpt(text));
    }
    return BuildTag{Number(text.substr(0, digits)), std::string(rest)};
}

// Which optional parts a file name has.
struct Layout {
    bool has_build = false;
    bool has_variant = false;
};

std::optional<Layout> layout_of(const std::vector<std::string_view>& parts) {
    const auto begins_with_digit = [](std::string_view part) {
        return !part.empty() && base::is_ascii_digit(part[0]);
    };
    const auto is_abi = [](std::string_view part) {
        return part == "none" || part == "abi3" || part.starts_with("cp") || part.starts_with("pypy");
    };
    const auto is_platform = [](std::string_view part) {
        return parse_platform(part.substr(0, part.find('.'))).kind != PlatformKind::other;
    };
    switch (parts.size()) {
        case 5:
            return Layout{};
        case 6:  // a platform in the place of a label follows a build tag, if a wrong one
            return begins_with_digit(parts[2]) || (is_abi(parts[4]) && is_platform(parts[5]))
                       ? Layout{true, false}
                       : Layout{false, true};
        case 7:
            return Layout{true, true};
        default:
            return std::nullopt;
    }
}

base::Status check_characters(std::string_view filename) {
    if (filename.size() > max_filename_bytes) {
        return base::fail("filename.length", "The file name is longer than file systems allow",
                          excerpt(filename));
    }
    if (!has_only_name_characters(filename)) {
        return base::fail("filename.characters",
                          "The file name contains characters that are not allowed in package file names",
                          excerpt(filename), "use only letters, digits and . _ - + !");
    }
    return {};
}

}  // namespace

std::string WheelFilename::text() const {
    std::string text = name + "-" + version_text + "-";
    if (build) text += build_text + "-";
    text += base::join(pythons, ".") + "-" + base::join(abis, ".") + "-" + base::join(platforms, ".");
    if (variant) text += "-" + *variant;
    return text.append(wheel_extension);
}

base::Result<WheelFilename> parse_wheel_filename(std::string_view filename) {
    WHEELYARD_TRY(check_characters(filename));
    if (!filename.ends_with(wheel_extension)) {
        return base::fail("filename.extension", "The file name of a wheel must end in .whl",
                          excerpt(filename));
    }
    const auto stem = filename.substr(0, filename.size() - wheel_extension.size());
    const auto parts = base::split(stem, '-');
    const auto layout = layout_of(parts);
    if (!layout) {
        return base::fail("filename.parts",
                          "The file name of a wheel must have five parts, or six with a build tag",
                          excerpt(filename), "use name-version[-build]-python-abi-platform.whl");
    }
    if (!is_valid_name(parts[0])) {
        return base::fail("filename.name", "The file name does not begin with a valid project name",
                          excerpt(filename));
    }
    auto version = parse_escaped_version(parts[1]);
    if (!version) {
        return base::fail("filename.version", "The version in the wheel's file name is not valid",
                          excerpt(parts[1]), version.error().advice);
    }
    WheelFilename wheel{.name = std::string(parts[0]),
                        .project = normalize_name(parts[0]),
                        .version = std::move(*version),
                        .version_text = std::string(parts[1]),
                        .build = std::nullopt,
                        .build_text = {},
                        .pythons = {},
                        .abis = {},
                        .platforms = {},
                        .tags = {},
                        .variant = std::nullopt};
    std::size_t next = 2;
    if (layout->has_build) {
        WHEELYARD_ASSIGN(wheel.build, parse_build_tag(parts[next]));
        wheel.build_text = std::string(parts[next]);
        ++next;
    }
    wheel.pythons = split_set(parts[next]);
    wheel.abis = split_set(parts[next + 1]);
    wheel.platforms = split_set(parts[next + 2]);
    if (layout->has_variant) {
        if (!is_variant_label(parts.back())) {
            return base::fail(
                "filename.variant",
                "The variant label of a wheel may contain only lower-case letters, digits, . and _",
                excerpt(parts.back()));
        }
        wheel.variant = std::string(parts.back());
    }
    const auto tag_text =
        std::string(parts[next]) + "-" + std::string(parts[next + 1]) + "-" + std::string(parts[next + 2]);
    auto tags = parse_tag_set(tag_text);
    if (!tags)
        return base::fail("filename.tag", tags.error().sentence, tags.error().value, tags.error().advice);
    wheel.tags = std::move(*tags);
    return wheel;
}

namespace {

NameForm form_of(std::string_view written, std::string_view normal) {
    if (written == normal) return NameForm::normal;
    return normalize_name(written) == normalize_name(normal) ? NameForm::other_spelling
                                                             : NameForm::other_text;
}

std::string normal_stem(const std::string& project, const Version& version) {
    return escape_name(project) + "-" + version.text();
}

}  // namespace

NameForm form_of(const WheelFilename& filename) {
    return form_of(filename.name + "-" + filename.version_text,
                   normal_stem(filename.project, filename.version));
}

namespace {

base::Result<SdistFilename> split_extension(std::string_view filename) {
    WHEELYARD_TRY(check_characters(filename));
    const auto* extension = std::find_if(sdist_extensions.begin(), sdist_extensions.end(),
                                         [&](auto text) { return filename.ends_with(text); });
    if (extension == sdist_extensions.end()) {
        return base::fail("filename.extension", "The file name of an sdist must end in .tar.gz or .zip",
                          excerpt(filename));
    }
    return SdistFilename{.project = {},
                         .version = {},
                         .extension = std::string(*extension),
                         .stem = std::string(filename.substr(0, filename.size() - extension->size()))};
}

base::Status set_version(SdistFilename& filename, std::string_view text) {
    auto version = Version::parse(text);
    if (!version) {
        return base::fail("filename.version", "The version in the sdist's file name is not valid",
                          excerpt(text), version.error().advice);
    }
    filename.version = std::move(*version);
    return {};
}

}  // namespace

bool is_sdist_filename(std::string_view filename) {
    return std::any_of(sdist_extensions.begin(), sdist_extensions.end(),
                       [&](auto extension) { return filename.ends_with(extension); });
}

NameForm form_of(const SdistFilename& filename) {
    if (filename.extension != sdist_extensions.front()) return NameForm::other_text;
    return form_of(filename.stem, normal_stem(filename.project, filename.version));
}

base::Result<SdistFilename> parse_sdist_filename(std::string_view filename) {
    WHEELYARD_ASSIGN(SdistFilename sdist, split_extension(filename));
    const std::string_view stem = sdist.stem;
    const auto dash = stem.rfind('-');
    if (dash == std::string_view::npos || !is_valid_name(stem.substr(0, dash))) {
        return base::fail("filename.name", "The file name does not begin with a valid project name",
                          excerpt(filename), "use name-version.tar.gz");
    }
    WHEELYARD_TRY(set_version(sdist, stem.substr(dash + 1)));
    sdist.project = normalize_name(stem.substr(0, dash));
    return sdist;
}

base::Result<SdistFilename> parse_sdist_filename(std::string_view filename, std::string_view project) {
    WHEELYARD_ASSIGN(SdistFilename sdist, split_extension(filename));
    sdist.project = normalize_name(project);
    const std::string_view stem = sdist.stem;
    // In old sdists both name and version may contain '-': split where the left side is the project's name.
    for (auto dash = stem.find('-'); dash != std::string_view::npos; dash = stem.find('-', dash + 1)) {
        const auto name = stem.substr(0, dash);
        if (!is_valid_name(name) || normalize_name(name) != sdist.project) continue;
        WHEELYARD_TRY(set_version(sdist, stem.substr(dash + 1)));
        return sdist;
    }
    return base::fail("filename.name", "The sdist's file name does not begin with the project's name",
                      excerpt(filename), "expected " + sdist.project + "-VERSION" + sdist.extension);
}

bool is_variant_label(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || base::is_ascii_digit(c) || c == '_' || c == '.';
    });
}

std::string spelling_key(std::string_view filename) {
    if (const auto sdist = parse_sdist_filename(filename))
        return normal_stem(sdist->project, sdist->version.without_trailing_zeros()) + sdist->extension;
    const auto wheel = parse_wheel_filename(filename);
    if (!wheel) return std::string(filename);
    std::string key = normal_stem(wheel->project, wheel->version.without_trailing_zeros());
    if (wheel->build) key += "-" + wheel->build->text();
    for (const Tag& tag : wheel->tags)
        key += " " + base::ascii_lower(tag.text());
    if (wheel->variant) key += " " + *wheel->variant;
    return key;
}

}  // namespace wheelyard::wheel
