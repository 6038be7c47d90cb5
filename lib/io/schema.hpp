// The JSON Schema (2020-12, as OpenAPI 3.1 has it) of what a record's table reads and writes.
#pragma once

#include <string>
#include <string_view>

#include "lib/io/json.hpp"
#include "lib/io/record.hpp"

namespace wheelyard::io {

// "LoginBegun" of "wheelyard.login_begun/1": the name of a document's schema.
[[nodiscard]] std::string schema_name(std::string_view document);
// {"$ref":"#/components/schemas/LoginBegun"}; `shared` gets that schema and those that it names. A document
// without a name is spelled out.
[[nodiscard]] Json schema_of(const Document& document, Json& shared);
// The schema of one value. A codec's type without a schema is "{}", which is any value.
[[nodiscard]] Json schema_of(const Member& member, Json& shared);

}  // namespace wheelyard::io
