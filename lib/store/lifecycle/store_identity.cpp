#include "lib/store/lifecycle/store_identity.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "lib/io/record.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::lifecycle {
namespace {

constexpr std::string_view identity_format = "wheelyard.store/1";
constexpr std::size_t store_id_bytes = 8;
constexpr std::size_t max_unknown_blobs = 1'000;  // more of them are no orphans

using S = StoreIdentity;
using E = catalog::EventMark;
constexpr auto identity_record = io::record<S>({
    io::field<&S::registry>("registry", "the registry that uses the store", io::Need::required),
    io::field<&S::store>("store", "random, of this store alone", io::Need::required),
    io::field<&S::place>("place", "what its first program called it"),
    io::field<&S::event, &E::serial>("serial", "the newest event that was noted", io::Need::required),
    io::field<&S::event, &E::time>("time", "of that event, in microseconds since 1970"),
    io::field<&S::event, &E::kind>("kind", "of that event"),
});

std::string new_store_id() {
    return base::encode_hex(base::random_bytes(store_id_bytes));
}

base::Status write_identity(const blobs::BlobStore& blobs, const StoreIdentity& identity) {
    io::Json document = io::Json::object({{"format", identity_format}});
    identity_record.write_into(document, identity);
    return blobs.write_identity(document.render() + "\n");
}

// What the catalog says of itself.
struct Own {
    std::string registry;
    E newest;
    catalog::HistoryOf history = catalog::HistoryOf::same;
};

base::Result<Own> look_at_catalog(const LifecycleParts& place, const std::optional<StoreIdentity>& found) {
    Own own;
    WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(own.registry, catalog.registry_id());
        WHEELYARD_ASSIGN(const catalog::Serial last, catalog.last_serial());
        WHEELYARD_ASSIGN(own.newest, catalog.event_at(last));
        if (!found) return {};
        WHEELYARD_ASSIGN(own.history, catalog.compare_history(found->event));
        return {};
    }));
    return own;
}

std::string serial_text(const E& event) {
    return " at serial " + std::to_string(event.serial);
}

std::string adopt_command(const LifecycleParts& place) {
    std::error_code ignored;
    const std::filesystem::path config = std::filesystem::absolute(place.config, ignored);
    return "wheelyard-registry store adopt -c " + base::quote_shell(config.string());
}

base::Error of_another(const LifecycleParts& place, const Own& own, const std::string& there) {
    return wire::fail("store.of_another", "The store of the wheels is another registry's",
                      place.store + ": " + there + "; this catalog: registry " + own.registry +
                          serial_text(own.newest),
                      "give this registry a store or a prefix of its own ([stores] blobs); to take the store "
                      "from the other one: " +
                          adopt_command(place))
        .value();
}

base::Status check_registry(const LifecycleParts& place, const Own& own, const StoreIdentity& found) {
    if (found.registry == own.registry) return {};
    return base::fail(of_another(place, own, "registry " + found.registry + serial_text(found.event)));
}

base::Status check_history(const LifecycleParts& place, const Own& own, const StoreIdentity& found) {
    if (own.history == catalog::HistoryOf::same) return {};
    const bool is_behind = own.history == catalog::HistoryOf::behind;
    return wire::fail(
        "store.other_history",
        is_behind ? "The catalog is older than the store of the wheels"
                  : "The catalog has another history than the store of the wheels",
        place.store + ": registry " + found.registry + serial_text(found.event) + "; this catalog: " +
            (is_behind ? "the same" : "the same, with another event there,") + serial_text(own.newest),
        "gc would remove wheels that the other copy of the catalog has: use that one; to go on "
        "with this one: " +
            adopt_command(place));
}

enum class Contents { empty, known, unknown };
// `known`: the catalog knows one of the first blobs. Orphans may be among them.
base::Result<Contents> look_at_blobs(const LifecycleParts& place) {
    std::size_t seen = 0;
    bool is_known = false;
    WHEELYARD_TRY(blobs::for_each_two_digits([&](const std::string& digits) -> base::Status {
        if (is_known || seen >= max_unknown_blobs) return {};
        WHEELYARD_ASSIGN(const auto blobs, place.blobs.list(digits));
        seen += blobs.size();
        return place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            for (auto blob = blobs.begin(); blob != blobs.end() && !is_known; ++blob) {
                WHEELYARD_ASSIGN(const auto row, catalog.blob(blob->sha256));
                is_known = row.has_value();
            }
            return {};
        });
    }));
    return is_known ? Contents::known : seen == 0 ? Contents::empty : Contents::unknown;
}

base::Result<bool> may_begin(const LifecycleParts& place, EmptyStore empty) {
    if (empty == EmptyStore::is_new || empty == EmptyStore::was_there) return empty == EmptyStore::is_new;
    bool has_blobs = false;
    WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto first, catalog.blobs_after("", 1));
        has_blobs = !first.empty();
        return {};
    }));
    return !has_blobs;
}

