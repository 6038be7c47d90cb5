#include "registry/catalog/file_row.hpp"

#include "lib/io/json.hpp"

namespace wheelyard::catalog {

std::string render_file_row(const FileRow& row) {
    auto facts = io::parse_json(row.facts_json);
    io::Json json = io::Json::object({{"format", "wheelyard.file/1"},
                                      {"index", row.index},
                                      {"project", row.project},
                                      {"filename", row.filename},
                                      {"version", row.version},
                                      {"sha256", row.sha256},
                                      {"size_bytes", row.size_bytes},
                                      {"metadata_sha256", row.metadata_sha256},
                                      {"metadata_size_bytes", row.metadata_size_bytes},
                                      {"metadata_name", row.metadata_name},
                                      {"requires_python", row.requires_python},
                                      {"upload_time", row.upload_time},
                                      {"uploaded_by", row.uploaded_by},
                                      {"yanked", row.yanked},
                                      {"yanked_reason", row.yanked_reason},
                                      {"state", file_state_text(row.state)},
                                      {"state_reason", row.state_reason},
                                      {"pinned", row.pinned},
                                      {"facts", facts ? std::move(*facts) : io::Json::object()}});
    if (!row.provenance_sha256.empty()) {
        json.set("provenance_sha256", row.provenance_sha256);
        json.set("provenance_size_bytes", row.provenance_size_bytes);
    }
    return json.render();
}

void keep_offered_metadata(FileRow& row) {
    if (row.filename.ends_with(".whl")) return;
    const auto facts = io::parse_json(row.facts_json);
    if (facts && facts->bool_or("static_metadata", false)) return;
    row.metadata_sha256.clear();
    row.metadata_size_bytes = 0;
}

base::Result<FileRow> parse_file_row(std::string_view json) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(json));
    FileRow row;
    WHEELYARD_ASSIGN(row.index, document.string_at("index"));
    WHEELYARD_ASSIGN(row.project, document.string_at("project"));
    WHEELYARD_ASSIGN(row.filename, document.string_at("filename"));
    WHEELYARD_ASSIGN(row.version, document.string_at("version"));
    WHEELYARD_ASSIGN(row.sha256, document.string_at("sha256"));
    WHEELYARD_ASSIGN(const std::int64_t size, document.int_at("size_bytes"));
    row.size_bytes = static_cast<std::uint64_t>(size);
    WHEELYARD_ASSIGN(row.metadata_sha256, document.string_at("metadata_sha256"));
    WHEELYARD_ASSIGN(const std::int64_t metadata_size, document.int_at("metadata_size_bytes"));
    row.metadata_size_bytes = static_cast<std::uint64_t>(metadata_size);
    row.provenance_sha256 = document.string_or("provenance_sha256", "");
    const std::int64_t provenance_size = document.int_or("provenance_size_bytes", 0);
    row.provenance_size_bytes = static_cast<std::uint64_t>(provenance_size);
    if (size < 0 || metadata_size < 0 || provenance_size < 0)
        return base::fail("file_row.size", "The size of a file cannot be negative", row.filename);
    WHEELYARD_ASSIGN(row.upload_time, document.int_at("upload_time"));
    row.metadata_name = document.string_or("metadata_name", "");
    row.requires_python = document.string_or("requires_python", "");
    row.uploaded_by = document.string_or("uploaded_by", "");
    row.yanked = document.bool_or("yanked", false);
    row.yanked_reason = document.string_or("yanked_reason", "");
    const std::string state = document.string_or("state", "active");
    const auto known_state = parse_file_state(state);
    if (!known_state)
        return base::fail("file_row.state", "A file is in a state that this program does not know", state,
                          "upgrade this program");
    row.state = *known_state;
    row.state_reason = document.string_or("state_reason", "");
    row.pinned = document.bool_or("pinned", false);
    const io::Json* facts = document.find("facts");
    row.facts_json = facts != nullptr ? facts->render() : "{}";
    return row;
}

}  // namespace wheelyard::catalog
