#include "lib/inspect/python/source_lines.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {

namespace {

bool starts_name(char c) {
    return base::is_ascii_alpha(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

class LineReader {
  public:
    explicit LineReader(std::string_view source) : source_(source) {
        constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        if (source_.starts_with(byte_order_mark)) source_.remove_prefix(byte_order_mark.size());
    }

    SourceLines read() {
        while (at_ < source_.size()) {
            line_.indent = skip_indent();
            line_.is_continued = false;
            read_line();
        }
        const Tokens all(found_.tokens);  // they move no more
        for (std::size_t i = 0; i < starts_.size(); ++i) {
            const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : all.size();
            found_.lines[i].tokens = all.subspan(starts_[i], end - starts_[i]);
        }
        return std::move(found_);
    }

  private:
    [[nodiscard]] char here(std::size_t more = 0) const {
        return at_ + more < source_.size() ? source_[at_ + more] : '\0';
    }

    std::size_t skip_indent() {
        constexpr std::size_t tab = 8;
        std::size_t indent = 0;
        for (; at_ < source_.size(); ++at_) {
            if (here() == ' ')
                ++indent;
            else if (here() == '\t')
                indent = (indent / tab + 1) * tab;
            else if (here() == '\f')
                indent = 0;
            else
                break;
        }
        return indent;
    }

    void end_statement() {
        if (found_.tokens.size() == start_) return;
        starts_.push_back(std::exchange(start_, found_.tokens.size()));
        found_.lines.push_back(line_);
    }

    void read_line() {
        std::size_t depth = 0;
        while (at_ < source_.size()) {
            const char c = here();
            if (c == '\n') {
                ++at_;
                if (depth == 0) break;
            } else if (c == '#') {
                at_ = std::min(source_.find('\n', at_), source_.size());
            } else if (c == '\\' && (here(1) == '\n' || here(1) == '\r')) {
                at_ += here(1) == '\r' && here(2) == '\n' ? 3U : 2U;
            } else if (c == ';' && depth == 0) {
                ++at_;
                end_statement();
                line_.is_continued = true;
            } else if (starts_name(c)) {
                read_name();
            } else if (c == '"' || c == '\'') {
                read_text(false);
            } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
                ++at_;
            } else {
                if (c == '(' || c == '[' || c == '{') ++depth;
                if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
                read_sign();
            }
        }
        end_statement();
    }

    void read_name() {
        const std::size_t start = at_;
        while (at_ < source_.size() && (starts_name(here()) || base::is_ascii_digit(here())))
            ++at_;
        const std::string_view name = source_.substr(start, at_ - start);
        constexpr std::size_t max_prefix = 2;
        const bool is_prefix = name.size() <= max_prefix && (here() == '"' || here() == '\'') &&
                               name.find_first_not_of("rRbBuUfFtT") == std::string_view::npos;
        if (is_prefix)
            read_text(name.find_first_of("bBfFtT") != std::string_view::npos);
        else
            found_.tokens.push_back({TokenKind::name, name});
    }

    void read_text(bool is_other) {
        const char quote = here();
        const bool is_long = here(1) == quote && here(2) == quote;
        at_ += is_long ? 3U : 1U;
        const std::size_t start = at_;
        std::size_t end = source_.size();
        while (at_ < source_.size()) {
            const char c = here();
            if (c == '\\') {
                is_other = true;
                at_ += 2;
                continue;
            }
            if (!is_long && c == '\n') {
                end = at_;
                break;
            }
            if (c == quote && (!is_long || (here(1) == quote && here(2) == quote))) {
                end = at_;
                at_ += is_long ? 3U : 1U;
                break;
            }
            ++at_;
        }
        at_ = std::min(at_, source_.size());
        found_.tokens.push_back({is_other ? TokenKind::other_text : TokenKind::text,
                                 source_.substr(start, std::min(end, source_.size()) - start)});
    }

    void read_sign() {
        const std::size_t start = at_++;
        if (base::is_ascii_digit(source_[start])) {
            while (base::is_ascii_alnum(here()) || here() == '.' || here() == '_')
                ++at_;
        } else if (here() == '=' &&
                   std::string_view("=!<>:+-*/|&").find(source_[start]) != std::string_view::npos) {
            ++at_;
        }
        found_.tokens.push_back({TokenKind::sign, source_.substr(start, at_ - start)});
    }

    std::string_view source_;
    std::size_t at_ = 0;
    SourceLine line_;
    SourceLines found_;
    std::vector<std::size_t> starts_;  // of the lines, in the tokens
    std::size_t start_ = 0;            // of the one that is read
};

}  // namespace

SourceLines read_source_lines(std::string_view source) {
    return LineReader(source).read();
}

}  // namespace wheelyard::inspect
