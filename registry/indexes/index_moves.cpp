#include "registry/indexes/index_moves.hpp"

#include <algorithm>

#include "registry/api/readers.hpp"

namespace wheelyard::registry {

std::vector<http::IndexEntry> index_entries(const RegistryConfig& config,
                                            const std::map<std::string, catalog::Serial>& moving) {
    std::vector<http::IndexEntry> entries;
    for (const IndexConfig& index : config.indexes) {
        const bool is_moving = moving.contains(index.name);
        entries.push_back({.name = index.name,
                           .title = index.title,
                           .is_advertised = is_advertised(config, index),
                           .is_private = index.is_private || is_moving,
                           .is_moving = is_moving,
                           .has_pages = config.pages && index.has_pages});
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
}

void IndexMoves::attach(http::Server& server, SiteReports& sites) {
    const std::lock_guard lock(mutex_);
    server_ = &server;
    sites_ = &sites;
}

void IndexMoves::detach() {
    const std::lock_guard lock(mutex_);
    server_ = nullptr;
    sites_ = nullptr;
}

void IndexMoves::begin(const std::vector<std::string>& indexes, catalog::Serial serial) {
    const std::lock_guard lock(mutex_);
    for (const std::string& index : indexes)
        moving_[index] = serial;
    if (server_ != nullptr) server_->replace_indexes(index_entries(*config_.now(), moving_));
}

void IndexMoves::end(catalog::Serial serial) {
    const std::lock_guard lock(mutex_);
    std::erase_if(moving_, [&](const auto& index) { return index.second <= serial; });
    if (server_ == nullptr) return;
    server_->replace_indexes(index_entries(*config_.now(), moving_));
    sites_->show_all();  // an index left its status behind
}

}  // namespace wheelyard::registry
