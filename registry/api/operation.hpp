// An operation of the registry is one row: its address, its arguments, the document of its answer, the right
// that it needs, and the function. The router, the OpenAPI document, the forwarding to the node that writes and the commands read
// the same row.
//
//     constexpr auto of_token = arguments<RevokeToken>({
//         in_path(field<&RevokeToken::id>("token", "its ID")),
//         in_body(field<&RevokeToken::reason>("reason", "in one line", Need::valid)),
//     });
//     row<of_token, revoke_token>(posted("/api/v1/tokens/{token}/revoke", "revokeToken", token_document, "Revokes …",
//                                        BodyKind::json, …),
//                                 "lifecycle.body", {.scope = Scope::any_token})
//
// To add one: its row, its arguments and its function in the file of its family, and the family at the end if
// it is new. Nothing else branches on an operation.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/json.hpp"
#include "lib/io/record.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "registry/access/tokens.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {

struct ApiParts;

enum class Callers {
    tokens,    // a valid token, or a person of this machine
    everyone,  // strangers, too; what they may see is up to the function
    nobody,    // the credentials, if any, are in the body: a header is not looked at
    local,     // a person of this machine alone: the operation has no address
};

// What the action of a right must cover. A wider one is always enough.
enum class Scope {
    any_token,  // what the caller may do is up to the function, also with an action
    project,  // of the arguments `index` and `filename` or `project`; without them, every project of the index
    every_index,   // `*` among the token's indexes
    everything,    // `*` among its indexes and its projects
    tokens,        // the action or `*`, for whatever the token covers
    every_file,    // any action on files, for all projects of the index, which the caller may read whole
    some_project,  // any action, for the project of the file
};

// Which index the argument `index` must name, for the caller; otherwise "index.unknown", as if there was
// none.
enum class IndexIs {
    not_checked,
    known,       // configured
    with_files,  // also the cache of an upstream
};

struct Right {
    Callers callers = Callers::tokens;
    Scope scope = Scope::any_token;
    std::string_view action = {};
    IndexIs index = IndexIs::not_checked;
    // Of a refusal: "This token does not permit …". Empty: the last word of the path.
    std::string_view to = {};
    // What to ask an administrator for. Empty: the action for this index and project. Where everyone or any
    // token may call: what is needed besides `where`, which the function checks.
    std::string_view advice = {};
    std::string_view where = "of a private index";
};
inline constexpr Right of_log_readers{.callers = Callers::everyone,
                                      .advice = "`read` for the project",
                                      .where = "of an index that is private or has `read_logs = \"token\"`"};
inline constexpr Right of_reporters{
    .action = "upload",
    .index = IndexIs::known,
    .advice = "the action `upload` or `build` for this index; an enrolled agent has it for its own site"};
// In words, as docs/reference/operations.md has it.
[[nodiscard]] std::string right_text(const Right& right);

// A request whose right was checked.
struct Call {
    const http::ApiRequest& request;
    const http::Operation& operation;
    std::optional<Identity> caller;  // nullopt: a stranger, where the row permits it
    io::Json arguments;              // by name, of path, query and body
    bool is_local = false;           // a person of this machine, who passes every right
    lifecycle::Step step = {};       // of a long operation; may be empty

    [[nodiscard]] const Identity& who() const { return *caller; }
};

using Reply = wire::Answered<http::ApiReply>;

// Says whether the store keeps the body; it is then refused while the disk is low.
enum class Stores { no, yes };

struct OperationRow {
    http::Operation http;
    Right right;
    wire::Refusal malformed;  // the code for arguments that cannot be read
    Reply (*answer)(const ApiParts& parts, const Call& call);
    Stores stores = Stores::no;
    // Of Callers::nobody: whose the credentials in the body are; empty: a stranger's.
    std::string (*owner)(const ApiParts& parts, const http::ApiRequest& request) = nullptr;
};

// Every operation, in the order of the OpenAPI document. operation.cpp lists the families.
[[nodiscard]] std::span<const OperationRow> operation_rows();
// Those with an address.
[[nodiscard]] http::Operations api_operations();
// nullptr: there is none with this id.
[[nodiscard]] const OperationRow* find_row(std::string_view id);

