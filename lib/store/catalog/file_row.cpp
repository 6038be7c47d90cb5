// A file row as the JSON that events carry.
#include "lib/store/catalog/catalog.hpp"

#include "lib/store/catalog/file_members.hpp"

namespace wheelyard::catalog {

namespace {

constexpr auto row_record = std::apply(
    [](const auto&... member) {
        const io::Field<FileRow> fields[]{member.json...};
        return io::record(fields);
    },
    file_members);

using KindWord = WordBy<event_kind_text, parse_event_kind>;
constexpr auto event_record = io::record<Event>({
    io::field<&Event::serial>("serial", "counts the events"),
    io::field<io::Moment, &Event::time>("time", "when it was committed"),
    io::field<KindWord, &Event::kind>("kind", "what changed (catalog.md)"),
    io::field<&Event::index>("index", "the index; empty: the whole registry"),
    io::field<&Event::project>("project", "the project's normalised name, or empty"),
    io::field<&Event::filename>("filename", "the file, or empty"),
    io::field<&Event::actor>("actor", "who did it: a token's name, `local:USER`, `verify`"),
    io::field<&Event::reason>("reason", "the actor's words, or empty"),
});

}  // namespace

std::string render_file_row(const FileRow& row) {
    io::Json json = io::Json::object({{"format", "wheelyard.file/1"}});
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
    return event_record.write(event);
}

std::span<const io::Member> event_members() {
    return event_record.members;
}

}  // namespace wheelyard::catalog
