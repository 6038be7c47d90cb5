// What the registry knows of one wheel: who made it, of what, and whether it loads with a torch.
#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/documents.hpp"
#include "lib/wire/problem.hpp"
#include "registry/api/api.hpp"
#include "registry/api/derived_sbom.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/http/ranges.hpp"
#include "registry/intake/torch_tables.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {
namespace {

using io::field;

struct OneFile {
    std::string index;
    std::string filename;
};
constexpr auto of_file = arguments<OneFile>({
    in_path(field<&OneFile::index>("index", "The index")),
    in_path(field<&OneFile::filename>("filename", "The file's name, as on the project's page")),
});
struct WithTorch {
    std::string index;
    std::string filename;
    std::string torch;
};
constexpr auto of_pair = arguments<WithTorch>({
    in_path(field<&WithTorch::index>("index", "The index")),
    in_path(field<&WithTorch::filename>("filename", "The file name of a wheel")),
    in_query(field<&WithTorch::torch>("torch", "The file name of a wheel of torch")),
});

base::Result<catalog::FileRow> known_file(const ApiParts& parts, const catalog::FileName& name) {
    WHEELYARD_ASSIGN(const auto reader, parts.store.reader());
    WHEELYARD_ASSIGN(auto row, reader->file(name.index, name.filename));
    if (row) return *std::move(row);
    return wire::fail("file.unknown", "The index has no such file", name.index + "/" + name.filename,
                      "wheelyard-registry files " + name.index + " lists its files");
}

// Quarantined files, which no page lists, have provenance, too: thus the scope of the token counts.
Reply show_provenance(const ApiParts& parts, const Call& call, const OneFile& of) {
    if (!has_files_of(parts.config, of.index))
        return unknown_index(parts.config, of.index);  // it may have been private
    const auto document =
        known_file(parts, {of.index, of.filename}).and_then([&](const catalog::FileRow& row) {
            return read_provenance(row, parts.blobs);
        });
    if (document) return reply_with(*document);
    return fail_read(call, document.error());
}

// A file that a page lists. Error "file.unknown".
base::Result<catalog::FileRow> listed_file(const ApiParts& parts, const catalog::FileName& name) {
    WHEELYARD_ASSIGN(const auto reader, parts.store.reader());
    WHEELYARD_ASSIGN(const auto row, reader->file(name.index, name.filename));
    if (row && row->state == catalog::FileState::active) {
        WHEELYARD_ASSIGN(const auto project, reader->project(row->index, row->project));
        if (!project || project->status != catalog::ProjectStatus::quarantined) return *row;
    }
    return wire::fail("file.unknown", "The index has no such file", name.filename,
                      "see the project's page for its files");
}

// For readers of the wheel: nothing of a file that no page lists, unless they may list all files.
Reply show_sbom(const ApiParts& parts, const Call& call, const OneFile& of) {
    const bool sees_all = sees_all_files(parts.config, call, of.index);
    if (!sees_all) {
        const auto index =
            index_to_read(parts.config, call.caller, of.index, project_of_filename(of.filename));
        if (!index) return tl::unexpected(index.error());
    }
    std::string tag;
    const auto document =
        (sees_all ? known_file(parts, {of.index, of.filename}) : listed_file(parts, {of.index, of.filename}))
            .and_then([&](const catalog::FileRow& row) -> base::Result<std::string> {
                // The row has all that the document is made of, or its hash.
                tag = base::sha256_hex(WHEELYARD_VERSION + catalog::render_file_row(row));
                if (http::names_etag(call.request.if_none_match, "\"" + tag + "\"")) return std::string();
                return render_sbom(row, parts.blobs);
            });
    if (!document) return fail_read(call, document.error());
    return http::ApiReply{.status = 200, .json = *document, .tag = std::move(tag)};
}

// For readers of both wheels.
Reply judge_with_torch(const ApiParts& parts, const Call& call, const WithTorch& of) {
    const std::string& torch = of.torch;
    const auto name = wheel::parse_wheel_filename(of.filename),
               torch_name = wheel::parse_wheel_filename(torch);
    if (!name || !torch_name || torch_name->project != "torch")
        return refuse("torch_fit.names",
                      "`torch` must be the file name of a wheel of torch, and the file a wheel", torch,
                      "GET …/files/FILENAME/with-torch?torch=torch-2.6.0-cp312-cp312-linux_x86_64.whl");
    std::optional<catalog::FileRow> companion_row, torch_row;
    for (const auto& [file, row] : {std::pair{&*name, &companion_row}, std::pair{&*torch_name, &torch_row}}) {
        const auto index = index_to_read(parts.config, call.caller, of.index, file->project);
        if (!index) return tl::unexpected(index.error());
        auto listed = listed_file(parts, {(*index)->name, file->text()});
        if (!listed) return fail_read(call, listed.error());
        *row = *std::move(listed);
    }
    inspect::TorchFit fit;
    fit.sentence = "nothing is known of the names of torch that it uses";
    // Strangers ask, too: a wheel is read for them only if it uses torch, and none while another one is read.
    const auto facts = io::parse_json(companion_row->facts_json);
    if (facts && !facts->string_or("torch_stable_abi", {}).empty()) {
        const TorchTables tables(parts.blobs, parts.config->store, IfBusy::fail);
        const auto judged = tables.uses_of(*name, companion_row->sha256).and_then([&](const auto& companion) {
            return tables.of(*torch_name, torch_row->sha256).map([&](const inspect::TorchExports& exports) {
                return inspect::fits(companion, exports);
            });
        });
        const bool is_unknown = !judged && (judged.error().recovery == base::Recovery::retry ||
                                            judged.error().kind == base::ErrorKind::malformed);
        if (!judged && !is_unknown) return fail_read(call, judged.error());
        if (judged) fit = *judged;
        if (is_unknown) fit.sentence = judged.error().sentence;
    }
    std::string document = torch_fit_to_json(torch, fit).render();
    std::string tag = base::sha256_hex(document);
    return http::ApiReply{.status = 200, .json = std::move(document), .tag = std::move(tag)};
}

io::Document sbom_document() {
    return {.name = "cyclonedx.bom"};
}

constexpr std::array wheel_rows{
    row<of_file, show_provenance>(
        got("/api/v1/indexes/{index}/files/{filename}/provenance", "readProvenance",
            wire::wheel_provenance_document, "Returns what made a wheel, as its uploader stated it"),
        "request.arguments",
        {.scope = Scope::some_project,
         .to = "reading this index or project",
         .advice = "a right in this index and project"}),
    row<of_file, show_sbom>(
        with_tag(open_to_all(got("/api/v1/indexes/{index}/files/{filename}/sbom", "readSbom", sbom_document,
                                 "Returns a bill of materials of a wheel (CycloneDX), made of what the "
                                 "registry knows of it"))),
        "request.arguments", {.callers = Callers::everyone, .advice = "`read` for the project"}),
    row<of_pair, judge_with_torch>(
        open_to_all(got("/api/v1/indexes/{index}/files/{filename}/with-torch", "judgeWithTorch",
                        torch_fit_document,
                        "Returns whether a wheel can be loaded with a torch of the index, by the names in "
                        "both (?torch=FILENAME)")),
        "request.arguments",
        {.callers = Callers::everyone, .advice = "`read` for the project and for torch"}),
};

}  // namespace

std::span<const OperationRow> wheel_operations() {
    return wheel_rows;
}

}  // namespace wheelyard::registry