// The arguments of a request as one object. Numbers, flags and lists of a query are as JSON has them, if they
// can be read.
[[nodiscard]] wire::Answered<io::Json> collect_arguments(const OperationRow& row,
                                                         const http::ApiRequest& request);
// The other way round: where a request has each of these arguments.
struct RequestParts {
    std::string path;
    std::map<std::string, std::string, std::less<>> parameters = {};
    std::string query = {};  // without `?`
    std::string body = {};
    [[nodiscard]] std::string target() const { return query.empty() ? path : path + "?" + query; }
};
[[nodiscard]] RequestParts split_arguments(const OperationRow& row, const io::Json& arguments);
// The index of the path is there for the caller.
[[nodiscard]] wire::Answered<void> check_index(const RegistryConfig& config, const OperationRow& row,
                                               const Call& call);
// The caller may do what the row does with these arguments.
[[nodiscard]] wire::Answered<void> check_right(const RegistryConfig& config, const OperationRow& row,
                                               const Call& call);
// The refusal of a caller who may not.
[[nodiscard]] tl::unexpected<wire::Problem> refuse_right(const Call& call);
[[nodiscard]] tl::unexpected<wire::Problem> refuse_arguments(const Call& call, const io::Fault& fault);

// Says whether the caller may change the files of all projects of the index.
[[nodiscard]] bool may_operate(const RegistryConfig& config, const Identity& caller,
                               const std::string& index);

// Says whether the caller may list all files that are stored for the index, also those in quarantine. It may
// be the cache of an upstream.
[[nodiscard]] bool sees_all_files(const RegistryConfig& config, const Call& call, const std::string& index);

// The answer to an error of the call: a person of this machine gets all of it; others what `problem_of` says,
// and the log the rest.
[[nodiscard]] tl::unexpected<wire::Problem> fail_call(const Call& call, std::string_view event,
                                                      const base::Error& error,
                                                      wire::Problem (*problem_of)(const base::Error&));

// A person of this machine: may do everything, in every index.
[[nodiscard]] Identity local_identity(std::string name);

// The refusal of a caller who may not report (may_report): "site.scope".
[[nodiscard]] Reply refuse_reporting(const Identity& caller);

inline http::ApiReply reply_with(const io::Json& json) {
    return {.status = 200, .json = json.render()};
}
inline http::ApiReply reply_with(std::string json) {
    return {.status = 200, .json = std::move(json)};
}

// --- arguments
// ---------------------------------------------------------------------------------------------------------

template <typename Owner>
struct ArgumentOf {
    http::Argument argument;
};
template <typename Owner>
constexpr ArgumentOf<Owner> in_path(io::Field<Owner> field) {
    return {{field.member, http::In::path, true}};
}
template <typename Owner>
constexpr ArgumentOf<Owner> in_query(io::Field<Owner> field) {
    // A reader is told of a misspelt filter, instead of getting everything.
    if (field.member.need == io::Need::optional) field.member.need = io::Need::valid;
    return {{field.member, http::In::query, false}};
}
// The function says itself what is wrong without it.
template <typename Owner>
constexpr ArgumentOf<Owner> needed_in_query(io::Field<Owner> field) {
    return {{field.member, http::In::query, true}};
}
template <typename Owner>
constexpr ArgumentOf<Owner> in_body(io::Field<Owner> field) {
    return {{field.member, http::In::body, field.member.need == io::Need::required}};
}
template <typename Owner>
constexpr ArgumentOf<Owner> needed_in_body(io::Field<Owner> field) {
    return {{field.member, http::In::body, true}};
}

struct NoArguments {};
// A member of a document that another module reads: named for the documents.
inline std::string texts_type() {
    return "list of: text";
}
inline std::string object_type() {
    return "object";
}
inline std::string objects_type() {
    return "list of: object";
}
template <typename Owner = NoArguments>
constexpr ArgumentOf<Owner> in_document(std::string_view name, std::string_view meaning,
                                        bool is_needed = false, std::string (*type)() = nullptr) {
    return {{{.name = name, .meaning = meaning, .type = type}, http::In::body, is_needed}};
}

