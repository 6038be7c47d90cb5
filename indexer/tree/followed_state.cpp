// One JSON document. If it is lost, the next round checks every project but fetches no file twice.
#include "indexer/tree/followed_state.hpp"

#include <utility>

#include "indexer/tree/limits.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/io/record.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;
using io::field;
using io::Json;
using io::Need;
using io::Written;

namespace {
constexpr std::string_view followed_format = "wheelyard.followed/1";

// A list of files with the project that each has left.
struct Gone {
    static Json to(const std::map<std::string, std::set<TreeFile>>& gone) {
        Json list = Json::array();
        for (const auto& [project, files] : gone) {
            for (const auto& file : files) {
                Json item = tree_file_json(file);
                item.set("project", project);
                list.push(std::move(item));
            }
        }
        return list;
    }
    static bool from(const Json& json, std::map<std::string, std::set<TreeFile>>& into) {
        for (const Json& item : json.items()) {
            const auto project = item.string_at("project");
            auto file = parse_tree_file(item);
            if (!project || !file) return false;
            into[*project].insert(*std::move(file));
        }
        return true;
    }
    static std::string type() { return "list of: object"; }
};

using S = SignedPart;
constexpr auto signed_record = io::record<S>({
    field<&S::pages>("pages", "digest of the list of lists that the pages were compared with"),
    field<&S::history>("history", "of the newest state that was verified"),
    field<&S::serial>("serial", "of that state"),
    field<&S::unlike>("unlike", "projects whose pages have other bytes than the signed ones"),
});
struct Signed : io::Nested<signed_record> {
    static Json to(const SignedPart& part) {
        return part == SignedPart{} ? Json() : signed_record.write(part);
    }
};

using F = FollowedState;
using C = FollowedWheelList;
constexpr auto followed_record = io::record<F>({
    field<&F::from>("from", "the index's URL"),
    field<&F::serial>("serial", "the last event that the tree has", Need::required),
    field<&F::lagging>("lagging", "projects that every round retries"),
    field<Gone, &F::gone>("gone", "files that a page no longer lists", Need::valid),
    field<&F::wheel_list, &C::waiting>("catalogue.waiting",
                                       "projects whose facts the source does not have yet"),
    field<&F::wheel_list, &C::base_etag>("catalogue.base_etag", "of the kept copy of the base"),
    field<&F::wheel_list, &C::delta_etag>("catalogue.delta_etag", "of the kept copy of the changes"),
    field<&F::flat_serial>("find_links", "the event up to which the page of --find-links is current"),
    field<Signed, &F::signed_part>("signed", "with a root document: what was verified", Need::optional,
                                   Written::unless_null),
});
}  // namespace

fs::path followed_file(const fs::path& tree, std::string_view index) {
    return state_folder(tree) / ("followed-" + std::string(index) + ".json");
}

std::string render_followed_state(const FollowedState& state) {
    Json document = Json::object({{"format", followed_format}});
    followed_record.write_into(document, state);
    return document.render() + "\n";
}

base::Result<FollowedState> parse_followed_state(std::string_view text) {
    WHEELYARD_ASSIGN(const Json document, io::parse_json(text));
    if (document.string_or("format", "") != followed_format) {
        return base::fail("follow.state_format", "Unsupported format of the tree's follow state",
                          document.string_or("format", ""),
                          "remove the file; the next round checks every project");
    }
    FollowedState state;
    WHEELYARD_TRY(followed_record.read(document, state));
    return state;
}

base::Result<FollowedState> read_followed_state(Disk& disk, const fs::path& tree, std::string_view index) {
    const fs::path file = followed_file(tree, index);
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (!size) return FollowedState{};
    WHEELYARD_ASSIGN(const auto text, disk.read(file, max_state_bytes));
    return parse_followed_state(text);
}

}  // namespace wheelyard::indexer