// Of a server that runs, the store is one that does not answer: its file system may come back.
tl::unexpected<base::Error> fail_gone(const LifecycleParts& place, EmptyStore empty) {
    auto failed =
        wire::fail("store.document_gone", "The store of the wheels has lost its registry.json",
                   place.store + ": none, and this catalog has used a store",
                   "mount its file system, or restore it; if only the document is gone, or the wheels are "
                   "lost for good: " +
                       adopt_command(place));
    if (empty == EmptyStore::was_there || empty == EmptyStore::may_be_away)
        failed.value().kind = base::ErrorKind::unavailable;
    return failed;
}

// Of the programs over one catalog that start at once, one leaves the document.
base::Result<StoreIdentity> take_unmarked(const LifecycleParts& place, const Own& own, EmptyStore empty) {
    WHEELYARD_ASSIGN(const Contents contents, look_at_blobs(place));
    if (contents == Contents::unknown)
        return base::fail(of_another(place, own, "wheels that this catalog does not know"));
    WHEELYARD_ASSIGN(const bool begins, may_begin(place, empty));
    if (!begins && (contents == Contents::empty || empty == EmptyStore::was_there))
        return fail_gone(place, empty);
    StoreIdentity identity{own.registry, new_store_id(), place.store, own.newest};
    WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) {
        return catalog.exclusively([&]() -> base::Status {
            WHEELYARD_ASSIGN(auto meanwhile, read_identity(place.blobs));
            if (!meanwhile) return write_identity(place.blobs, identity);
            identity = *std::move(meanwhile);
            return {};
        });
    }));
    return identity;
}

}  // namespace

base::Result<std::optional<StoreIdentity>> read_identity(const blobs::BlobStore& blobs) {
    const auto text = blobs.read_identity();
    if (!text && text.error().os_error == ENOENT) return std::nullopt;
    if (!text) return base::fail(text.error());
    const auto json = io::parse_json(*text);
    StoreIdentity identity;
    if (!json || json->string_or("format", "") != identity_format || !identity_record.read(*json, identity))
        return base::fail_malformed("store.identity", "registry.json of the store of the wheels is damaged",
                                    text->substr(0, 100),
                                    "`wheelyard-registry store adopt` writes it again, for the registry "
                                    "that is to use the store");
    return identity;
}

bool is_of_store(const base::Error& error) {
    return error.kind == base::ErrorKind::conflict || error.kind == base::ErrorKind::malformed;
}

base::Result<StoreClaim> claim_store(const LifecycleParts& place, EmptyStore empty) {
    WHEELYARD_ASSIGN(std::optional<StoreIdentity> found, read_identity(place.blobs));
    WHEELYARD_ASSIGN(const Own own, look_at_catalog(place, found));
    if (!found) {
        WHEELYARD_ASSIGN(found, take_unmarked(place, own, empty));
    }
    WHEELYARD_TRY(check_registry(place, own, *found));
    StoreClaim claim{*std::move(found), {}};
    claim.history = check_history(place, own, claim.identity);
    if (!claim.history || own.newest.serial <= claim.identity.event.serial) return claim;
    claim.identity.event = own.newest;
    WHEELYARD_TRY(write_identity(place.blobs, claim.identity));
    WHEELYARD_ASSIGN(const Own after, look_at_catalog(place, std::nullopt));
    if (after.registry == own.registry) return claim;
    claim.identity.registry = after.registry;  // adopt_store() came in between
    WHEELYARD_TRY(write_identity(place.blobs, claim.identity));
    return claim;
}

base::Status check_store(const LifecycleParts& place) {
    WHEELYARD_ASSIGN(const std::optional<StoreIdentity> found, read_identity(place.blobs));
    if (!found) return {};
    WHEELYARD_ASSIGN(const Own own, look_at_catalog(place, std::nullopt));
    return check_registry(place, own, *found);
}

base::Result<Adopted> adopt_store(const LifecycleParts& place) {
    const auto found = read_identity(place.blobs);
    if (!found && found.error().kind != base::ErrorKind::malformed) return base::fail(found.error());
    Adopted adopted{found ? *found : std::nullopt, {}};
    WHEELYARD_TRY(place.on_catalog([](catalog::Catalog& catalog) { return catalog.renew_registry_id(); }));
    WHEELYARD_ASSIGN(const Own own, look_at_catalog(place, std::nullopt));
    adopted.now = {own.registry, adopted.before ? adopted.before->store : new_store_id(),
                   adopted.before ? adopted.before->place : place.store, own.newest};
    WHEELYARD_TRY(write_identity(place.blobs, adopted.now));
    return adopted;
}

}  // namespace wheelyard::lifecycle