template <typename Owner, std::size_t Count>
struct Arguments {
    using Struct = Owner;
    std::array<http::Argument, Count> rows = {};
    constexpr operator std::span<const http::Argument>() const { return rows; }
};
template <typename Owner, std::size_t Count>
[[nodiscard]] constexpr Arguments<Owner, Count> arguments(const ArgumentOf<Owner> (&list)[Count]) {
    Arguments<Owner, Count> made{};
    for (std::size_t i = 0; i < Count; ++i)
        made.rows[i] = list[i].argument;
    return made;
}
inline constexpr Arguments<NoArguments, 0> no_arguments{};

// A row's answer: reads the arguments into their struct.
template <const auto& Table, auto Function>
Reply typed(const ApiParts& parts, const Call& call) {
    typename std::remove_cvref_t<decltype(Table)>::Struct values{};
    for (const http::Argument& row : Table.rows) {
        if (row.member.from == nullptr) continue;
        io::Fault fault;
        if (!io::read_members({&row.member, 1}, call.arguments, &values, fault))
            return refuse_arguments(call, fault);
    }
    return Function(parts, call, values);
}

// --- addresses
// ---------------------------------------------------------------------------------------------------------

using Answer = io::Document (*)();
// `answer`: its document; nullptr: it is no JSON.
constexpr http::Operation got(std::string_view path, std::string_view id, Answer answer,
                              std::string_view summary) {
    return {.method = "GET",
            .path = path,
            .id = id,
            .summary = summary,
            .produces = "application/json",
            .needs_token = true,
            .answer = answer};
}
constexpr http::Operation posted(std::string_view path, std::string_view id, Answer answer,
                                 std::string_view summary, http::BodyKind body,
                                 std::string_view format = {}) {
    return {.method = "POST",
            .path = path,
            .id = id,
            .summary = summary,
            .produces = "application/json",
            .body = body,
            .needs_token = true,
            .format = format,
            .answer = answer};
}
constexpr http::Operation open_to_all(http::Operation operation) {
    operation.needs_token = false;
    return operation;
}
constexpr http::Operation in_pool(http::StrangersPool pool, http::Operation operation) {
    operation.pool = pool;
    return operation;
}
constexpr http::Operation with_text(http::Operation operation) {
    operation.produces = "text/plain";
    return operation;
}
constexpr http::Operation with_tag(http::Operation operation) {
    operation.has_tag = true;
    return operation;
}
// Without an address: only commands of this machine call it.
constexpr http::Operation local(std::string_view id, Answer answer, std::string_view summary) {
    return open_to_all(posted({}, id, answer, summary, http::BodyKind::json));
}
// Only the node that writes has what it reads.
constexpr http::Operation kept_by_writer(http::Operation operation) {
    operation.is_kept_by_writer = true;
    return operation;
}

// The row of an address, a table of arguments and the function that gets them.
template <const auto& Table, auto Function>
constexpr OperationRow row(http::Operation operation, wire::Refusal malformed, const Right& right = {},
                           Stores stores = Stores::no,
                           std::string (*owner)(const ApiParts&, const http::ApiRequest&) = nullptr) {
    operation.arguments = Table;
    return {operation, right, malformed, typed<Table, Function>, stores, owner};
}

// The operations, by the file that has them.
[[nodiscard]] std::span<const OperationRow> file_operations();
[[nodiscard]] std::span<const OperationRow> rule_operations();
[[nodiscard]] std::span<const OperationRow> index_operations();
[[nodiscard]] std::span<const OperationRow> index_reads();
[[nodiscard]] std::span<const OperationRow> wheel_operations();
[[nodiscard]] std::span<const OperationRow> audit_operations();
[[nodiscard]] std::span<const OperationRow> token_operations();
[[nodiscard]] std::span<const OperationRow> agent_operations();
[[nodiscard]] std::span<const OperationRow> site_operations();
[[nodiscard]] std::span<const OperationRow> build_operations();
[[nodiscard]] std::span<const OperationRow> request_operations();
[[nodiscard]] std::span<const OperationRow> task_operations();
[[nodiscard]] std::span<const OperationRow> login_operations();
[[nodiscard]] std::span<const OperationRow> publish_operations();

}  // namespace wheelyard::registry
