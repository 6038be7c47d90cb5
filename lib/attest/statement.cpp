// Statements as JSON.
#include "lib/attest/statement.hpp"

#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::attest {
namespace {

using io::Json;

constexpr std::string_view in_toto_type = "https://in-toto.io/Statement/v1";

tl::unexpected<base::Error> fail_statement(std::string sentence, std::string value = {}) {
    return base::fail_malformed("attest.statement", std::move(sentence), std::move(value),
                                "the signer has to write an in-toto statement about one file");
}

}  // namespace

std::string render_statement(const Statement& statement) {
    Json subject = Json::array();
    subject.push(Json::object(
        {{"name", statement.filename}, {"digest", Json::object({{"sha256", statement.sha256}})}}));
    return Json::object({{"_type", in_toto_type},
                         {"subject", std::move(subject)},
                         {"predicateType", statement.predicate_type},
                         {"predicate", statement.predicate}})
        .render_signed();
}

base::Result<Statement> parse_statement(std::string_view text) {
    const auto json = io::parse_json(text, {.bytes = max_signed_bytes, .depth = max_depth});
    if (!json) return fail_statement("A statement is no JSON", json.error().text());
    if (json->string_or("_type", {}) != in_toto_type)
        return fail_statement("A statement is of another type", json->string_or("_type", {}));
    const Json::Array& subjects = json->items("subject");
    if (subjects.size() != 1)
        return fail_statement("A statement is not about one file", std::to_string(subjects.size()));
    Statement statement;
    statement.filename = subjects.front().string_or("name", {});
    if (const Json* digest = subjects.front().find("digest"); digest != nullptr)
        statement.sha256 = digest->string_or("sha256", {});
    statement.predicate_type = json->string_or("predicateType", {});
    const Json* predicate = json->find("predicate");
    if (statement.filename.empty() || !base::is_sha256_hex(statement.sha256))
        return fail_statement("A statement names no file with its SHA-256", statement.filename);
    if (predicate == nullptr || predicate->as_object() == nullptr)
        return fail_statement("A statement says nothing", statement.filename);
    statement.predicate = *predicate;
    if (render_statement(statement) != text)
        return fail_statement("A statement is not in its one form", statement.filename);
    return statement;
}

}  // namespace wheelyard::attest
