// The catalog's tables, for a copy from one engine to another. Every table of every engine is here (tests compare).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/catalog/sql/columns.hpp"

namespace wheelyard::catalog {

// `numbers` and `texts`: names of columns, with commas. A column that may be NULL
// (engine::may_be_null()) is copied as its empty text.
struct CopiedTable {
    std::string_view name;
    std::string_view order;  // of the key
    std::string numbers;
    std::string texts;
};

// Each after those that it refers to.
inline std::vector<CopiedTable> copied_tables() {
    return {
        {"blob", "sha256", "size_bytes,unreferenced_since", "sha256"},
        {"event", "serial", "serial,time", "kind,index_name,project,filename,details_json,actor,reason"},
        {"project", "index_name, name", "", "index_name,name,status,status_reason"},
        {"index_rule", "index_name", "", "index_name,rule_json"},
        {"file", "id", "id,added_serial," + engine::names_of_kind<FileRow>(sql::file_columns, true),
         engine::names_of_kind<FileRow>(sql::file_columns, false)},
        {"tombstone", "index_name, filename", "time,may_return", "index_name,filename,sha256"},
        {"token", "id", engine::names_of_kind<TokenRow>(sql::token_columns, true),
         engine::names_of_kind<TokenRow>(sql::token_columns, false)},
        {"index_list", "only_row", "only_row", "json"},
        {"change_count", "only_row", "only_row,count", ""},
    };
}

}  // namespace wheelyard::catalog
