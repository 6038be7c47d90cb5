// JSON values that keep the order of their members; json.cpp wraps nlohmann-json.
//
// Readers ignore unknown members, as the wire formats require. The typed getters report what is missing and
// where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::io {

class Json {
  public:
    using Array = std::vector<Json>;
    using Member = std::pair<std::string, Json>;
    using Object = std::vector<Member>;

    // Not inline: each of some fifty sources would instantiate the variant's and the vectors' members again.
    Json();  // null
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(const Json& other);
    Json& operator=(Json&& other) noexcept;
    ~Json();
    Json(std::nullptr_t) {}
    Json(bool value) : value_(value) {}
    Json(int value) : value_(std::int64_t{value}) {}
    Json(std::int64_t value) : value_(value) {}
    Json(std::uint64_t value) : value_(static_cast<std::int64_t>(value)) {}
    Json(double value) : value_(value) {}
    Json(const char* value);
    Json(std::string_view value);
    Json(std::string value);
    Json(Array value);
    Json(Object value);
    [[nodiscard]] static Json object(std::initializer_list<Member> members = {});
    [[nodiscard]] static Json array() { return Json(Array{}); }
    template <typename Range>
    [[nodiscard]] static Json array_of(const Range& range) {
        Array items;
        for (const auto& item : range)
            items.emplace_back(item);
        return Json(std::move(items));
    }

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
    [[nodiscard]] const bool* as_bool() const { return std::get_if<bool>(&value_); }
    [[nodiscard]] const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&value_); }
    [[nodiscard]] const double* as_double() const { return std::get_if<double>(&value_); }
    [[nodiscard]] const std::string* as_string() const { return std::get_if<std::string>(&value_); }
    [[nodiscard]] const Array* as_array() const { return std::get_if<Array>(&value_); }
    [[nodiscard]] const Object* as_object() const { return std::get_if<Object>(&value_); }

    // The member, or nullptr if this is not an object or has no such member.
    [[nodiscard]] const Json* find(std::string_view name) const;
    // The items of this array or of a member that is one, and the texts among them; none where it is no
    // array.
    [[nodiscard]] const Array& items() const;
    [[nodiscard]] const Array& items(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> texts() const;
    [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
    // Typed members: error "json.missing" or "json.type" naming the member.
    [[nodiscard]] base::Result<std::string> string_at(std::string_view name) const;
    [[nodiscard]] base::Result<std::int64_t> int_at(std::string_view name) const;
    // Optional members: `fallback` if absent, null or of another type.
    [[nodiscard]] std::string string_or(std::string_view name, std::string fallback) const;
    [[nodiscard]] std::int64_t int_or(std::string_view name, std::int64_t fallback) const;
    [[nodiscard]] bool bool_or(std::string_view name, bool fallback) const;

    void set(std::string name, Json value);  // appends or replaces; this must be an object
    void push(Json value);                   // this must be an array

    [[nodiscard]] std::string render() const;         // compact
    [[nodiscard]] std::string render_pretty() const;  // indented by 2, ends in a newline
    // Compact, and only ASCII's control characters are escaped: the one form that signatures of statements
    // are over.
    [[nodiscard]] std::string render_signed() const;

    bool operator==(const Json& other) const;

  private:
    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_ = nullptr;
};

struct JsonLimits {
    std::size_t bytes = 64u << 20;
    std::size_t depth = 64;
};

// Strict RFC 8259. The last of duplicate members wins. Error "json.syntax" (with the byte offset), also for
// invalid UTF-8.
[[nodiscard]] base::Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// JSON that somebody signed: two readers must not see two documents in it, so a member that comes twice is an
// error. parse_json() with the further error "json.twice".
[[nodiscard]] base::Result<Json> parse_strict_json(std::string_view text, const JsonLimits& limits);

}  // namespace wheelyard::io
