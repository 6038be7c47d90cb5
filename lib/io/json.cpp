// JSON. nlohmann's SAX parser builds our values. Rendering is our own: linear in the document's size, and it
// never throws on invalid UTF-8.
#include "lib/io/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "lib/base/check.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::io {
namespace {

using base::fail_malformed;
using base::Result;

// A value takes some 40 bytes of memory, and may take two of the text.
constexpr std::size_t dense_values = 4u
                                     << 20;  // that any text may have; a list of all of PyPI's names has half
constexpr std::size_t bytes_of_a_value = 16;  // beyond these; the files of a large index take 30

std::size_t max_values_of(std::string_view text) {
    return std::max(dense_values, text.size() / bytes_of_a_value);
}

// Says whether no two members have the same name. Small objects are compared pairwise; large ones, which may
// be hostile, with a set.
bool has_unique_names(const Json::Object& object) {
    constexpr std::size_t small = 16;
    if (object.size() > small) {
        std::unordered_set<std::string_view> names;
        for (const auto& member : object) {
            if (!names.insert(member.first).second) return false;
        }
        return true;
    }
    for (std::size_t i = 1; i < object.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (object[i].first == object[k].first) return false;
        }
    }
    return true;
}

// Removes all but the last of members with the same name.
void keep_last_duplicates(Json::Object& object) {
    std::unordered_set<std::string> seen;
    Json::Object kept;
    for (auto at = object.rbegin(); at != object.rend(); ++at) {
        if (seen.insert(at->first).second) kept.push_back(std::move(*at));
    }
    object.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

// Builds the value during parsing. Open containers are on a stack and move into their parent when they close.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
  public:
    Builder(std::size_t depth, std::size_t values, bool permits_duplicates)
        : max_depth_(depth), max_values_(values), permits_duplicates_(permits_duplicates) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(std::int64_t{value}); }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<number_unsigned_t>(INT64_MAX)) return add(static_cast<double>(value));
        return add(static_cast<std::int64_t>(value));
    }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool key(string_t& value) override {
        open_.back().key = std::move(value);
        return true;
    }
    bool end_object() override {
        auto object = std::move(open_.back().object);
        open_.pop_back();
        if (!has_unique_names(object)) {
            if (!permits_duplicates_) {
                has_duplicates_ = true;
                return false;
            }
            keep_last_duplicates(object);
        }
        return add(Json(std::move(object)));
    }
    bool end_array() override {
        auto array = std::move(open_.back().array);
        open_.pop_back();
        return add(Json(std::move(array)));
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        position_ = position;
        return false;
    }

    Json root;
    [[nodiscard]] bool too_deep() const { return too_deep_; }
    [[nodiscard]] bool too_many() const { return values_ > max_values_; }
    [[nodiscard]] bool has_duplicates() const { return has_duplicates_; }
    [[nodiscard]] std::size_t position() const { return position_; }

  private:
    struct Open {
        bool is_object = false;
        std::string key = {};
        Json::Object object = {};
        Json::Array array = {};
    };

    bool add(Json value) {
        ++values_;
        if (too_many()) return false;
        if (open_.empty()) {
            root = std::move(value);
        } else if (open_.back().is_object) {
            open_.back().object.emplace_back(std::move(open_.back().key), std::move(value));
        } else {
            open_.back().array.push_back(std::move(value));
        }
        return true;
    }
    bool open(bool is_object) {
        too_deep_ = open_.size() >= max_depth_;
        if (!too_deep_) open_.push_back({is_object});
        return !too_deep_;
    }

    std::size_t max_depth_;
    std::size_t max_values_;
    std::size_t values_ = 0;
    bool permits_duplicates_;
    std::vector<Open> open_;
    bool too_deep_ = false;
    bool has_duplicates_ = false;
    std::size_t position_ = 0;
};

void append_escape(char32_t code, std::string& out) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += hex[code >> shift & 0xFU];
}

enum class Controls { escaped, as_they_are };  // those beyond ASCII

// Characters that control a terminal are escaped: JSON is read there, too.
void render_string(std::string_view text, Controls controls, std::string& out) {
    static constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
    static constexpr std::string_view letters = "\"\\bfnrt";
    out += '"';
    while (!text.empty()) {
        const char c = text.front();
        std::size_t bytes = 1;
        if (const auto at = escaped.find(c); at != std::string_view::npos) {
            out += '\\';
            out += letters[at];
        } else if (c >= ' ' && c <= '~') {
            out += c;
        } else if (const auto character = base::decode_utf8(text); !character) {
            out += "\xEF\xBF\xBD";  // U+FFFD replaces invalid UTF-8
        } else {
            bytes = character->bytes;
            if (base::is_control(character->code) && (bytes == 1 || controls == Controls::escaped))
                append_escape(character->code, out);
            else
                out += text.substr(0, bytes);
        }
        text.remove_prefix(bytes);
    }
    out += '"';
}

void render_double(double value, std::string& out) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    const std::string_view text(digits, static_cast<std::size_t>(end - digits));
    out += text;
    // Keep it a double when it is parsed again.
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

struct Layout {
    bool pretty;
    Controls controls = Controls::escaped;
    void line(std::string& out, std::size_t depth) const {
        if (!pretty) return;
        out += '\n';
        out.append(2 * depth, ' ');
    }
};

