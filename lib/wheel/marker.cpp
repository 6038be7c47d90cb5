// A recursive descent parser for this grammar:
//
//     or   = and ("or" and)*        atom       = "(" or ")" | operand operator operand
//     and  = atom ("and" atom)*     operand    = variable | 'text' | "text"
//
// As in `packaging` since 26, the specification's table of variables decides which comparisons are between
// versions: python_version and similar variables compare as versions if the other side is a valid specifier.
// Everything else compares as text, where only equality is defined: `<` and `>` are false, `<=` and `>=` mean
// `==`.
#include "lib/wheel/marker.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/base/text/words.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::wheel {
namespace {

enum class MarkerOperator {
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    compatible,
    arbitrary,
    in,
    not_in
};

// Longer operators before their prefixes; `in` and `not in` are parsed separately.
constexpr auto symbols = base::words<MarkerOperator>({{MarkerOperator::arbitrary, "==="},
                                                      {MarkerOperator::equal, "=="},
                                                      {MarkerOperator::compatible, "~="},
                                                      {MarkerOperator::not_equal, "!="},
                                                      {MarkerOperator::less_equal, "<="},
                                                      {MarkerOperator::greater_equal, ">="},
                                                      {MarkerOperator::less, "<"},
                                                      {MarkerOperator::greater, ">"}});

// A variable that is a set has only `in` and `not in`.
enum class Members { none, names, properties };  // normalised names; "a :: b", in which spaces do not count

struct Variable {
    std::string_view name;
    bool is_version = false;
    Members members = Members::none;
    bool is_of_variant = false;  // PEP 825
};
constexpr std::array<Variable, 18> variables{
    {{.name = "python_version", .is_version = true},
     {.name = "python_full_version", .is_version = true},
     {.name = "implementation_version", .is_version = true},
     {.name = "platform_release", .is_version = true},
     {.name = "os_name"},
     {.name = "sys_platform"},
     {.name = "platform_machine"},
     {.name = "platform_system"},
     {.name = "platform_version"},
     {.name = "platform_python_implementation"},
     {.name = "implementation_name"},
     {.name = "extra"},
     {.name = "extras", .members = Members::names},
     {.name = "dependency_groups", .members = Members::names},
     {.name = "variant_label", .is_of_variant = true},
     {.name = "variant_namespaces", .members = Members::properties, .is_of_variant = true},
     {.name = "variant_features", .members = Members::properties, .is_of_variant = true},
     {.name = "variant_properties", .members = Members::properties, .is_of_variant = true}}};

struct Alias {
    std::string_view spelling;
    std::string_view name;
};
// The spellings of PEP 345, which published metadata still contains.
constexpr std::array<Alias, 6> aliases{{{"os.name", "os_name"},
                                        {"sys.platform", "sys_platform"},
                                        {"platform.version", "platform_version"},
                                        {"platform.machine", "platform_machine"},
                                        {"platform.python_implementation", "platform_python_implementation"},
                                        {"python_implementation", "platform_python_implementation"}}};

const Variable* find_variable(std::string_view spelling) {
    const auto* alias = std::find_if(aliases.begin(), aliases.end(),
                                     [&](const Alias& candidate) { return candidate.spelling == spelling; });
    const auto name = alias == aliases.end() ? spelling : alias->name;
    const auto* found = std::find_if(variables.begin(), variables.end(),
                                     [&](const Variable& candidate) { return candidate.name == name; });
    return found == variables.end() ? nullptr : found;
}

bool is_membership(MarkerOperator operation) {
    return operation == MarkerOperator::in || operation == MarkerOperator::not_in;
}

std::string_view operator_text(MarkerOperator operation) {
    if (operation == MarkerOperator::in) return "in";
    if (operation == MarkerOperator::not_in) return "not in";
    return symbols.text(operation);
}

// As an environment writes the members of its sets.
std::string member_of(Members members, std::string text) {
    if (members == Members::names) return normalize_name(text);
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t'; }),
               text.end());
    return text;
}

struct Operand {
    const Variable* variable = nullptr;  // nullptr: a literal
    std::string literal;

    [[nodiscard]] Members members() const { return variable == nullptr ? Members::none : variable->members; }

