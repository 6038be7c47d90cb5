// Writes, reads and documents the rows of a record's table.
#include "lib/io/record.hpp"

#include "lib/base/text/utf8.hpp"

namespace wheelyard::io {
namespace {

constexpr std::size_t max_fault_bytes = 80;

// "job.memory_mib" is the member `memory_mib` of the member `job`.
struct Path {
    explicit Path(std::string_view path)
        : group(path.substr(0, path.find('.') == std::string_view::npos ? 0 : path.find('.'))),
          name(path.substr(group.empty() ? 0 : group.size() + 1)) {}
    std::string_view group;
    std::string_view name;
};

bool is_written(const Json& value, Written written) {
    if (written == Written::always) return true;
    if (written == Written::unless_null) return !value.is_null();
    if (written == Written::unless_empty)
        return !value.is_null() && (value.as_array() == nullptr || !value.as_array()->empty()) &&
               (value.as_object() == nullptr || !value.as_object()->empty());
    return is_given(&value) && (value.as_bool() == nullptr || *value.as_bool());
}

std::string shown(const Json& value) {
    const std::string text = value.as_string() == nullptr ? value.render() : *value.as_string();
    return std::string(base::cut_utf8(text, max_fault_bytes));
}

void add_rows(std::span<const Member> members, const std::string& prefix, std::string& text) {
    for (const Member& member : members) {
        const Document of = member.document == nullptr ? Document() : member.document();
        text += "| `" + prefix + std::string(member.name) + "` | " + member.type() +
                (of.name.empty() ? "" : ", `" + std::string(of.name) + "`") +
                (member.need == Need::required ? ", required" : "") + " | " + std::string(member.meaning) +
                " |\n";
        if (!of.name.empty()) continue;
        for (const std::span<const Member> table : of.tables)
            add_rows(table, prefix + std::string(member.name) + (member.is_list ? "[]." : "."), text);
    }
}

}  // namespace

std::string Fault::sentence() const {
    const std::string what = path.empty() ? "The document" : "The member `" + path + "`";
    return is_missing ? what + " is missing" : what + " is invalid: expected " + expected;
}

bool is_given(const Json* value) {
    return value != nullptr && !value->is_null() &&
           (value->as_string() == nullptr || !value->as_string()->empty());
}

void write_members(std::span<const Member> members, const void* owner, Json& json) {
    std::string_view open;  // the group that `group` belongs to
    Json group = Json::object();
    const auto close = [&] {
        if (!open.empty() && !group.as_object()->empty()) json.set(std::string(open), std::move(group));
        group = Json::object();
    };
    for (const Member& member : members) {
        const Path path(member.name);
        if (path.group != open) {
            close();
            const Json* begun = path.group.empty() ? nullptr : json.find(path.group);
            if (begun != nullptr) group = *begun;  // its rows need not stand together
        }
        open = path.group;
        Json value = member.to(owner);
        if (is_written(value, member.written))
            (open.empty() ? json : group).set(std::string(path.name), std::move(value));
    }
    close();
}

bool read_members(std::span<const Member> members, const Json& json, void* owner, Fault& fault) {
    if (json.as_object() == nullptr) {
        fault = {{}, "object", shown(json)};
        return false;
    }
    for (const Member& member : members) {
        const Path path(member.name);
        const Json* group = path.group.empty() ? &json : json.find(path.group);
        const Json* value = group == nullptr ? nullptr : group->find(path.name);
        const bool is_there =
            member.need == Need::even_empty ? value != nullptr && !value->is_null() : is_given(value);
        if (!is_there && member.need != Need::required) continue;
        Fault inner;
        if (is_there && member.from(*value, owner, inner)) continue;
        if (member.need == Need::optional || member.need == Need::even_empty) continue;
        fault = std::move(inner);
        fault.path = std::string(member.name) + (fault.path.empty() ? "" : "." + fault.path);
        fault.is_missing |= !is_there;
        if (fault.expected.empty() && is_there) fault.value = shown(*value);
        if (fault.expected.empty()) fault.expected = member.type();
        return false;
    }
    return true;
}

std::string document_rows(std::span<const Member> members) {
    std::string text;
    add_rows(members, "", text);
    return text;
}

std::string document_members(std::span<const Member> members, std::string_view format) {
    std::string text = "| member | type | meaning |\n|---|---|---|\n";
    if (!format.empty()) text += "| `format` | text, required | `" + std::string(format) + "` |\n";
    return text + document_rows(members);
}

bool read_plain(const Json& json, std::string& into) {
    if (json.as_string() != nullptr) into = *json.as_string();
    return json.as_string() != nullptr;
}

bool read_plain(const Json& json, bool& into) {
    if (json.as_bool() != nullptr) into = *json.as_bool();
    return json.as_bool() != nullptr;
}

bool read_plain(const Json& json, double& into) {
    if (json.as_double() != nullptr) into = *json.as_double();
    if (json.as_int() != nullptr) into = static_cast<double>(*json.as_int());
    return json.as_double() != nullptr || json.as_int() != nullptr;
}

bool read_plain(const Json& json, std::vector<std::string>& into) {
    if (json.as_array() != nullptr) into = json.texts();
    return json.as_array() != nullptr;
}

bool read_plain(const Json& json, std::set<std::string>& into) {
    const auto texts = json.texts();
    if (json.as_array() != nullptr) into = {texts.begin(), texts.end()};
    return json.as_array() != nullptr;
}

bool Time::from(const Json& json, base::UnixMicros& into) {
    const auto time = base::parse_rfc3339(json.as_string() == nullptr ? "" : *json.as_string());
    if (!time || *time <= 0) return false;
    into = *time;
    return true;
}

}  // namespace wheelyard::io