void render_value(const Json& value, const Layout& layout, std::size_t depth, std::string& out) {
    if (const auto* flag = value.as_bool()) {
        out += *flag ? "true" : "false";
    } else if (const auto* integer = value.as_int()) {
        out += std::to_string(*integer);
    } else if (const auto* number = value.as_double()) {
        render_double(*number, out);
    } else if (const auto* text = value.as_string()) {
        render_string(*text, layout.controls, out);
    } else if (const auto* array = value.as_array()) {
        out += '[';
        for (std::size_t i = 0; i < array->size(); ++i) {
            if (i > 0) out += ',';
            layout.line(out, depth + 1);
            render_value((*array)[i], layout, depth + 1, out);
        }
        if (!array->empty()) layout.line(out, depth);
        out += ']';
    } else if (const auto* object = value.as_object()) {
        out += '{';
        for (std::size_t i = 0; i < object->size(); ++i) {
            if (i > 0) out += ',';
            layout.line(out, depth + 1);
            render_string((*object)[i].first, layout.controls, out);
            out += layout.pretty ? ": " : ":";
            render_value((*object)[i].second, layout, depth + 1, out);
        }
        if (!object->empty()) layout.line(out, depth);
        out += '}';
    } else {
        out += "null";
    }
}

Result<Json> parse(std::string_view text, const JsonLimits& limits, bool permits_duplicates) {
    if (text.size() > limits.bytes) {
        return fail_malformed("json.too_large",
                              "This JSON has more than " + std::to_string(limits.bytes) + " bytes",
                              std::to_string(text.size()));
    }
    const std::size_t max_values = max_values_of(text);
    Builder builder(limits.depth, max_values, permits_duplicates);
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root);
    if (builder.has_duplicates())
        return fail_malformed("json.twice", "This JSON has an object with two members of one name");
    if (builder.too_deep()) {
        return base::fail_malformed(
            "json.too_deep", "This JSON is nested more than " + std::to_string(limits.depth) + " deep");
    }
    if (builder.too_many())
        return fail_malformed("json.too_many",
                              "This JSON has more than " + std::to_string(max_values) + " values");
    const auto offset = builder.position() > 0 ? builder.position() - 1 : 0;
    return fail_malformed("json.syntax", "This is not JSON, from byte " + std::to_string(offset) + " on");
}

tl::unexpected<base::Error> fail_member(const Json* found, std::string_view name, const char* expected) {
    const std::string member(name);
    if (!found || found->is_null())
        return fail_malformed("json.missing", "The member `" + member + "` is missing", {},
                              std::string("it should be ") + expected);
    constexpr std::size_t shown_bytes = 100;
    return fail_malformed("json.type", "The member `" + member + "` is not " + expected,
                          found->render().substr(0, shown_bytes));
}

}  // namespace

Json::Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(Array value) : value_(std::move(value)) {}
Json::Json(Object value) : value_(std::move(value)) {}

Json Json::object(std::initializer_list<Member> members) {
    return Json(Object(members));
}

bool Json::operator==(const Json& other) const {
    return value_ == other.value_;
}

const Json* Json::find(std::string_view name) const {
    const auto* object = as_object();
    if (!object) return nullptr;
    for (const auto& [key, value] : *object) {
        if (key == name) return &value;
    }
    return nullptr;
}

const Json::Array& Json::items() const {
    static const Array none;
    const Array* array = as_array();
    return array != nullptr ? *array : none;
}

const Json::Array& Json::items(std::string_view name) const {
    static const Json absent;
    const auto* found = find(name);
    return (found ? *found : absent).items();
}

std::vector<std::string> Json::texts() const {
    std::vector<std::string> texts;
    for (const auto& item : items()) {
        if (const auto* text = item.as_string()) texts.push_back(*text);
    }
    return texts;
}

std::vector<std::string> Json::texts(std::string_view name) const {
    const auto* found = find(name);
    return found ? found->texts() : std::vector<std::string>();
}

Result<std::string> Json::string_at(std::string_view name) const {
    const auto* found = find(name);
    if (found && found->as_string()) return *found->as_string();
    return fail_member(found, name, "a string");
}

Result<std::int64_t> Json::int_at(std::string_view name) const {
    const auto* found = find(name);
    if (found && found->as_int()) return *found->as_int();
    return fail_member(found, name, "an integer");
}

std::string Json::string_or(std::string_view name, std::string fallback) const {
    const auto* found = find(name);
    if (found && found->as_string() && !found->as_string()->empty()) return *found->as_string();
    return fallback;
}

std::int64_t Json::int_or(std::string_view name, std::int64_t fallback) const {
    const auto* found = find(name);
    return found && found->as_int() ? *found->as_int() : fallback;
}

bool Json::bool_or(std::string_view name, bool fallback) const {
    const auto* found = find(name);
    return found && found->as_bool() ? *found->as_bool() : fallback;
}

void Json::set(std::string name, Json value) {
    auto* object = std::get_if<Object>(&value_);
    WHEELYARD_CHECK(object != nullptr);
    for (auto& member : *object) {
        if (member.first == name) {
            member.second = std::move(value);
            return;
        }
    }
    object->emplace_back(std::move(name), std::move(value));
}

void Json::push(Json value) {
    auto* array = std::get_if<Array>(&value_);
    WHEELYARD_CHECK(array != nullptr);
    array->push_back(std::move(value));
}

std::string Json::render() const {
    std::string out;
    render_value(*this, Layout{false}, 0, out);
    return out;
}

std::string Json::render_signed() const {
    std::string out;
    render_value(*this, Layout{false, Controls::as_they_are}, 0, out);
    return out;
}

std::string Json::render_pretty() const {
    std::string out;
    render_value(*this, Layout{true}, 0, out);
    return out + "\n";
}

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
    return parse(text, limits, true);
}

Result<Json> parse_strict_json(std::string_view text, const JsonLimits& limits) {
    return parse(text, limits, false);
}

}  // namespace wheelyard::io