    [[nodiscard]] std::string text() const {
        if (variable != nullptr) return std::string(variable->name);
        const char quote = literal.find('"') == std::string::npos ? '"' : '\'';
        return quote + literal + quote;
    }
    [[nodiscard]] std::string value(const MarkerEnvironment& environment) const {
        if (variable == nullptr) return literal;
        const auto found = environment.find(variable->name);
        if (found == environment.end()) return {};
        // A Python built from an untagged checkout reports "3.13.0+", which is not a version.
        if (variable->name == "python_full_version" && found->second.ends_with('+'))
            return found->second + "local";
        return found->second;
    }
};

bool compare_as_text(const std::string& left, MarkerOperator operation, const std::string& right) {
    switch (operation) {
        case MarkerOperator::equal:
        case MarkerOperator::less_equal:
        case MarkerOperator::greater_equal:
        case MarkerOperator::arbitrary:
            return left == right;
        case MarkerOperator::not_equal:
            return left != right;
        case MarkerOperator::in:
            return right.find(left) != std::string::npos;
        case MarkerOperator::not_in:
            return right.find(left) == std::string::npos;
        case MarkerOperator::less:
        case MarkerOperator::greater:
        case MarkerOperator::compatible:
            return false;
    }
    return false;
}

// nullopt: the right side is not a valid specifier, so compare as text.
std::optional<bool> compare_as_versions(const std::string& left, MarkerOperator operation,
                                        const std::string& right) {
    if (is_membership(operation)) return std::nullopt;
    if (operation == MarkerOperator::arbitrary) return base::equals_ignoring_case(left, right);
    const auto specifier = Specifier::parse(std::string(operator_text(operation)) + right);
    if (!specifier) return std::nullopt;
    const auto version = Version::parse(left);
    return version && specifier->contains(*version);
}

}  // namespace

struct MarkerNode {
    enum class Kind { comparison, all, any };
    Kind kind = Kind::comparison;
    Operand left;
    MarkerOperator operation = MarkerOperator::equal;
    Operand right;
    std::vector<std::shared_ptr<const MarkerNode>> children;
};

namespace {

using NodePointer = std::shared_ptr<const MarkerNode>;

bool evaluate_comparison(const MarkerNode& node, const MarkerEnvironment& environment) {
    auto left = node.left.value(environment);
    auto right = node.right.value(environment);
    const auto* variable = node.left.variable != nullptr ? node.left.variable : node.right.variable;
    if (variable != nullptr && variable->name == "extra") {  // PEP 685
        left = normalize_name(left);
        right = normalize_name(right);
    }
    if (const Members members = node.right.members(); members != Members::none) {
        const auto all = base::split(right, ' ');
        const bool has = std::find(all.begin(), all.end(), member_of(members, left)) != all.end();
        return has == (node.operation == MarkerOperator::in);
    }
    if (variable != nullptr && variable->is_version) {
        if (const auto verdict = compare_as_versions(left, node.operation, right)) return *verdict;
    }
    return compare_as_text(left, node.operation, right);
}

// The recursion depth is bounded by max_marker_nesting in the parser.
bool evaluate_node(const MarkerNode& node, const MarkerEnvironment& environment) {
    const auto holds = [&](const NodePointer& child) { return evaluate_node(*child, environment); };
    switch (node.kind) {
        case MarkerNode::Kind::all:
            return std::all_of(node.children.begin(), node.children.end(), holds);
        case MarkerNode::Kind::any:
            return std::any_of(node.children.begin(), node.children.end(), holds);
        case MarkerNode::Kind::comparison:
            break;
    }
    return evaluate_comparison(node, environment);
}

// Verified with packaging 26.3: a Requires-Dist has none of the variables of locks, `~=` and `===` are
// defined for versions only, `~=` needs a valid specifier, and one side must be a variable.
bool is_defined(const MarkerNode& node, bool is_of_variant) {
    const Operand& left = node.left;
    const Operand& right = node.right;
    for (const Variable* one : {left.variable, right.variable}) {
        if (one == nullptr) continue;
        const bool is_of_lock = one->members == Members::names;  // extras, dependency_groups
        if (is_of_lock || (one->is_of_variant && !is_of_variant)) return false;
    }
    const Variable* variable = left.variable != nullptr ? left.variable : right.variable;
    if (variable == nullptr) return false;
    const bool compatible = node.operation == MarkerOperator::compatible;
    if (!compatible && node.operation != MarkerOperator::arbitrary) return true;
    if (!variable->is_version) return false;
    // A variable on the right is compared by its name if there is one on the left too.
    if (!compatible || left.variable == nullptr) return true;
    return right.variable == nullptr && Specifier::parse("~=" + right.literal).has_value();
}

const MarkerNode* find_undefined(const MarkerNode& node, bool is_of_variant) {
    if (node.kind == MarkerNode::Kind::comparison) return is_defined(node, is_of_variant) ? nullptr : &node;
    for (const auto& child : node.children) {
        if (const MarkerNode* found = find_undefined(*child, is_of_variant)) return found;
    }
    return nullptr;
}

void append_text(const MarkerNode& node, std::string& text) {
    if (node.kind == MarkerNode::Kind::comparison) {
        text.append(node.left.text()).append(" ").append(operator_text(node.operation));
        text.append(" ").append(node.right.text());
        return;
    }
    const bool is_all = node.kind == MarkerNode::Kind::all;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (i > 0) text += is_all ? " and " : " or ";
        const bool needs_parentheses = is_all && node.children[i]->kind == MarkerNode::Kind::any;
        if (needs_parentheses) text += '(';
        append_text(*node.children[i], text);
        if (needs_parentheses) text += ')';
    }
}

