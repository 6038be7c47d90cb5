#include "registry/intake/imports/import_source.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/log.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/index_folder.hpp"
#include "lib/simple/pip_config.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {

namespace {

constexpr std::string_view hash_mark = "#sha256=";
constexpr std::size_t sha256_hex_length = 64;

bool is_web(std::string_view place) {
    return place.starts_with("https://") || place.starts_with("http://");
}

base::Result<FoundWheel> choose_file(const WheelChoice& choice, const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / choice.filename;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) && error != std::errc::permission_denied)
        return base::fail("import.not_there", "The folder has no such wheel", path.string(),
                          "`--from` must name the folder that contains it");
    if (choice.sha256.empty())
        return base::fail("import.no_hash", "A folder has no hashes of its wheels", choice.filename,
                          "append the hash to the name: " + choice.filename + "#sha256=…");
    return FoundWheel{{}, path, choice.sha256};
}

base::Result<FoundWheel> choose_on_page(const simple::GetPage& get, const std::string& index_url,
                                        const WheelChoice& choice) {
    WHEELYARD_ASSIGN(const auto page, simple::fetch_project(get, index_url, choice.name.project));
    if (page) return choose_link(choice, *page, index_url);
    return base::fail(
        "import.not_there", "The index has no such project", choice.name.project,
        "`--from` must name its simple pages, such as https://wheels.example.org/main/simple/ or "
        "file:///shared/wheels/main/simple/");
}

// Looks in a folder of wheels, or in one with the pages of an index.
base::Result<FoundWheel> choose_below(const std::string& file_url, const WheelChoice& choice) {
    WHEELYARD_ASSIGN(const auto url, base::parse_url(file_url));
    WHEELYARD_ASSIGN(const std::filesystem::path folder, base::file_path(url));
    std::error_code error;
    if (std::filesystem::exists(folder / choice.filename, error)) return choose_file(choice, folder);
    WHEELYARD_ASSIGN(FoundWheel place, choose_on_page(simple::read_page, file_url, choice));
    WHEELYARD_ASSIGN(const auto link, base::parse_url(place.url));
    if (link.scheme == "file") {
        WHEELYARD_ASSIGN(place.path, base::file_path(link));
        place.url.clear();
    }
    return place;
}

// Uses pip's default from its help text, so that this program contains no host name.
base::Result<std::string> default_index_of_pip() {
    base::Command command;
    command.argv = {"python3", "-m", "pip", "download", "--help"};
    const auto answer = base::run_command(command);
    std::string url = answer ? simple::parse_default_index(answer->out) : std::string();
    if (url.empty())
        return base::fail("import.no_source",
                          "pip is not configured with an index, and its default is unknown", {},
                          "name an index with --from");
    return url;
}

}  // namespace

base::Result<WheelChoice> parse_wheel_choice(std::string_view text, const inspect::Policy& policy,
                                             AcceptedFiles accepted) {
    WheelChoice choice;
    const auto mark = text.find('#');
    choice.filename = std::string(text.substr(0, mark));
    if (mark != std::string_view::npos) {
        const std::string_view hash = text.substr(mark);
        if (hash.starts_with(hash_mark)) choice.sha256 = base::ascii_lower(hash.substr(hash_mark.size()));
        const bool is_hex = std::all_of(choice.sha256.begin(), choice.sha256.end(), [](char c) {
            return base::is_ascii_digit(c) || (c >= 'a' && c <= 'f');
        });
        if (choice.sha256.size() != sha256_hex_length || !is_hex)
            return base::fail("import.hash", "The text after the file name is not a SHA-256",
                              std::string(hash), "write #sha256= and 64 hexadecimal digits");
    }
    auto name = check_filename(choice.filename, policy, accepted);
    if (!name) {
        wire::Problem& problem = name.error();
        return base::fail(std::move(problem.code), std::move(problem.detail), choice.filename,
                          std::move(problem.advice));
    }
    choice.name = *std::move(name);
    return choice;
}

