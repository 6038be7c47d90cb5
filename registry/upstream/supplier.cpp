#include "registry/upstream/supplier.hpp"

#include <algorithm>

#include "lib/base/text/url.hpp"

namespace wheelyard::registry {
namespace {

// A name that nobody else may have is asked of an upstream with an account, or of one in the own network.
bool is_own(const UpstreamConfig& upstream) {
    if (!upstream.username.empty()) return true;
    const auto url = base::parse_url(upstream.url);
    return url && may_be_private(upstream, *url);
}

bool ever_supplied(const Candidate& candidate, const CachedPage& page) {
    return candidate.has_files || !page.gone.empty() || page.absent_since != 0;
}

// Without a note, as versions before wrote pages of an only upstream. Where others are noted, this index is
// not among them.
bool shows_supply(const Candidate& candidate, const CachedPage* page) {
    if (page == nullptr) return candidate.has_files;
    return page->supplies.empty() && page->released == 0 &&
           (!page->is_absent || ever_supplied(candidate, *page));
}

bool has(const std::vector<std::string>& indexes, const std::string& index) {
    return std::find(indexes.begin(), indexes.end(), index) != indexes.end();
}

}  // namespace

Standing standing_of(const Candidate& candidate, const CachedPage* page) {
    if (page == nullptr) return Standing::unknown;
    if (!page->is_absent) return Standing::supplies;
    if (page->released != 0) return Standing::passes;
    if (ever_supplied(candidate, *page)) return Standing::keeps;
    // The project is a candidate's because `allow` names it, or because there is no `allow`.
    const bool is_named = !candidate.upstream->allow.empty();
    return is_named && is_own(*candidate.upstream) ? Standing::binds : Standing::passes;
}

const Candidate* supplier_of(const std::vector<Candidate>& candidates, std::span<const SharedPage> pages,
                             const std::string& index) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (pages[i] && has(pages[i]->supplies, index) && has(candidates[i].shown_by, index))
            return &candidates[i];
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].index->name == index && shows_supply(candidates[i], pages[i].get()))
            return &candidates[i];
    }
    return nullptr;
}

bool may_supply(const Candidate& candidate, const std::vector<Candidate>& candidates,
                std::span<const SharedPage> pages, const std::string& index) {
    if (const Candidate* const own = supplier_of(candidates, pages, index)) return own == &candidate;
    bool is_free = true;
    for (const Candidate& of : candidates) {
        for (const std::string& inherited : of.shown_by) {
            const Candidate* const supplier = supplier_of(candidates, pages, inherited);
            if (supplier == &candidate) return true;
            is_free = is_free && supplier == nullptr;
        }
    }
    return is_free;
}

}  // namespace wheelyard::registry
