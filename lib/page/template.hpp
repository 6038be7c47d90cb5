// Markup lies in files, lib/page/templates/NAME.html, embedded at build time; the C++ fills a typed view:
//
//     struct Licence {                                        licence.html:
//         std::string name;                                       {{#name}}
//         std::vector<std::string> links;                         <p>Licence: {{name}}</p>
//         void show(page::Values& to) const {                     {{/name}}
//             to("name", name)("links", links);                   {{#links}}<a href="{{.}}">{{.}}</a>{{/links}}
//         }
//     };
//     Html html = page::render("licence.html", Licence{"MIT", {}});
//
// The README of this folder explains the tags. Every value is escaped by its place: in an element and in a
// quoted attribute as text; at the start of href and src only a safe address remains, and behind it percent
// encoding applies. A template with a value elsewhere (in a tag, a script, a comment, style or on…) is
// refused. Only a member of the type Html is markup, and only in an element.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::page {

class Values;

template <class T>
concept ShownView = requires(const T& view, Values& to) {
    view.show(to);
};

class Values {
  public:
    // What one member of a view is to a template.
    struct Value {
        enum class Kind : std::uint8_t { text, markup, flag, list };
        Kind kind = Kind::text;
        bool is_set = false;  // whether {{#x}} is rendered
        std::string text = {};
        std::vector<Values> items = {};
    };
    template <class T>
    Values& operator()(std::string_view name, const T& member) {
        members_.insert_or_assign(std::string(name), value_of(member));
        return *this;
    }
    [[nodiscard]] const std::map<std::string, Value, std::less<>>& members() const { return members_; }

    template <ShownView View>
    [[nodiscard]] static Values of(const View& view, bool is_shape = false) {
        Values values;
        values.is_shape_ = is_shape;
        view.show(values);
        return values;
    }

  private:
    template <class T>
    [[nodiscard]] Value value_of(const T& member) const {
        if constexpr (std::same_as<T, bool>)
            return {Value::Kind::flag, member};
        else if constexpr (std::integral<T>)
            return {Value::Kind::text, member != 0, std::to_string(member)};
        else if constexpr (std::same_as<T, Html>)
            return {Value::Kind::markup, !member.is_empty(), member.bytes()};
        else if constexpr (ShownView<T>)
            return {Value::Kind::list, true, {}, {of(member, is_shape_)}};
        else
            return {Value::Kind::text, !std::string_view(member).empty(), std::string(member)};
    }
    template <class T>
    [[nodiscard]] Value value_of(const std::optional<T>& item) const {
        if (item || is_shape_) return value_of(item.value_or(T{}));
        return {ShownView<T> ? Value::Kind::list : Value::Kind::text};
    }
    template <class T>
    [[nodiscard]] Value value_of(const std::vector<T>& list) const {
        Value value{Value::Kind::list, !list.empty()};
        for (const T& item : list)
            value.items.push_back(item_of(item));
        if (is_shape_ && list.empty()) value.items.push_back(item_of(T{}));
        return value;
    }
    template <class T>
    [[nodiscard]] Values item_of(const T& item) const {
        if constexpr (ShownView<T>)
            return of(item, is_shape_);
        else
            return Values()(".", item);
    }

    std::map<std::string, Value, std::less<>> members_ = {};
    bool is_shape_ = false;  // every list has an item: for the names alone
};

struct TemplateNode {
    enum class Stands : std::uint8_t { in_element, in_attribute, at_url, in_url };
    enum class Kind : std::uint8_t { literal, value, section, once, inverted };
    Kind kind = Kind::literal;
    std::string_view text = {};  // or the name
    Stands stands = Stands::in_element;
    std::vector<TemplateNode> children = {};
};

class Template {
  public:
    // `text` must outlive the template. Error "template.syntax", with the offending part.
    [[nodiscard]] static base::Result<Template> parse(std::string_view text);
    // A name that no view has, or has as another kind, is a broken invariant. `every_branch`: of all names of
    // the template.
    [[nodiscard]] Html render(const Values& values, bool every_branch = false) const;

  private:
    std::vector<TemplateNode> nodes_ = {};
};

struct TemplateFile {
    std::string_view name;
    std::string_view hash;
    std::string_view text;
};
[[nodiscard]] const std::vector<TemplateFile>& template_files();
// By its file name; it must exist and be well formed, which a test checks for all.
[[nodiscard]] const Template& named_template(std::string_view name);

template <ShownView View>
[[nodiscard]] Html render(std::string_view name, const View& view) {
    return named_template(name).render(Values::of(view));
}
// For the test of each pair: throws std::logic_error if the template names what the view has not.
template <ShownView View>
void check_template(std::string_view name) {
    static_cast<void>(named_template(name).render(Values::of(View{}, true), true));
}

}  // namespace wheelyard::page
