// Whose the store of the wheels is. Two registries in one store, or an older copy of a catalog beside the one
// in use, would each take the other's wheels for orphans. So one document lies beside the wheels:
//
//     {"format":"wheelyard.store/1","registry":"5f2a…","store":"8f0c…","place":"s3://farm at https://…",
//      "serial":1759,"time":1795176000000000,"kind":"file_added"}
//
// `registry` is the catalog's registry_id(). `store` is random, of this store alone: nodes know by it that
// they use the same one, whatever each calls it; `place` is what its first program called it. The event is
// the newest one that was noted. A catalog that ends before it, or has another event there, is another copy
// than the one that has used the store.
//
// gc removes nothing that is younger than min_grace_ms. So it is enough that a server notes its newest event
// more often.
#pragma once

#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/lifecycle/perform.hpp"

namespace wheelyard::lifecycle {

struct StoreIdentity {
    std::string registry;
    std::string store;
    std::string place;
    catalog::EventMark event;
};

// nullopt: the store has none, as one that only older programs have used. "store.identity": it cannot be
// read.
[[nodiscard]] base::Result<std::optional<StoreIdentity>> read_identity(const blobs::BlobStore& blobs);

struct StoreClaim {
    StoreIdentity identity;
    // "store.other_history": the catalog is older than the store, or has gone another way since. Then nothing
    // was noted.
    base::Status history = {};
};
// When an empty store without a document becomes the catalog's. One whose file system is not mounted looks
// like that.
enum class EmptyStore {
    is_new_without_blobs,  // if the catalog knows no blob
    may_be_away,           // likewise, of a server that runs: otherwise it is one that does not answer
    is_new,                // the blobs are to be copied to it
    was_there,             // never: this process has seen the document
};
// Checks that the store is the catalog's, and notes its newest event. A store without a document becomes the
// catalog's if the catalog knows what is in it, or it is empty and `empty` allows that.
// "store.document_gone": it does not. "store.of_another": it is another registry's.
[[nodiscard]] base::Result<StoreClaim> claim_store(const LifecycleParts& place,
                                                   EmptyStore empty = EmptyStore::is_new_without_blobs);
// The same check, which changes nothing: a store without a document passes.
[[nodiscard]] base::Status check_store(const LifecycleParts& place);
// Says whether an error of claim_store() says what is in the store, and not that it does not answer.
[[nodiscard]] bool is_of_store(const base::Error& error);
// Makes the store the catalog's, under another registry_id(): a copy of the catalog, and another registry
// that has used the store, are refused from then on. The identity before it, and the new one.
struct Adopted {
    std::optional<StoreIdentity> before;
    StoreIdentity now;
};
[[nodiscard]] base::Result<Adopted> adopt_store(const LifecycleParts& place);

}  // namespace wheelyard::lifecycle
