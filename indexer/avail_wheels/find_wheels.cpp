#include "indexer/avail_wheels/find_wheels.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "indexer/avail_wheels/query/filter.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/source/wheel_list_cache.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

constexpr int max_library_rounds = 8;        // each asks for the libraries of wheels that became the newest
constexpr std::size_t max_unread_pages = 3;  // an upstream that does not answer takes its whole time for each
constexpr std::size_t max_pages_of_missing = 64;  // of projects that a wheel list lacks

using Listing = std::function<base::Result<std::vector<Candidate>>()>;

base::Result<std::vector<Candidate>> list_until_known(const Listing& list, const Judging* judging) {
    for (int round = 0;; ++round) {
        auto listed = list();
        if (!listed || judging == nullptr || round == max_library_rounds || !judging->again(*listed))
            return listed;
    }
}

base::Result<WheelListAnswer> fetch(const SourceOptions& source, const World& world, Freshness freshness) {
    return fetch_wheel_list(world.get, source.index_url, cache_folder(world.environment), *world.clock,
                            freshness);
}

// `found` has a wheel list.
base::Status list_wheel_list(const SourceOptions& source, const Query& query, const World& world,
                             const std::string& simple_url, bool with_facts, const Judging* judging,
                             Found& found) {
    const Listing list = [&] {
        if (judging != nullptr) judging->opened(*found.wheel_list);
        return read_wheel_list(*found.wheel_list, query, simple_url, with_facts);
    };
    auto listed = list_until_known(list, judging);
    if (!listed && !source.index_url.empty()) {
        // The cached file is damaged inside.
        forget_wheel_list(cache_folder(world.environment), simple_url);
        WHEELYARD_ASSIGN(auto again, fetch(source, world, Freshness::now));
        if (again.wheel_list) {
            found.wheel_list = std::move(again.wheel_list);
            listed = list_until_known(list, judging);
        }
    }
    WHEELYARD_ASSIGN(found.listed, std::move(listed));
    return {};
}

// Says whether pages of projects may have wheels that the wheel list lacks.
bool has_more_on_pages(const SourceOptions& source, const Found& found) {
    return found.wheel_list && !source.index_url.empty() && !found.wheel_list->is_whole();
}

// What an index has not asked its upstreams for yet is on a project's page, not in the wheel list. A page
// that cannot be read leaves it missing, with a warning.
base::Status add_missing(const SourceOptions& source, const Query& query, const World& world, Found& found,
                         std::string& warning) {
    std::size_t pages = 0, unread = 0;
    for (const Wanted& wanted : query.wanted) {
        if (wanted.is_glob() || unread == max_unread_pages) continue;
        std::set<std::string> projects(wanted.projects.begin(), wanted.projects.end());
        projects.insert(wanted.pattern);
        const auto is_of_wanted = [&](const Candidate& one) {
            return projects.contains(one.release->project);
        };
        if (std::any_of(found.listed.begin(), found.listed.end(), is_of_wanted) ||
            ++pages > max_pages_of_missing)
            continue;
        auto offered = read_project(world.get, source.index_url, wanted);
        if (!offered) {
            ++unread;
            if (warning.empty())
                warning = "the page of " + wanted.pattern + " cannot be read: " + offered.error().text();
            continue;
        }
        std::set<std::string, std::less<>> known;  // by the wheel list, which has their facts
        for (const std::string& project : projects) {
            WHEELYARD_TRY(
                found.wheel_list->visit_one(name_key(project), [&](const simple::WheelListView& view) {
                    for (const auto line : base::split_lines(view.lines))
                        known.emplace(simple::parse_wheel_list_line(line).filename);
                }));
        }
        std::erase_if(*offered, [&](const Candidate& one) { return known.contains(one.link.filename); });
        auto listed = select(query, *std::move(offered)).wheels;
        std::move(listed.begin(), listed.end(), std::back_inserter(found.listed));
    }
    return {};
}

