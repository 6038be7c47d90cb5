// What lib/page/templates/front.html, search.html, builds.html and from_api.html show: the typed views that
// front_page.cpp, search_page.cpp and builds_page.cpp fill; and those of the parts of state_cell.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/page/html.hpp"

namespace wheelyard::page {
class Values;
}

namespace wheelyard::indexer {

struct ShownSearch {
    std::string title = {};
    std::string projects = {};  // projects_text()
    page::Html form = {};
    std::vector<page::Html> cards = {};
    std::uint64_t first = 0;  // the cards, if they are not all
    void show(page::Values& to) const;
};

struct NodeTag {
    std::string node;
    std::string hardware;
    void show(page::Values& to) const;
};

struct IndexCard {
    std::string folder = {};
    std::string name = {};
    std::string title = {};
    std::string projects = {};  // projects_text()
    std::uint64_t building = 0;
    std::uint64_t broken = 0;  // likewise that failed, without a wheel since
    std::vector<NodeTag> nodes = {};
    void show(page::Values& to) const;
};

struct RunningLine {
    std::string link = {};
    std::string package = {};
    std::string version = {};
    std::string place = {};
    std::string phase = {};
    page::Html bar = {};
    void show(page::Values& to) const;
};

struct ShownFront {
    std::string title = {};
    std::string lead = {};
    std::string contact = {};
    std::string contact_link = {};  // empty: the contact is no address
    page::Html form = {};
    std::vector<IndexCard> indexes = {};
    std::vector<RunningLine> running = {};
    std::vector<page::Html> newest = {};
    page::Html help = {};
    void show(page::Values& to) const;
};

struct ShownPhase {
    std::string name = {};
    std::string duration = {};
    bool is_first = false;
    void show(page::Values& to) const;
};

// The drawing is 240 wide and 48 high.
struct ShownMemory {
    std::uint64_t limit_y = 0;
    std::string line = {};  // the path of SVG
    std::string now = {};
    std::string peak = {};
    std::string limit = {};
    void show(page::Values& to) const;
};

// A build that runs or has failed; members that do not apply are empty.
struct ShownBuild {
    std::string anchor = {};
    std::string site = {};
    std::string id = {};
    std::string package = {};
    std::string version = {};
    std::string phase = {};
    std::string place = {};
    page::Html began = {};
    page::Html ended = {};
    std::string duration = {};
    std::string limit = {};
    page::Html bar = {};
    std::string done = {};
    std::uint64_t total = 0;
    std::vector<ShownPhase> phases = {};
    std::optional<ShownMemory> memory = {};
    std::string cause = {};
    page::Html remedy = {};
    std::string log = {};
    void show(page::Values& to) const;
};

// A request, which has an ID and may have ended, or a cell that waits.
struct WaitingLine {
    std::string id = {};
    std::string package = {};
    std::string version = {};
    std::string place = {};
    page::Html asked = {};
    page::Html ended = {};
    std::string purpose = {};
    page::Html state = {};
    void show(page::Values& to) const;
};

struct HeldQueue {
    std::string queue = {};
    page::Html since = {};
    std::string reason = {};
    void show(page::Values& to) const;
};

struct AgentLine {
    std::string site = {};
    page::Html report_time = {};
    page::Html next = {};
    std::vector<HeldQueue> queues = {};
    void show(page::Values& to) const;
};

struct ShownBuilds {
    std::string index = {};
    page::Html time = {};
    std::uint64_t broken = 0;  // builds that failed and have no wheel since
    std::vector<ShownBuild> running = {};
    std::vector<ShownBuild> failures = {};
    std::vector<WaitingLine> waiting = {};
    std::vector<WaitingLine> ended_requests = {};
    std::vector<AgentLine> agents = {};
    void show(page::Values& to) const;
};

struct ShownFromApi {
    std::string title = {};
    std::string index = {};
    std::string kind = {};
    std::string needs = {};
    void show(page::Values& to) const;
};

struct ShownState {
    std::string colour = {};
    std::string word = {};
    std::string link = {};
    page::Html bar = {};
    std::string reason = {};
    void show(page::Values& to) const;
};

struct ShownBar {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    void show(page::Values& to) const;
};

struct ShownTime {
    std::string exact = {};
    std::string shown = {};
    void show(page::Values& to) const;
};

}  // namespace wheelyard::indexer
