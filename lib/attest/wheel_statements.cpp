// Statements about wheels: members by the tables of SLSA 1.0 and in-toto.
#include "lib/attest/wheel_statements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::attest {
namespace {

constexpr std::size_t max_statements = 8;  // of one provenance

using io::Json;

constexpr std::string_view statements_member = R"(,"statements":[)";
constexpr std::string_view document_end = "}\n";

// Facts that the bytes prove and that a reader can check again; those of accelerators come from their table.
constexpr std::array<std::string_view, 15> proved_facts{
    "size_bytes",    "tags",          "machines",         "symbol_floors",   "libc",
    "manylinux_fit", "musllinux_fit", "stable_abi_floor", "cxx11_abi",       "isa_needed",
    "isa_used",      "not_judged",    "needed",           "requires_python", "device_code_not_read"};

std::string uri_text(std::string_view text) {
    std::string uri;
    for (const char c : text) {
        const bool is_plain = base::is_ascii_alnum(c) ||
                              std::string_view("-._~:/?#[]@!$&'()*+,;=%").find(c) != std::string_view::npos;
        if (is_plain)
            uri += c;
        else
            base::append_percent(uri, std::string_view(&c, 1));
    }
    return uri;
}

bool is_commit(std::string_view text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "https://example.org/a.git@v1 (COMMIT)", as agents write the origin of a Git source; the commit is cut off.
std::string take_commit(std::string& origin) {
    const std::size_t open = origin.rfind(" (");
    if (open == std::string::npos || !origin.ends_with(')')) return {};
    std::string commit = origin.substr(open + 2, origin.size() - open - 3);
    if (!is_commit(commit)) return {};
    origin.resize(open);
    return commit;
}

std::optional<Json> source_descriptor(const wire::SourceFile& source) {
    const SourceUri origin = uri_of(source);
    Json digest = Json::object();
    if (base::is_sha256_hex(source.sha256)) digest.set("sha256", source.sha256);
    if (!origin.commit.empty()) digest.set("gitCommit", origin.commit);
    if (origin.uri.empty() && source.filename.empty()) return std::nullopt;
    Json descriptor = Json::object();
    if (!origin.uri.empty()) descriptor.set("uri", origin.uri);
    if (!digest.as_object()->empty()) descriptor.set("digest", std::move(digest));
    if (!source.filename.empty()) descriptor.set("name", source.filename);
    return descriptor;
}

// The official parser knows no members beside these.
Json requirement_descriptor(const std::string& filename, std::string_view hash) {
    Json descriptor = Json::object();
    constexpr std::string_view prefix = "sha256:";
    if (hash.starts_with(prefix) && base::is_sha256_hex(hash.substr(prefix.size())))
        descriptor.set("digest", Json::object({{"sha256", hash.substr(prefix.size())}}));
    descriptor.set("name", filename);
    return descriptor;
}

Json dependencies_of(const wire::WheelProvenance& said) {
    Json list = Json::array();
    if (auto source = source_descriptor(said.source)) list.push(*std::move(source));
    for (const auto& [filename, hash] : said.build.requirements) {
        if (!filename.empty()) list.push(requirement_descriptor(filename, hash));
    }
    return list;
}

Json texts(const wire::NamedTexts& pairs) {
    Json json = Json::object();
    for (const auto& [name, text] : pairs)
        json.set(name, text);
    return json;
}

// "wheelyard-builder 0.1.0" → {"wheelyard-builder":"0.1.0"}
Json version_of(std::string_view program) {
    const std::size_t space = program.find(' ');
    if (space == std::string_view::npos) return Json::object();
    return Json::object({{std::string(program.substr(0, space)), program.substr(space + 1)}});
}

Json registry_version() {
    return Json::object({{"wheelyard-registry", WHEELYARD_VERSION}});
}

Json facts_of(const Proved& proved) {
    if (proved.facts.is_null()) return Json::object({{"cut", true}});
    Json facts = Json::object();
    const auto take = [&](std::string_view name) {
        const Json* value = proved.facts.find(name);
        const bool is_empty = value == nullptr || value->is_null() ||
                              (value->as_string() != nullptr && value->as_string()->empty()) ||
                              (value->as_array() != nullptr && value->as_array()->empty());
        if (!is_empty) facts.set(std::string(name), *value);
    };
    std::for_each(proved_facts.begin(), proved_facts.end(), take);
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& list : kind->device_code)
            take(list.fact);
    }
    Json findings = Json::array();
    for (const Json& one : proved.facts.items("findings"))
        findings.push(
            Json::object({{"code", one.string_or("code", {})}, {"severity", one.string_or("severity", {})}}));
    facts.set("findings", std::move(findings));
    return facts;
}

std::string envelope_of(std::string payload, const SigningKey& key) {
    return render_envelope(sign(std::move(payload), std::string(statement_type), key));
}

tl::unexpected<base::Error> fail_provenance(std::string sentence) {
    return base::fail_malformed("attest.provenance", std::move(sentence), {},
                                "fetch the file that ends in .prov again, from the registry itself");
}

}  // namespace

SourceUri uri_of(const wire::SourceFile& source) {
    std::string origin = source.origin;
    SourceUri named;
    if (source.kind == "git") {
        named.commit = take_commit(origin);
        origin.insert(0, "git+");
    } else if (origin.starts_with('/')) {
        origin.insert(0, "file://");
    }
    named.uri = uri_text(origin);
    return named;
}

