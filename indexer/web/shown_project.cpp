#include "indexer/web/shown_project.hpp"

#include "lib/page/template.hpp"

namespace wheelyard::indexer {

void MonoValue::show(page::Values& to) const {
    to("text", text)("is_first", is_first);
}

void WheelFact::show(page::Values& to) const {
    to("name", name)("values", values)("more", more)("text", text);
}

void WheelFinding::show(page::Values& to) const {
    to("colour", colour)("severity", severity)("sentence", sentence)("code", code);
    to("evidence", evidence)("advice", advice);
}

void WheelFit::show(page::Values& to) const {
    to("node", node)("colour", colour)("runs", runs)("why", why)("advice", advice);
}

void WheelSection::show(page::Values& to) const {
    to("anchor", anchor)("is_open", is_open)("filename", filename)("size", size)("link", link);
    to("metadata_link", metadata_link)("provenance_link", provenance_link)("is_yanked", is_yanked);
    to("yanked_reason", yanked_reason)("warnings", warnings)("facts", facts)("is_checked", is_checked);
    to("findings", findings)("fits", fits)("made_by", made_by);
}

void VersionSection::show(page::Values& to) const {
    to("version", version)("wheels", wheels);
}

void FileLine::show(page::Values& to) const {
    to("anchor", anchor)("link", link)("filename", filename)("size", size)("is_yanked", is_yanked);
}

void ProjectLink::show(page::Values& to) const {
    to("label", label)("url", url);
}

void RequirementLine::show(page::Values& to) const {
    to("project", project)("name", name)("rest", rest);
}

void ShownProject::show(page::Values& to) const {
    to("name", name)("version", version)("summary", summary)("status", status)("status_reason",
                                                                               status_reason);
    to("install", install)("sites", sites)("report_time", report_time)("quarantined", quarantined);
    to("wheels", wheels)("versions", versions)("older", older)("older_files", older_files)("sdists", sdists);
    to("description", description)("licence", licence)("links", links)("requirements", requirements);
}

}  // namespace wheelyard::indexer
