// The JSON of published.json.
#include "indexer/tree/published_state.hpp"

#include <map>
#include <string>
#include <type_traits>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/text/words.hpp"
#include "lib/io/record.hpp"

namespace wheelyard::indexer {

using io::field;
using io::Json;
using io::Need;
using io::Written;

namespace {
constexpr std::string_view published_format = "wheelyard.published/2";

constexpr auto file_record = io::record<TreeFile>({
    field<&TreeFile::sha256>("sha256", "its digest", Need::required),
    field<&TreeFile::filename>("filename", "its name", Need::required),
});

constexpr auto stale_record = io::record<StaleProject>({
    field<&StaleProject::index>("index", "its index", Need::required),
    field<&StaleProject::project>("project", "its normalised name", Need::required),
    field<io::ListOf<io::Nested<file_record>>, &StaleProject::deleted>(
        "deleted", "removed from the catalog, maybe still in the tree", Need::valid),
});

// Values by name; those of another type are ignored.
template <typename T>
struct ByName {
    static Json to(const std::map<std::string, T>& values) {
        Json json = Json::object();
        for (const auto& [name, value] : values)
            json.set(name, value);
        return json;
    }
    static bool from(const Json& json, std::map<std::string, T>& into) {
        if (json.as_object() == nullptr) return false;
        for (const auto& [name, value] : *json.as_object()) {
            if constexpr (std::is_same_v<T, std::string>) {
                if (value.as_string() != nullptr) into.emplace(name, *value.as_string());
            } else {
                if (value.as_int()) into.emplace(name, *value.as_int());
            }
        }
        return true;
    }
    static std::string type() {
        return std::is_same_v<T, std::string> ? "object of texts" : "object of numbers";
    }
};

constexpr auto farm_record = io::record<FarmText>({
    field<&FarmText::title>("title", "of the farm"),
    field<&FarmText::text>("text", "on the front page"),
    field<&FarmText::contact>("contact", "URL or address of electronic mail"),
    field<&FarmText::style>("style", "a style sheet with the farm's colours"),
    field<&FarmText::logo>("logo", "the published name of its logo"),
    field<&FarmText::url>("url", "where readers find it"),
    field<&FarmText::login>("login", "where they log in"),
    field<ByName<std::string>, &FarmText::titles>("titles", "of indexes, for people"),
    field<ByName<std::string>, &FarmText::upstreams>("upstreams", "the names of those that an index has"),
    field<&FarmText::hidden>("hidden", "indexes that the front page does not list"),
    field<&FarmText::without_pages>("without_pages", "indexes that have no web UI"),
});

constexpr auto pages_record = io::record<PagesState>({
    field<&PagesState::serial>("serial", "the event up to which they are current"),
    field<&PagesState::look>("look", "what decides their look"),
    field<io::Nested<farm_record>, &PagesState::farm>("farm", "what the configuration says about the farm"),
});

constexpr auto readers = base::words<bool>({{true, "token"}, {false, ""}});

// The kind of the event at `time`.
struct Kind : io::Plain<std::string> {
    static Json to(const PublishedState& state) { return state.time == 0 ? Json() : Json(state.kind); }
    static bool from(const Json& json, PublishedState& into) {
        return io::Plain<std::string>::from(json, into.kind);
    }
};
struct Pages : io::Nested<pages_record> {
    static Json to(const PagesState& pages) {
        return pages == PagesState{} ? Json() : pages_record.write(pages);
    }
};

using P = PublishedState;
constexpr auto published_record = io::record<P>({
    field<&P::serial>("serial", "the last event that the tree has", Need::required),
    field<io::Time, &P::time>("time", "of that event", Need::valid, Written::unless_null),
    io::field_of<P, Kind>("kind", "of that event", Need::optional, Written::unless_null),
    field<io::WordOf<readers>, &P::is_private>("read", "in a tree of private indexes", Need::optional,
                                               Written::if_given),
    field<&P::views>("views", "what the tree has in addition to pages and files"),
    field<&P::copies>("copies", "which compressed copies of pages are up to date"),
    field<&P::late_copies>("late_copies", "folders whose pages lack compressed copies", Need::optional,
                           Written::unless_empty),
    field<ByName<catalog::Serial>, &P::serials>("serials",
                                                "of the last event of each index that the tree shows",
                                                Need::optional, Written::unless_empty),
    field<&P::stale_roots>("stale_roots", "indexes whose root page lacks a project"),
    field<&P::root_url>("root_url", "the absolute URL in its pages, or empty", Need::even_empty,
                        Written::unless_null),
    field<&P::flat_serial>("find_links", "the event up to which the pages of --find-links are current"),
    field<Pages, &P::pages>("pages", "how far the web UI is", Need::optional, Written::unless_null),
    field<io::ListOf<io::Nested<stale_record>>, &P::lagging>("lagging", "projects that could not be updated",
                                                             Need::valid, Written::unless_empty),
});
}  // namespace

void forget_serial(PublishedState& state) {
    state.serial = 0;
    state.time = 0;
    state.kind.clear();
    state.flat_serial = 0;
    state.pages = {.farm = std::move(state.pages.farm)};
}

std::string render_published_state(const PublishedState& state) {
    Json document = Json::object({{"format", published_format}});
    published_record.write_into(document, state);
    return document.render() + "\n";
}

base::Result<PublishedState> parse_published_state(std::string_view text) {
    WHEELYARD_ASSIGN(const Json document, io::parse_json(text));
    const std::string format = document.string_or("format", "");
    if (format != published_format) {
        return base::fail("publish.state_format", "Unsupported format of the tree's published.json", format,
                          "use the version that wrote it, or publish into a new folder");
    }
    PublishedState state;
    WHEELYARD_TRY(published_record.read(document, state));
    const Json* roots = document.find("stale_roots");
    if (roots == nullptr || roots->as_array() == nullptr || state.serial < 0) {
        return base::fail("publish.state_broken", "published.json has a missing or invalid member",
                          std::string(text.substr(0, 200)),
                          "remove it; the next run safely publishes everything again");
    }
    return state;
}

base::Result<PublishedState> PublishedRecord::read() {
    const auto file = published_file(tree_);
    WHEELYARD_TRY(disk_.remove_leftovers(state_folder(tree_)));
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
    if (!size) return PublishedState{};
    WHEELYARD_ASSIGN(const auto text, disk_.read(file, max_state_bytes));
    WHEELYARD_ASSIGN(written_, parse_published_state(text));
    return written_;
}

base::Status PublishedRecord::write(const PublishedState& state) {
    if (says(state)) return {};
    WHEELYARD_TRY(disk_.replace(published_file(tree_), render_published_state(state)));
    written_ = state;
    return {};
}

}  // namespace wheelyard::indexer
