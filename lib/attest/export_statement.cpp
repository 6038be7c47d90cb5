// Statements about exports.
#include "lib/attest/export_statement.hpp"

#include <utility>

#include "lib/io/json.hpp"

namespace wheelyard::attest {

using io::Json;

std::string sign_export(const ExportedFile& file, const Export& of, const SigningKey& key) {
    Json predicate = Json::object(
        {{"registry", Json::object({{"id", of.registry},
                                    {"version", Json::object({{"wheelyard-registry", WHEELYARD_VERSION}})}})},
         {"time", base::render_rfc3339(of.time)},
         {"history", of.history},
         {"serial", of.serial},
         {"records", file.records}});
    if (!file.head.empty()) predicate.set("head", file.head);
    const Statement statement{file.filename, file.sha256, std::string(export_predicate),
                              std::move(predicate)};
    return render_envelope(sign(render_statement(statement), std::string(statement_type), key));
}

}  // namespace wheelyard::attest
