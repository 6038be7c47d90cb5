// Reads pylock.toml.
#include "lib/simple/lock.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::simple {

namespace {

using Keys = std::vector<std::string_view>;

const Keys lock_keys{"lock-version",   "environments", "requires-python", "extras", "dependency-groups",
                     "default-groups", "created-by",   "packages",        "tool"};
const Keys package_keys{
    "name",    "version", "marker", "requires-python", "dependencies",           "vcs", "directory",
    "archive", "index",   "sdist",  "wheels",          "attestation-identities", "tool"};

// Keys of other tools and of later versions are no mistakes. Returns those outside `known`.
std::vector<std::string> leave_other_keys(io::TomlTable& table, const Keys& known) {
    std::vector<std::string> others;
    for (const std::string& key : table.keys()) {
        (void)table.json(key);  // counts as read
        if (std::find(known.begin(), known.end(), key) == known.end()) others.push_back(key);
    }
    return others;
}

std::optional<wheel::Marker> marker_of(io::TomlTable& table, const char* key, const std::string& text) {
    auto marker = wheel::Marker::parse(text);
    if (marker) return *std::move(marker);
    table.report(key, "the marker is invalid: " + text);
    return std::nullopt;
}

wheel::SpecifierSet requires_python_of(io::TomlTable& table) {
    const std::string text = table.string_or("requires-python", "");
    if (text.empty()) return {};
    auto specifiers = wheel::SpecifierSet::parse(text);
    if (specifiers) return *std::move(specifiers);
    table.report("requires-python", "this is no condition for a Python: " + text);
    return {};
}

std::vector<std::string> names_of(io::TomlTable& table, const char* key) {
    std::vector<std::string> names = table.strings_or(key, {});
    for (std::string& name : names)
        name = wheel::normalize_name(name);
    return names;
}

base::Result<std::string> chosen_of(const std::vector<std::string>& declared, std::vector<std::string> names,
                                    const std::string& what) {
    for (std::string& name : names) {
        name = wheel::normalize_name(name);
        if (std::find(declared.begin(), declared.end(), name) == declared.end())
            return base::fail("lock.undeclared", "The lock has no such " + what, name,
                              declared.empty() ? "it has none" : "it has " + base::join(declared, ", "));
    }
    return base::join(names, " ");
}

LockSource source_of(io::TomlTable& table) {
    struct Row {
        const char* key;
        LockSource source;
    };
    constexpr Row rows[] = {{"wheels", LockSource::wheels},
                            {"sdist", LockSource::sdist},
                            {"archive", LockSource::archive},
                            {"directory", LockSource::directory},
                            {"vcs", LockSource::vcs}};
    std::vector<LockSource> found;
    for (const Row& row : rows) {
        if (table.has(row.key)) found.push_back(row.source);
    }
    const bool is_of_an_index =
        found.size() == 2 && found.back() == LockSource::sdist;  // wheels and an sdist
    if (found.size() > 1 && !is_of_an_index)
        table.report("name",
                     "the package has several sources, of which only `wheels` and `sdist` go together");
    return found.empty() ? LockSource::none : found.front();
}

// The file name of a wheel or an sdist: `name`, else the last part of `path` or `url`; empty: none of them
// has one.
std::string filename_of(io::TomlTable& file) {
    std::string name = file.string_or("name", "");
    const std::string path = base::replace_all(file.string_or("path", ""), "\\", "/");
    const std::string url = file.string_or("url", "");
    if (name.empty()) name = base::base_name(path);
    if (name.empty()) {
        if (const auto parsed = base::parse_url(url)) name = base::last_segment(*parsed).value_or("");
    }
    return name;
}

// `fault`: the first for which pip refuses a lock that says enough for an answer.
void read_wheels(io::TomlTable& table, LockedPackage& package, std::string& fault) {
    for (io::TomlTable& wheel : table.tables("wheels")) {
        (void)leave_other_keys(wheel, {});
        std::string sha256;
        const auto hashes = wheel.string_map("hashes");
        if (hashes.empty() && fault.empty()) fault = wheel.place("hashes") + ": there is no hash";
        for (const auto& [algorithm, digest] : hashes) {
            if (base::ascii_lower(algorithm) == "sha256") sha256 = base::ascii_lower(digest);
        }
        if (sha256.empty()) {
            package.has_all_hashes = false;
        } else if (!base::is_sha256_hex(sha256)) {
            wheel.report("hashes", "this is no SHA-256: " + sha256);
        } else {
            package.sha256s.insert(sha256);
        }
        const std::string name = filename_of(wheel);
        if (!name.empty()) package.wheels.emplace(wheel::spelling_key(name), std::move(sha256));
        if (package.version) continue;
        if (const auto parsed = wheel::parse_wheel_filename(name)) package.version = parsed->version;
    }
}

void read_sdist(io::TomlTable& table, LockedPackage& package) {
    if (!table.has("sdist")) return;
    io::TomlTable sdist = table.table_or_empty("sdist");
    (void)leave_other_keys(sdist, {});
    const std::string name = filename_of(sdist);
    if (package.version) return;
    if (const auto parsed = wheel::parse_sdist_filename(name, package.project))
        package.version = parsed->version;
}

LockedPackage package_of(io::TomlTable& table, std::string& fault) {
    LockedPackage package;
    package.name = table.string("name");
    if (table.has("name") && !wheel::is_valid_name(package.name))
        table.report("name", "this is no name of a package: " + package.name);
    package.project = wheel::normalize_name(package.name);
    if (package.project != package.name && fault.empty())
        fault = table.place("name") + ": " + package.name + " is not the normalized name " + package.project;
    if (const auto text = table.string_if("version")) {
        if (auto version = wheel::Version::parse(*text))
            package.version = *std::move(version);
        else
            table.report("version", "this is no version: " + *text);
    }
    package.source = source_of(table);
    read_wheels(table, package, fault);
    read_sdist(table, package);
    package.requires_python = requires_python_of(table);
    if (package.version) {
        if (auto exact = wheel::SpecifierSet::parse("==" + package.version->text()))
            package.exact = *std::move(exact);
    }
    if (const auto text = table.string_if("marker")) package.marker = marker_of(table, "marker", *text);
    return package;
}

// "1.0" → {"1", "0"}; empty: not of this form.
std::vector<std::string_view> version_parts(std::string_view text) {
    auto parts = base::split(text, '.');
    const bool is_version =
        parts.size() == 2 && std::all_of(parts.begin(), parts.end(), [](auto part) {
            return !part.empty() && std::all_of(part.begin(), part.end(), base::is_ascii_digit);
        });
    return is_version ? parts : std::vector<std::string_view>();
}

// Formats of one tool each, by their usual names, and how the tool writes one that is read here.
struct OtherLock {
    std::string_view file;
    std::string_view tool;
    std::string_view advice;
};
constexpr std::array<OtherLock, 3> other_locks{
    OtherLock{"uv.lock", "uv", "beside it: uv export -o pylock.toml, then --lock pylock.toml"},
    OtherLock{
        "poetry.lock", "Poetry",
        "beside it: poetry export -o requirements.txt (of poetry-plugin-export), then -r requirements.txt"},
    OtherLock{"pdm.lock", "PDM", "beside it: pdm export -o requirements.txt, then -r requirements.txt"},
};

}  // namespace

