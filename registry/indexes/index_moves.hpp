// What the server has of the indexes, also while an index moves between the tree for everyone and that of the
// private ones, because its `read` has changed:
//
//     rules committed ─► begin(): only tokens may read it, and its pages are answered 503 ─► publish run ─► end()
//
// So nobody reads it without a token after the change, and no installer finds half of it.
//
// Thread-safe. Held by a shared_ptr: a publish run may end after the server did.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/store/catalog/catalog.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/config/live_config.hpp"
#include "registry/server/server.hpp"

namespace wheelyard::registry {

// Sorted by name. A staging index is for agents and for those who promote its wheels, so it is not
// advertised; nor is an archived one. The pages of `moving` lie in neither tree as a whole.
[[nodiscard]] std::vector<http::IndexEntry> index_entries(
    const RegistryConfig& config, const std::map<std::string, catalog::Serial>& moving = {});

class IndexMoves {
  public:
    // `config` outlives the object.
    explicit IndexMoves(const LiveConfig& config) : config_(config) {}
    // Both outlive the call of detach(), from which on nothing more happens.
    void attach(http::Server& server, SiteReports& sites);
    void detach();
    // The configuration was replaced, and `indexes` move with the pages of this serial.
    void begin(const std::vector<std::string>& indexes, catalog::Serial serial);
    // The pages of this serial are visible.
    void end(catalog::Serial serial);

  private:
    const LiveConfig& config_;
    std::mutex mutex_;  // guards all below
    std::map<std::string, catalog::Serial> moving_;
    http::Server* server_ = nullptr;
    SiteReports* sites_ = nullptr;
};

}  // namespace wheelyard::registry
