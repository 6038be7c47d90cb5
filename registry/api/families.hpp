// The operations, by the file that has them.
#pragma once

#include <span>

#include "registry/api/operation.hpp"

namespace wheelyard::registry {

[[nodiscard]] std::span<const OperationRow> file_operations();
[[nodiscard]] std::span<const OperationRow> rule_operations();
[[nodiscard]] std::span<const OperationRow> index_operations();
[[nodiscard]] std::span<const OperationRow> index_reads();
[[nodiscard]] std::span<const OperationRow> wheel_operations();
[[nodiscard]] std::span<const OperationRow> audit_operations();
[[nodiscard]] std::span<const OperationRow> token_operations();
[[nodiscard]] std::span<const OperationRow> agent_operations();
[[nodiscard]] std::span<const OperationRow> site_operations();
[[nodiscard]] std::span<const OperationRow> build_operations();
[[nodiscard]] std::span<const OperationRow> request_operations();
[[nodiscard]] std::span<const OperationRow> task_operations();
[[nodiscard]] std::span<const OperationRow> login_operations();
[[nodiscard]] std::span<const OperationRow> publish_operations();

}  // namespace wheelyard::registry