class MarkerParser {
  public:
    explicit MarkerParser(std::string_view text) : text_(text) {}

    base::Result<NodePointer> parse() {
        WHEELYARD_ASSIGN(auto node, parse_any());
        if (at_ != text_.size()) return fail("expected `and`, `or` or the end");
        return node;
    }

  private:
    using ParseChild = base::Result<NodePointer> (MarkerParser::*)();

    [[nodiscard]] tl::unexpected<base::Error> fail(const std::string& sentence) const {
        return base::fail("marker.invalid",
                          "Invalid marker at byte " + std::to_string(at_ + 1) + ": " + sentence,
                          excerpt(text_), "e.g. python_version < \"3.11\" and extra == \"test\"");
    }
    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
            ++at_;
    }
    // The run of letters, digits, '_' and (in variables) '.' at the current position.
    [[nodiscard]] std::string_view peek_word(bool with_dots) const {
        std::size_t end = at_;
        while (end < text_.size() &&
               (base::is_ascii_alnum(text_[end]) || text_[end] == '_' || (with_dots && text_[end] == '.'))) {
            ++end;
        }
        return text_.substr(at_, end - at_);
    }
    bool take_word(std::string_view word) {
        if (peek_word(false) != word) return false;
        at_ += word.size();
        return true;
    }

    base::Result<NodePointer> parse_any() {
        return parse_joined("or", MarkerNode::Kind::any, &MarkerParser::parse_all);
    }
    base::Result<NodePointer> parse_all() {
        return parse_joined("and", MarkerNode::Kind::all, &MarkerParser::parse_atom);
    }

    base::Result<NodePointer> parse_joined(std::string_view word, MarkerNode::Kind kind,
                                           ParseChild parse_child) {
        WHEELYARD_ASSIGN(auto first, (this->*parse_child)());
        if (peek_word(false) != word) return first;
        auto node = std::make_shared<MarkerNode>();
        node->kind = kind;
        node->children.push_back(std::move(first));
        while (take_word(word)) {
            WHEELYARD_ASSIGN(auto next, (this->*parse_child)());
            node->children.push_back(std::move(next));
        }
        return NodePointer(std::move(node));
    }

    base::Result<NodePointer> parse_atom() {
        skip_space();
        if (!rest().starts_with('(')) return parse_comparison();
        if (depth_ == max_marker_nesting) return fail("parentheses are nested too deeply");
        ++depth_;
        ++at_;
        WHEELYARD_ASSIGN(auto node, parse_any());
        if (!rest().starts_with(')')) return fail("expected a closing parenthesis");
        ++at_;
        --depth_;
        skip_space();
        return node;
    }

    base::Result<NodePointer> parse_comparison() {
        auto node = std::make_shared<MarkerNode>();
        WHEELYARD_ASSIGN(node->left, parse_operand());
        skip_space();
        WHEELYARD_ASSIGN(node->operation, parse_operator());
        skip_space();
        WHEELYARD_ASSIGN(node->right, parse_operand());
        skip_space();
        if (!asks_for_member(*node)) return fail("expected a text that is `in` or `not in` this set");
        normalize_extra(node->left, node->right);
        normalize_extra(node->right, node->left);
        return NodePointer(std::move(node));
    }

    // PEP 751, PEP 825: the only use of a set.
    static bool asks_for_member(const MarkerNode& node) {
        if (node.right.members() != Members::none)
            return node.left.variable == nullptr && is_membership(node.operation);
        return node.left.members() == Members::none;
    }

    static void normalize_extra(const Operand& variable, Operand& literal) {
        if (variable.variable == nullptr || variable.variable->name != "extra") return;
        literal.literal = normalize_name(literal.literal);
    }

    base::Result<Operand> parse_operand() {
        if (rest().starts_with('"') || rest().starts_with('\'')) return parse_literal();
        const auto word = peek_word(true);
        const auto* variable = find_variable(word);
        if (variable == nullptr) return fail("expected a marker variable or a quoted string");
        at_ += word.size();
        return Operand{variable, {}};
    }

    base::Result<Operand> parse_literal() {
        const auto end = text_.find(text_[at_], at_ + 1);
        if (end == std::string_view::npos) return fail("the quoted string has no closing quote");
        const auto literal = text_.substr(at_ + 1, end - at_ - 1);
        // PEP 508 has no escape sequences, but some installers apply Python's: reject text that they would
        // read differently.
        const bool is_plain = literal.find_first_of("\\\n") == std::string_view::npos;
        if (!is_plain || base::printable(literal) != literal)
            return fail("a quoted string contains a backslash or a control character");
        at_ = end + 1;
        return Operand{nullptr, std::string(literal)};
    }

    base::Result<MarkerOperator> parse_operator() {
        for (const auto& symbol : symbols.rows) {
            if (!rest().starts_with(symbol.text)) continue;
            at_ += symbol.text.size();
            return symbol.value;
        }
        if (take_word("in")) return MarkerOperator::in;
        if (take_word("not")) {
            skip_space();
            if (take_word("in")) return MarkerOperator::not_in;
            return fail("expected `in` after `not`");
        }
        return fail("expected one of == != <= >= < > ~= === in, not in");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
};

}  // namespace