bool may_say_hashes(std::string_view url) {
    const auto parsed = base::parse_url(url);
    return parsed && (parsed->scheme == "https" || parsed->scheme == "file" ||
                      (parsed->scheme == "http" && base::is_loopback_host(parsed->host)));
}

base::Result<FoundWheel> choose_link(const WheelChoice& choice, const simple::ProjectPage& page,
                                     const std::string& index_url) {
    const auto link = std::find_if(page.files.begin(), page.files.end(), [&](const simple::FileLink& file) {
        return file.filename == choice.filename;
    });
    if (link == page.files.end()) {
        std::vector<std::string> names;
        for (const auto& file : page.files)
            names.push_back(file.filename);
        const auto near = base::nearest(choice.filename, names);
        return base::fail("import.not_there", "The index has no such wheel", choice.filename,
                          near ? "did you mean " + *near + "?" : "the project's page lists its wheels");
    }
    if (link->yanked)
        return base::fail("import.yanked", "This wheel is yanked in the index", choice.filename,
                          link->yanked_reason);
    const std::string page_hash = may_say_hashes(index_url) ? base::ascii_lower(link->sha256) : std::string();
    if (choice.sha256.empty() && page_hash.empty())
        return base::fail("import.no_hash", "This index provides no trusted hash of the wheel", index_url,
                          "append the hash to the name: " + choice.filename + "#sha256=…");
    if (!choice.sha256.empty() && !link->sha256.empty() && choice.sha256 != base::ascii_lower(link->sha256))
        return base::fail("import.hash_differs", "The index's page has a different SHA-256", link->sha256,
                          "find out which hash is correct before you import the wheel");
    return FoundWheel{link->url, {}, choice.sha256.empty() ? page_hash : choice.sha256};
}

base::Result<FoundWheel> find_wheel(io::HttpClient& http, const std::string& from,
                                    const WheelChoice& choice) {
    if (simple::is_file_url(from)) return choose_below(from, choice);
    if (!is_web(from)) return choose_file(choice, from);
    return choose_on_page(simple::page_getter(http), from, choice);
}

base::Result<ImportSource> import_source(const std::string& from) {
    WHEELYARD_ASSIGN(const auto pip, simple::read_pip_config(base::current_environment(), "/usr"));
    ImportSource source{from, pip.http_settings()};
    if (source.from.empty()) source.from = pip.index_url();
    if (source.from.empty()) {
        WHEELYARD_ASSIGN(source.from, default_index_of_pip());
    }
    if (is_web(source.from) && !source.from.ends_with('/')) source.from += '/';
    return source;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "import";
constexpr std::size_t name_length = prefix.size() + 7;  // "-XXXXXX"
constexpr int max_tries = 16;

base::Fd open_folder(const fs::path& path) {
    return base::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_import_folder(const fs::path& path) {
    const std::string name = path.filename().native();
    return name.size() == name_length && name.starts_with(std::string(prefix) + "-");
}

bool is_linked(int folder) {
    struct stat status {};
    return ::fstat(folder, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

base::Result<ImportFolder> ImportFolder::make(const fs::path& store) {
    for (int tries = 0; tries < max_tries; ++tries) {
        WHEELYARD_ASSIGN(base::TempDir folder, base::TempDir::make(prefix, store));
        base::Fd lock = open_folder(folder.path());
        // Another process may have removed the folder as a leftover before it was locked.
        if (lock && (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
            is_linked(lock.get()))
            return ImportFolder(std::move(folder), std::move(lock));
    }
    return base::fail("import.contended", "Another process keeps removing new folders from the store",
                      store.native());
}

void remove_left_import_folders(const fs::path& store) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator entry(store, error), end; !error && entry != end; entry.increment(error)) {
        if (is_import_folder(entry->path())) found.push_back(entry->path());
    }
    for (const fs::path& path : found) {
        const base::Fd folder = open_folder(path);
        if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
        fs::remove_all(path, error);
        if (error) io::log_warn("import.left_over", {{"folder", path.native()}, {"error", error.message()}});
    }
}

}  // namespace wheelyard::registry
