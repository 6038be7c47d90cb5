// Strict TOML configuration. Every error names file, line and column, what was expected and what was found;
// an unknown key gets the nearest known one as a suggestion. toml.cpp wraps toml++.
//
//     WHEELYARD_ASSIGN(auto document, TomlDocument::read(path));
//     TomlTable root = document.root();
//     const auto name = root.string("name");                      // required
//     const auto port = root.integer_or("port", 8080, 1, 65535);  // optional, bounded
//     for (TomlTable index : root.tables("index")) …
//     WHEELYARD_TRY(document.finish());                           // all problems and unknown keys
//
// Getters never fail: they record a problem and return a default. finish() reports all problems together, so
// that a person fixes the file in one pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::io {

// `error` is about a configuration that stays wrong until a person changes it: programs end with the status
// of wrong usage, 2. An error of the system that may pass, such as a full disk or an NFS server that is away,
// stays as it is.
[[nodiscard]] tl::unexpected<base::Error> fail_configuration(base::Error error);
[[nodiscard]] bool is_of_configuration(const base::Error& error);

struct TomlNode;      // defined in toml_tree.hpp
struct TomlProblems;  // defined in toml.cpp

class TomlTable {
  public:
    TomlTable() = default;
    [[nodiscard]] bool has(std::string_view key) const;  // does not count as reading the key

    // Required values. Absent: a problem at the table's place, and an empty value.
    std::string string(std::string_view key);
    std::int64_t integer(std::string_view key, std::int64_t min, std::int64_t max);
    TomlTable table(std::string_view key);

    // Says whether the key is there; otherwise notes the same problem: "`KEY` is missing (expected EXPECTED,
    // found nothing)".
    bool require(std::string_view key, const char* expected);

    // Optional values.
    std::string string_or(std::string_view key, std::string fallback);
    std::optional<std::string> string_if(std::string_view key);
    std::int64_t integer_or(std::string_view key, std::int64_t fallback, std::int64_t min, std::int64_t max);
    bool boolean_or(std::string_view key, bool fallback);
    std::optional<std::filesystem::path> path_if(std::string_view key);  // relative to the configuration file
    std::vector<std::string> strings_or(std::string_view key,
                                        std::vector<std::string> fallback);  // array of strings
    // One of `choices`; otherwise a problem that lists them.
    std::string choice_or(std::string_view key, std::string fallback,
                          const std::vector<std::string>& choices);
    TomlTable table_or_empty(std::string_view key);
    std::vector<TomlTable> tables(std::string_view key);  // array of tables; absent → empty
    // A table of strings with arbitrary keys (environment variables).
    std::vector<std::pair<std::string, std::string>> string_map(std::string_view key);
    // The value of a key as JSON, whatever it is; null if the key is absent. What is in it is not checked.
    [[nodiscard]] Json json(std::string_view key);
    // The names of all keys, for tables with arbitrary keys ([packages.NAME]).
    [[nodiscard]] std::vector<std::string> keys() const;

    // A path that is relative to the configuration file, as path_if() has it.
    [[nodiscard]] std::filesystem::path resolved(const std::string& path) const;

    // "file:line:column" of a key (or of the table), for problems that the caller finds.
    [[nodiscard]] std::string place(std::string_view key = {}) const;
    // Records a problem that the caller found (for example an invalid version) at `key`.
    void report(std::string_view key, std::string sentence);
    // Every problem recorded so far and this table's unknown keys, as TomlDocument::finish() reports them,
    // which then has them no more: for files of which the other tables hold all the same.
    [[nodiscard]] base::Status finish();

  private:
    friend class TomlDocument;
    TomlTable(std::shared_ptr<TomlProblems> problems, const TomlNode* node, std::string name);
    const TomlNode* read(std::string_view key);
    std::shared_ptr<TomlProblems> problems_;
    const TomlNode* node_ = nullptr;
    std::string name_;  // dotted, for messages
};

class TomlDocument {
  public:
    // Errors, as of fail_configuration(): "config.missing" (no such file), "config.syntax"
    // (file:line:column); that of a file that cannot be read.
    [[nodiscard]] static base::Result<TomlDocument> read(const std::filesystem::path& file);
    [[nodiscard]] static base::Result<TomlDocument> parse(std::string_view text,
                                                          const std::filesystem::path& file);
    // A document with the keys of this object. Its problems begin with a key's path instead of file and line;
    // `file` is what relative paths are relative to.
    [[nodiscard]] static TomlDocument of_json(const Json& json, const std::filesystem::path& file);
    [[nodiscard]] TomlTable root();
    [[nodiscard]] Json json() const;  // all of it, unchecked
    // Reports every recorded problem and every key that was never read, one per line, as one Error
    // "config.invalid".
    [[nodiscard]] base::Status finish();

  private:
    static TomlDocument of_tree(TomlNode tree, const std::filesystem::path& file);
    std::shared_ptr<TomlNode> tree_;
    std::shared_ptr<TomlProblems> problems_;
};

}  // namespace wheelyard::io
