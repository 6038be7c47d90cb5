// A small index of public packages: file names and headers of METADATA as recorded in data/. Half of the wheels are served
// with .metadata files (PEP 658), the others with ranges alone.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/filename.hpp"
#include "tests/support/loopback_server.hpp"
#include "tests/support/wheel_writer.hpp"

namespace wheelyard::testing {

// The range of `bytes` that the request asks for: "bytes=5-9", "bytes=-9".
inline LoopbackAnswer answer_range(const LoopbackRequest& request, const std::string& bytes) {
    const std::string range = request.header("range");
    if (!range.starts_with("bytes=")) return {.body = bytes};
    const auto dash = range.find('-');
    const auto from = base::parse_decimal(std::string_view(range).substr(6, dash - 6));
    const auto to = base::parse_decimal(std::string_view(range).substr(dash + 1));
    const std::size_t size = bytes.size();
    const std::size_t begin = from ? static_cast<std::size_t>(*from)
                                   : size - std::min<std::size_t>(size, static_cast<std::size_t>(*to));
    const std::size_t end =
        from && to ? std::min<std::size_t>(size, static_cast<std::size_t>(*to) + 1) : size;
    return {.status = 206,
            .body = bytes.substr(begin, end - begin),
            .headers = {{"Content-Range", "bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) +
                                              "/" + std::to_string(size)}}};
}

class RecordedIndex {
  public:
    // A file name that is not in data/, with its METADATA.
    void add(const std::string& filename, const std::string& metadata) { added_[filename] = metadata; }
    [[nodiscard]] std::string url() const { return server_.url("/simple/"); }

  private:
    static std::string recorded(const std::string& name) {
        const auto file = std::filesystem::path(WHEELYARD_TEST_DATA) / "builder/pairs/data" / name;
        const auto text = base::read_file(file, 1 << 20);
        return text ? *text : "";
    }
    static std::string project_of(const std::string& filename) {
        const auto wheel = wheel::parse_wheel_filename(filename);
        return wheel ? wheel->project : wheel::parse_sdist_filename(filename)->project;
    }
    [[nodiscard]] std::string metadata(const std::string& filename) const {
        const auto own = added_.find(filename);
        if (own != added_.end()) return own->second;
        const auto wheel = wheel::parse_wheel_filename(filename);
        return recorded(wheel->project + "-" + wheel->version_text + ".METADATA");
    }
    [[nodiscard]] std::string archive(const std::string& filename) const {
        const auto wheel = wheel::parse_wheel_filename(filename);
        test_support::WheelWriter writer(wheel->project, wheel->version_text);
        const std::string folder = base::replace_all(wheel->project, "-", "_") + "-" + wheel->version_text;
        return writer.replace(folder + ".dist-info/METADATA", metadata(filename)).bytes();
    }
    [[nodiscard]] LoopbackAnswer page(const std::string& project) const {
        std::vector<std::string> names;
        const std::string list = recorded(project + ".files");
        for (const auto line : base::split_lines(list))
            names.emplace_back(line);
        for (const auto& [filename, metadata] : added_) {
            if (project_of(filename) == project) names.push_back(filename);
        }
        if (names.empty()) return {.status = 404, .body = "absent"};
        io::Json files = io::Json::array();
        bool has_metadata = false;
        for (const auto& name : names) {
            io::Json file = io::Json::object({{"filename", name}, {"url", "/files/" + name}});
            file.set("hashes", io::Json::object());
            if (name.ends_with(".whl")) file.set("core-metadata", has_metadata = !has_metadata);
            files.push(std::move(file));
        }
        const auto body = io::Json::object({{"meta", io::Json::object({{"api-version", "1.0"}})},
                                            {"name", project},
                                            {"files", std::move(files)}});
        return {.body = body.render(), .headers = {{"Content-Type", "application/vnd.pypi.simple.v1+json"}}};
    }
    [[nodiscard]] LoopbackAnswer answer(const LoopbackRequest& request) const {
        const std::string& target = request.target;
        if (target.starts_with("/simple/")) return page(target.substr(8, target.size() - 9));
        const std::string name = target.substr(std::string("/files/").size());
        if (name.ends_with(".metadata")) return {.body = metadata(name.substr(0, name.size() - 9))};
        return answer_range(request, archive(name));
    }

    std::map<std::string, std::string> added_;
    LoopbackServer server_{[this](const LoopbackRequest& request) { return answer(request); }};
};

}  // namespace wheelyard::testing
