#include "indexer/web/shown_project.hpp"

#include "lib/page/template.hpp"

namespace wheelyard::indexer {

void MonoValue::show(page::Values& to) const {
    to("text", text)("is_first", is_first);
}

void WheelFact::show(page::Values& to) const {
    to("name", name)("values", values)("more", more)("text", text)("link", link);
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
    to("metadata_link", metadata_link)("provenance_link", provenance_link)(
        "attestations_link", attestations_link)("is_yanked", is_yanked);
    to("yanked_reason", yanked_reason)("warnings", warnings)("facts", facts)("is_checked", is_checked);
    to("findings", findings)("fits", fits)("made_by", made_by)("is_signed", is_signed);
    to("file_index", file_index)("has_sbom", has_sbom)("uploaded_to", uploaded_to)(
        "is_promoted", is_promoted)("verify", verify)("index_address", index_address);
    to("site", site)("build", build);
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
    to("project", project)("rest", rest)("wanted", wanted)("nowhere", where.nowhere)(
        "is_open", where.is_open)("pythons", where.pythons)("machines", where.machines);
}

void ContentsLine::show(page::Values& to) const {
    to("anchor", anchor)("text", text)("is_deep", is_deep);
}

void ShownContents::show(page::Values& to) const {
    to("lines", lines);
}

void GridWheel::show(page::Values& to) const {
    to("colour", colour)("anchor", anchor)("label", label);
}

void GridBuild::show(page::Values& to) const {
    to("key", key)("state", state)("place", place);
}

void GridCell::show(page::Values& to) const {
    to("python", python)("is_reported", is_reported)("is_known", is_known)("wheels", wheels)("builds",
                                                                                             builds);
}

void GridColumn::show(page::Values& to) const {
    to("title", title)("is_reported", is_reported);
}

void GridRow::show(page::Values& to) const {
    to("version", version)("day", day)("is_reported_row", is_reported)("cells", cells);
}

void ShownGrid::show(page::Values& to) const {
    to("project", project)("columns", columns)("rows", rows);
}

void InstallOffer::show(page::Values& to) const {
    to("node", node)("offer", offer)("why", why)("job", job)("submit", submit)("setups", setups);
}

void InstallWay::show(page::Values& to) const {
    to("name", name)("id", id)("title", title)("text", text)("shown", shown)("about", about);
}

void ShownInstall::show(page::Values& to) const {
    to("refusal", refusal)("project", project)("newest", newest)("only", only)("hashes", hashes);
    to("offers", offers)("ways", ways)("jobs", jobs)("note", note)("refused", refused)("script", script);
}

void ProjectCard::show(page::Values& to) const {
    to("link", link)("name", name)("version", version)("summary", summary)("pythons", pythons);
    to("machines", machines)("gpus", gpus)("index", index)("time", time)("tags", tags);
}

void NoView::show(page::Values& /*to*/) const {}

void ShownProject::show(page::Values& to) const {
    to("project", project)("name", name)("version", version)("summary", summary)("status", status)(
        "status_reason", status_reason);
    to("install", install)("report_time", report_time)("quarantined", quarantined);
    to("grid", grid)("versions", versions)("older", older)("older_files", older_files)("sdists", sdists);
    to("description", description)("licence", licence)("links", links)("requirements", requirements);
    to("compare_script", compare_script)("versions_script", versions_script);
}

}  // namespace wheelyard::indexer
