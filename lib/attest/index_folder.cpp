#include "lib/attest/index_folder.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/io/gzip.hpp"
#include "lib/io/json.hpp"
#include "lib/io/zstd.hpp"

namespace wheelyard::attest {

namespace fs = std::filesystem;

namespace {

using io::Json;

constexpr std::string_view seen_format = "wheelyard.seen/1";

// Web servers send copies instead of their page (nginx: gzip_static), which no list has.
bool is_copy_of(const fs::path& copy, const fs::path& page,
                base::Result<std::string> (*unpack)(std::string_view, std::size_t)) {
    const auto packed = base::read_file(copy, max_index_page_bytes);
    const auto text = base::read_file(page, max_index_page_bytes);
    const auto unpacked = packed ? unpack(*packed, max_index_page_bytes) : packed;
    return text && unpacked && *unpacked == *text;
}

// Files of the folder "simple/six" that a web server or pip could take for the signed pages in it.
base::Status look_beside_pages(const fs::path& index, const std::string& folder, Beside& beside) {
    std::error_code error;
    for (fs::directory_iterator entry(index / folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path& file = entry->path();
        const std::string name = file.filename().native();
        if (!name.starts_with("index.") || name == "index.html" || name == "index.json") continue;
        const fs::path page = fs::path(file).replace_extension();
        const bool is_of_page = page.filename() == "index.html" || page.filename() == "index.json";
        const bool is_gzip = file.extension() == ".gz";
        if (!is_of_page || !(is_gzip || file.extension() == ".zst"))
            beside.unlisted.push_back(folder + "/" + name);
        else if (!is_copy_of(file, page, is_gzip ? io::gunzip : io::unzstd))
            beside.changed.push_back(folder + "/" + name);
    }
    if (error) return base::fail_errno("readdir", (index / folder).native(), error.value());
    return {};
}

base::Result<Beside> look_once(const fs::path& index, const std::vector<std::string>& projects) {
    Beside beside;
    WHEELYARD_TRY(look_beside_pages(index, "simple", beside));
    for (const std::string& project : projects)
        WHEELYARD_TRY(look_beside_pages(index, "simple/" + project, beside));
    std::error_code error;
    for (fs::directory_iterator entry(index / "simple", error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        const std::string name = entry->path().filename().native();
        if (entry->is_directory(ignored) && !name.starts_with('.') &&
            !std::binary_search(projects.begin(), projects.end(), name))
            beside.unlisted.push_back("simple/" + name);
    }
    if (error) return base::fail_errno("readdir", (index / "simple").native(), error.value());
    return beside;
}

}  // namespace

ReadFile reader_of_folder(const fs::path& index) {
    return [index](const std::string& path) -> base::Result<std::optional<std::string>> {
        std::error_code ignored;
        if (!fs::exists(index / path, ignored)) return std::nullopt;
        WHEELYARD_ASSIGN(std::string text, base::read_file(index / path, max_index_page_bytes));
        return std::optional(std::move(text));
    };
}

base::Result<Beside> look_beside(const fs::path& index, const std::vector<std::string>& projects,
                                 base::Clock& clock) {
    WHEELYARD_ASSIGN(Beside beside, look_once(index, projects));
    for (int waits = 0; !beside.changed.empty() && waits < max_publish_waits; ++waits) {
        clock.sleep_ms(publish_wait_ms);
        WHEELYARD_ASSIGN(beside, look_once(index, projects));
    }
    return beside;
}

base::Result<SeenState> read_seen(const fs::path& file) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return SeenState{};
    WHEELYARD_ASSIGN(const std::string text, base::read_file(file, max_signed_bytes));
    WHEELYARD_ASSIGN(const Json json, io::parse_json(text));
    if (json.string_or("format", {}) != seen_format)
        return base::fail("attest.seen", "This is no file of --seen", file.string(),
                          "name the file that an earlier command with --seen wrote, or a new one");
    SeenState seen;
    WHEELYARD_ASSIGN(seen.history, json.int_at("history"));
    WHEELYARD_ASSIGN(seen.serial, json.int_at("serial"));
    return seen;
}

base::Status write_seen(const fs::path& file, const SeenState& seen) {
    const Json json =
        Json::object({{"format", seen_format}, {"history", seen.history}, {"serial", seen.serial}});
    return base::replace_file(file, json.render() + "\n");
}

}  // namespace wheelyard::attest
