#include "indexer/web/shown_index.hpp"

#include "lib/page/template.hpp"

namespace wheelyard::indexer {

void ShownSearch::show(page::Values& to) const {
    to("title", title)("projects", projects)("form", form)("cards", cards)("first", first);
}

void NodeTag::show(page::Values& to) const {
    to("node", node)("hardware", hardware);
}

void IndexCard::show(page::Values& to) const {
    to("folder", folder)("name", name)("title", title)("projects", projects);
    to("building", building)("broken", broken)("nodes", nodes);
}

void RunningLine::show(page::Values& to) const {
    to("link", link)("package", package)("version", version)("place", place)("phase", phase)("bar", bar);
}

void ShownFront::show(page::Values& to) const {
    to("title", title)("lead", lead)("contact", contact)("contact_link", contact_link)("form", form);
    to("indexes", indexes)("running", running)("newest", newest)("help", help);
}

void ShownPhase::show(page::Values& to) const {
    to("name", name)("duration", duration)("is_first", is_first);
}

void ShownMemory::show(page::Values& to) const {
    to("limit_y", limit_y)("line", line)("now", now)("peak", peak)("limit", limit);
}

void ShownBuild::show(page::Values& to) const {
    to("anchor", anchor)("site", site)("id", id)("package", package)("version", version)("phase", phase);
    to("place", place)("began", began)("ended", ended)("duration", duration)("limit", limit)("bar", bar);
    to("done", done)("total", total)("phases", phases)("memory", memory);
    to("cause", cause)("remedy", remedy)("log", log);
}

void WaitingLine::show(page::Values& to) const {
    to("id", id)("package", package)("version", version)("place", place)("asked", asked);
    to("ended", ended)("purpose", purpose)("state", state);
}

void HeldQueue::show(page::Values& to) const {
    to("queue", queue)("since", since)("reason", reason);
}

void AgentLine::show(page::Values& to) const {
    to("site", site)("report_time", report_time)("next", next)("queues", queues);
}

void ShownBuilds::show(page::Values& to) const {
    to("index", index)("time", time)("broken", broken)("running", running)("failures", failures)("waiting",
                                                                                                 waiting);
    to("ended_requests", ended_requests)("agents", agents);
}

void ShownFromApi::show(page::Values& to) const {
    to("title", title)("index", index)("kind", kind)("needs", needs);
}

void ShownState::show(page::Values& to) const {
    to("colour", colour)("word", word)("link", link)("bar", bar)("reason", reason);
}

void ShownBar::show(page::Values& to) const {
    to("done", done)("total", total);
}

void ShownTime::show(page::Values& to) const {
    to("exact", exact)("shown", shown);
}

}  // namespace wheelyard::indexer