base::Result<Marker> Marker::parse(std::string_view text) {
    if (text.size() > max_marker_bytes) {
        return base::fail("marker.too_long", "The environment marker is too long", excerpt(text));
    }
    Marker marker;
    WHEELYARD_ASSIGN(marker.root_, MarkerParser(base::trim(text)).parse());
    return marker;
}

bool Marker::evaluate(const MarkerEnvironment& environment) const {
    return root_ == nullptr || evaluate_node(*root_, environment);
}

std::string Marker::undefined_comparison(bool is_of_variant) const {
    std::string text;
    const MarkerNode* found = root_ == nullptr ? nullptr : find_undefined(*root_, is_of_variant);
    if (found != nullptr) append_text(*found, text);
    return text;
}

std::string Marker::text() const {
    std::string text;
    if (root_ != nullptr) append_text(*root_, text);
    return text;
}

void set_variant(MarkerEnvironment& environment, const std::string& label,
                 const std::vector<VariantProperty>& properties) {
    std::vector<std::string> namespaces, features, texts;
    for (const VariantProperty& property : properties) {
        namespaces.push_back(property.name_space);
        features.push_back(property.name_space + "::" + property.feature);
        texts.push_back(member_of(Members::properties, property.text()));
    }
    environment["variant_label"] = label;
    environment["variant_namespaces"] = base::join(namespaces, " ");
    environment["variant_features"] = base::join(features, " ");
    environment["variant_properties"] = base::join(texts, " ");
}

}  // namespace wheelyard::wheel
