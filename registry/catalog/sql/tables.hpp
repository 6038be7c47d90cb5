// The catalog's tables, for a copy from one engine to another. Every table of every engine is here (tests compare).
#pragma once

#include <array>
#include <string_view>

namespace wheelyard::catalog {

// `numbers` and `texts`: names of columns, with commas. provenance_sha256 and attestations_sha256 may be NULL, which is
// their empty text.
struct CopiedTable {
    std::string_view name;
    std::string_view order;  // of the key
    std::string_view numbers;
    std::string_view texts;
};

// Each after those that it refers to.
inline constexpr std::array copied_tables{
    CopiedTable{"blob", "sha256", "size_bytes,unreferenced_since", "sha256"},
    CopiedTable{"event", "serial", "serial,time",
                "kind,index_name,project,filename,details_json,actor,reason"},
    CopiedTable{"project", "index_name, name", "", "index_name,name,status,status_reason"},
    CopiedTable{"index_rule", "index_name", "", "index_name,rule_json"},
    CopiedTable{"file", "id",
                "id,size_bytes,metadata_size_bytes,upload_time,yanked,pinned,added_serial,"
                "provenance_size_bytes,attestations_size_bytes",
                "index_name,project,filename,version,sha256,metadata_sha256,metadata_name,requires_python,"
                "uploaded_by,yanked_reason,state,state_reason,facts_json,provenance_sha256,"
                "attestations_sha256"},
    CopiedTable{"tombstone", "index_name, filename", "time,may_return", "index_name,filename,sha256"},
    CopiedTable{"token", "id", "created,expires,revoked,revoked_at",
                "id,secret_sha256,name,indexes_json,projects_json,actions_json,created_by,revoked_by"},
    CopiedTable{"index_list", "only_row", "only_row", "json"},
    CopiedTable{"change_count", "only_row", "only_row,count", ""},
};

}  // namespace wheelyard::catalog