bool is_lock(const std::filesystem::path& file) {
    const std::string name = file.filename().native();
    constexpr std::string_view start = "pylock.", end = ".toml";
    return name == "pylock.toml" ||
           (name.size() > start.size() + end.size() && name.starts_with(start) &&
            name.find('.', start.size()) == name.size() - end.size() && name.ends_with(end));
}

base::Result<Lock> parse_lock(std::string_view text, const std::filesystem::path& file) {
    const std::string ending = file.extension().native();
    if (ending == ".txt" || ending == ".in" || file.filename() == "pyproject.toml")
        return base::fail("lock.none", file.native() + " is no lock", {},
                          "-r reads requirements; a lock is a pylock.toml (PEP 751)");
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    io::TomlTable root = document.root();
    for (const OtherLock& other : other_locks) {
        if (file.filename() == other.file && !root.has("lock-version"))
            return base::fail("lock.other_format",
                              file.native() + " is a lock in " + std::string(other.tool) + "'s own format",
                              {}, "pylock.toml (PEP 751) is read; " + std::string(other.advice));
    }
    std::vector<std::string> others = leave_other_keys(root, lock_keys);
    const std::string version = root.string("lock-version");
    if (version.empty() && root.has("lock-version"))
        root.report("lock-version", "this is no version of a lock");
    if (const auto parts = version_parts(version); !version.empty() && (parts.empty() || parts[0] != "1"))
        return base::fail("lock.version",
                          root.place("lock-version") + ": Only locks of version 1 are known here", version,
                          "make it again with a tool that writes lock-version = \"1.0\"");
    Lock lock;
    lock.created_by = root.string_or("created-by", "");
    lock.requires_python = requires_python_of(root);
    for (const std::string& environment : root.strings_or("environments", {})) {
        if (auto marker = marker_of(root, "environments", environment))
            lock.environments.push_back(*std::move(marker));
    }
    lock.extras = names_of(root, "extras");
    lock.groups = names_of(root, "dependency-groups");
    const std::vector<std::string> default_groups = names_of(root, "default-groups");
    lock.chosen_groups = base::join(default_groups, " ");
    lock.groups.insert(lock.groups.end(), default_groups.begin(), default_groups.end());
    if (!root.has("packages")) root.report("", "`packages` is missing");
    auto packages = root.tables("packages");
    if (packages.size() > max_locked_packages)
        return base::fail("lock.too_many", root.place("packages") + ": Too many packages",
                          std::to_string(packages.size()),
                          "a lock has at most " + std::to_string(max_locked_packages));
    std::string fault;
    for (io::TomlTable& package : packages) {
        for (std::string& key : leave_other_keys(package, package_keys))
            others.push_back(std::move(key));
        lock.packages.push_back(package_of(package, fault));
    }
    WHEELYARD_TRY(document.finish());
    if (!fault.empty()) lock.warning = fault + "; pip refuses this lock (PEP 751)";
    if (version != "1.0") {
        std::sort(others.begin(), others.end());
        others.erase(std::unique(others.begin(), others.end()), others.end());
        lock.warning = file.native() + " is a lock of version " + version +
                       ", newer than 1.0, which is known here" +
                       (others.empty() ? "" : "; ignored: " + base::join(others, ", "));
    }
    return lock;
}

base::Status choose_of_lock(Lock& lock, const std::vector<std::string>& extras,
                            const std::vector<std::string>& groups) {
    WHEELYARD_ASSIGN(lock.chosen_extras, chosen_of(lock.extras, extras, "extra"));
    if (groups.empty()) return {};
    WHEELYARD_ASSIGN(lock.chosen_groups, chosen_of(lock.groups, groups, "dependency group"));
    return {};
}

base::Result<Lock> read_lock(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const auto text, base::read_file(file, max_lock_bytes));
    return parse_lock(text, file);
}

}  // namespace wheelyard::simple