// Of the wheels that a folder or the pages of an index have.
base::Result<std::vector<Candidate>> list_offered(const SourceOptions& source, const Query& query,
                                                  const World& world, const Judging* judging) {
    std::vector<Candidate> offered;
    if (source.index_url.empty()) {
        WHEELYARD_ASSIGN(offered, read_folders(source, query.wanted));
    } else {
        WHEELYARD_ASSIGN(offered, read_index(world.get, source.index_url, query.wanted));
    }
    std::optional<WheelReading> reading;
    if (judging != nullptr && source.index_url.empty())
        reading.emplace(world.read_wheel, cache_of_wheels(source, world));
    std::set<std::string> read;  // by URL
    const Listing list = [&]() -> base::Result<std::vector<Candidate>> {
        for (;;) {
            Filter filter(query);
            std::vector<Candidate> listed;
            std::copy_if(offered.begin(), offered.end(), std::back_inserter(listed),
                         [&](const Candidate& candidate) { return filter.lists(candidate); });
            listed = choose(query, std::move(listed)).wheels;
            // Only listed wheels are read. What one says of itself may hide it, and then an older one is
            // listed.
            std::set<std::string> unread;
            for (const auto& candidate : listed) {
                if (reading && read.insert(candidate.link.url).second) unread.insert(candidate.link.url);
            }
            if (unread.empty()) return listed;
            for (auto& candidate : offered) {
                if (unread.contains(candidate.link.url)) reading->add_facts(candidate);
            }
        }
    };
    auto listed = list_until_known(list, judging);
    if (listed && reading) reading->keep();
    return listed;
}

}  // namespace

fs::path cache_of_wheels(const SourceOptions& source, const World& world) {
    const fs::path folder = cache_folder(world.environment);
    if (folder.empty()) return {};
    std::string places = source.wheelhouse.empty() ? "" : fs::absolute(source.wheelhouse).native();
    for (const auto& links : source.find_links)
        places += "\n" + fs::absolute(links).native();
    return folder / "wheels" / (base::hash_text_hex(places) + ".json");
}

fs::path folder_with_wheel_list(const fs::path& wheelhouse) {
    std::error_code gone;
    if (wheelhouse.empty()) return {};
    for (const auto& folder : {wheelhouse, wheelhouse / "simple"}) {
        if (fs::exists(folder / simple::wheel_list_name, gone)) return folder;
    }
    return {};
}

std::string url_of(const fs::path& folder) {
    return base::file_url(fs::absolute(folder).native());
}

base::Result<std::vector<Candidate>> read_folders(const SourceOptions& source,
                                                  const std::vector<Wanted>& wanted) {
    return source.find_links.empty() ? read_wheelhouse(source.wheelhouse, wanted)
                                     : read_find_links(source.find_links, wanted);
}

base::Result<Found> find_wheels(const SourceOptions& source, const Query& query, const World& world,
                                bool with_facts, std::string& warning, const Judging* judging) {
    Found found;
    std::string simple_url = source.index_url;
    if (source.index_url.empty()) {
        if (const auto folder = folder_with_wheel_list(source.wheelhouse); !folder.empty()) {
            WHEELYARD_ASSIGN(found.wheel_list, simple::WheelList::open(folder));
            simple_url = url_of(folder);
        }
    } else {
        WHEELYARD_ASSIGN(auto answer,
                         fetch(source, world, source.refresh ? Freshness::now : Freshness::recent));
        found.wheel_list = std::move(answer.wheel_list);
        warning = std::move(answer.warning);
    }
    if (found.wheel_list) {
        WHEELYARD_TRY(list_wheel_list(source, query, world, simple_url, with_facts, judging, found));
        if (has_more_on_pages(source, found))
            WHEELYARD_TRY(add_missing(source, query, world, found, warning));
    } else {
        WHEELYARD_ASSIGN(found.listed, list_offered(source, query, world, judging));
    }
    return found;
}

base::Result<std::vector<Candidate>> all_versions(SourceOptions source, const Query& query,
                                                  const World& world,
                                                  std::map<std::string, std::string>& unread) {
    source.refresh = false;
    std::string warning;  // was said of the first list
    WHEELYARD_ASSIGN(auto found, find_wheels(source, query, world, false, warning));
    std::string reason;
    const bool has_pages = has_more_on_pages(source, found);
    for (const Wanted& project : query.wanted) {
        if (!has_pages) break;
        if (unread.size() < max_unread_pages) {
            auto offered = read_project(world.get, source.index_url, project);
            if (offered) {
                std::move(offered->begin(), offered->end(), std::back_inserter(found.listed));
                continue;
            }
            reason = offered.error().text();
        }
        unread.emplace(project.pattern, reason);
    }
    return select(query, std::move(found.listed)).wheels;
}

}  // namespace wheelyard::avail_wheels
