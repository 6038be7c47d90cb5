// The table of the members of a file row.
#include "registry/catalog/file_row.hpp"

#include "lib/io/record.hpp"

namespace wheelyard::catalog {

namespace {

using io::field;
using io::Json;
using io::Need;
using io::Written;

struct StateWord {
    static Json to(FileState state) { return file_state_text(state); }
    static bool from(const Json& json, FileState& into) {
        const auto state = parse_file_state(json.as_string() == nullptr ? "" : *json.as_string());
        if (state) into = *state;
        return state.has_value();
    }
    static std::string type() { return "text"; }
};
struct FactsText {
    static Json to(const std::string& text) { return io::parse_json(text).value_or(Json::object()); }
    static bool from(const Json& json, std::string& into) {
        into = json.render();
        return true;
    }
    static std::string type() { return "object"; }
};
// Of a blob beside the wheel's; absent without one.
template <auto sha256, auto size>
struct SizeBeside : io::Plain<std::uint64_t> {
    static Json to(const FileRow& row) { return (row.*sha256).empty() ? Json() : Json(row.*size); }
    static bool from(const Json& json, FileRow& into) {
        return io::Plain<std::uint64_t>::from(json, into.*size);
    }
};

using R = FileRow;
constexpr auto row_record = io::record<R>({
    field<&R::index>("index", "its index", Need::required),
    field<&R::project>("project", "the project's normalised name", Need::required),
    field<&R::filename>("filename", "its name", Need::required),
    field<&R::version>("version", "including the local label", Need::required),
    field<&R::sha256>("sha256", "its digest", Need::required),
    field<&R::size_bytes>("size_bytes", "its size", Need::required),
    field<&R::metadata_sha256>("metadata_sha256", "digest of its METADATA, or empty"),
    field<&R::metadata_size_bytes>("metadata_size_bytes", "size of its METADATA", Need::required),
    field<&R::metadata_name>("metadata_name", "the name as METADATA spells it"),
    field<&R::requires_python>("requires_python", "as METADATA gives it"),
    field<&R::upload_time>("upload_time", "in microseconds since 1970", Need::required),
    field<&R::uploaded_by>("uploaded_by", "the name of the token"),
    field<&R::yanked>("yanked", "PEP 592"),
    field<&R::yanked_reason>("yanked_reason", "PEP 592"),
    field<StateWord, &R::state>("state", "absent: `active`", Need::valid),
    field<&R::state_reason>("state_reason", "the reason of the state"),
    field<&R::pinned>("pinned", "kept by retention"),
    field<FactsText, &R::facts_json>("facts", "what the wheel's bytes prove"),
    field<&R::provenance_sha256>("provenance_sha256", "digest of its provenance", Need::optional,
                                 Written::if_given),
    io::field_of<R, SizeBeside<&R::provenance_sha256, &R::provenance_size_bytes>>(
        "provenance_size_bytes", "size of its provenance", Need::optional, Written::unless_null),
    field<&R::attestations_sha256>("attestations_sha256", "digest of its attestations (PEP 740)",
                                   Need::optional, Written::if_given),
    io::field_of<R, SizeBeside<&R::attestations_sha256, &R::attestations_size_bytes>>(
        "attestations_size_bytes", "size of its attestations", Need::optional, Written::unless_null),
});

}  // namespace

std::string render_file_row(const FileRow& row) {
    Json json = Json::object({{"format", "wheelyard.file/1"}});
    row_record.write_into(json, row);
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
    row.facts_json = "{}";
    for (const char* size :
         {"size_bytes", "metadata_size_bytes", "provenance_size_bytes", "attestations_size_bytes"}) {
        if (document.int_or(size, 0) < 0)
            return base::fail("file_row.size", "The size of a file cannot be negative",
                              document.string_or("filename", ""));
    }
    const std::string state = document.string_or("state", "");
    if (!state.empty() && !parse_file_state(state))
        return base::fail("file_row.state", "A file is in a state that this program does not know", state,
                          "upgrade this program");
    WHEELYARD_TRY(row_record.read(document, row));
    return row;
}

io::Json event_to_json(const Event& event) {
    return io::Json::object({{"serial", event.serial},
                             {"time", base::render_rfc3339(event.time)},
                             {"kind", event_kind_text(event.kind)},
                             {"index", event.index},
                             {"project", event.project},
                             {"filename", event.filename},
                             {"actor", event.actor},
                             {"reason", event.reason}});
}

}  // namespace wheelyard::catalog