std::string_view level_name(Level level) {
    return level == Level::two ? "SLSA_BUILD_LEVEL_2" : "SLSA_BUILD_LEVEL_1";
}

Statement provenance_statement(const wire::WheelProvenance& said, const Received& received) {
    const Json external = Json::object({{"package", said.package},
                                        {"version", said.version},
                                        {"python", said.python},
                                        {"accelerator", said.accelerator},
                                        {"cell", said.cell}});
    Json internal =
        Json::object({{"script_sha256", said.build.script_sha256},
                      {"system", said.build.system},
                      {"modules", Json::array_of(said.build.modules)},
                      {"tools", texts(said.build.tools)},
                      {"environment", texts(said.build.environment)},
                      {"asserted_by", Json::object({{"token", received.token_id},
                                                    {"registry", received.registry},
                                                    {"time", base::render_rfc3339(received.time)}})}});
    for (const auto& [name, text] :
         {std::pair("recipe", &said.recipe), std::pair("recipe_sha256", &said.recipe_sha256),
          std::pair("node_type", &said.node_type)}) {
        if (!text->empty()) internal.set(name, *text);
    }
    if (said.governed) internal.set("governor", wire::governor_counts(*said.governed));
    if (said.is_cut) internal.set("cut", true);
    Json metadata = Json::object({{"invocationId", said.attempt}});
    if (said.began != 0) metadata.set("startedOn", base::render_rfc3339(said.began));
    Json builder = Json::object({{"id", "urn:wheelyard:site:" + base::encode_percent(said.site)}});
    if (Json version = version_of(said.program); !version.as_object()->empty())
        builder.set("version", std::move(version));
    const Json predicate = Json::object(
        {{"buildDefinition", Json::object({{"buildType", build_type},
                                           {"externalParameters", external},
                                           {"internalParameters", std::move(internal)},
                                           {"resolvedDependencies", dependencies_of(said)}})},
         {"runDetails", Json::object({{"builder", std::move(builder)}, {"metadata", std::move(metadata)}})}});
    return {said.wheel.filename, said.wheel.sha256, std::string(provenance_predicate), predicate};
}

Statement summary_statement(const wire::WheelProvenance& said, std::string_view document,
                            std::string_view provenance, const Proved& proved, const Received& received) {
    const Json predicate = Json::object(
        {{"registry", Json::object({{"id", received.registry}, {"version", registry_version()}})},
         {"time", base::render_rfc3339(received.time)},
         {"index", received.index},
         {"project", proved.project},
         {"version", proved.version},
         {"document", Json::object({{"sha256", base::sha256_hex(document)}})},
         {"provenance", Json::object({{"sha256", base::sha256_hex(provenance)}})},
         {"level", level_name(received.level)},
         {"outcome", proved.outcome},
         {"facts", facts_of(proved)}});
    return {said.wheel.filename, said.wheel.sha256, std::string(summary_predicate), predicate};
}

base::Result<std::string> sign_wheel(std::string_view document, const wire::WheelProvenance& said,
                                     const Proved& proved, const Received& received, const SigningKey& key) {
    const std::string provenance = render_statement(provenance_statement(said, received));
    SignedProvenance parts{std::string(document), {envelope_of(provenance, key), {}}};
    const auto text_with = [&](const Proved& summarised) {
        parts.statements.back() = envelope_of(
            render_statement(summary_statement(said, document, provenance, summarised, received)), key);
        return join_statements(parts);
    };
    std::string text = text_with(proved);
    if (text.size() > max_signed_bytes)
        text = text_with({proved.project, proved.version, proved.outcome, Json()});
    if (text.size() <= max_signed_bytes) return text;
    return base::fail_malformed(
        "attest.too_large", "The provenance is too large to be signed",
        std::to_string(text.size()) + " bytes with its statements",
        "shorten its lists: with its statements it may have " + std::to_string(max_signed_bytes) + " bytes");
}

std::string join_statements(const SignedProvenance& parts) {
    if (parts.statements.empty()) return parts.document;
    std::string text = parts.document.substr(0, parts.document.size() - document_end.size());
    text.append(statements_member).append(base::join(parts.statements, ",")).append("]").append(document_end);
    return text;
}

// An unescaped quotation mark is no part of a text, so the member's name occurs only where a member begins;
// the registry's is the last.
base::Result<SignedProvenance> split_statements(std::string_view text) {
    if (text.size() > max_signed_bytes || !text.ends_with(document_end))
        return fail_provenance("A provenance is too long or cut off");
    const std::size_t at = text.rfind(statements_member);
    if (at == std::string_view::npos) return SignedProvenance{std::string(text), {}};
    WHEELYARD_ASSIGN(const Json json, io::parse_json(text, {.bytes = max_signed_bytes, .depth = max_depth}));
    SignedProvenance parts{std::string(text.substr(0, at)).append(document_end), {}};
    for (const Json& one : json.items("statements"))
        parts.statements.push_back(one.render());
    if (parts.statements.empty() || parts.statements.size() > max_statements)
        return fail_provenance("A provenance has an empty list of statements, or too many of them");
    if (join_statements(parts) != text) return fail_provenance("A provenance is not in its one form");
    return parts;
}

}  // namespace wheelyard::attest
