// Loads libpq, PostgreSQL's client library, at the first connection: a registry whose catalog is in its own
// folder neither needs nor loads it (as libcurl, decision 9).
#pragma once

#include <libpq-fe.h>

#include "lib/base/result.hpp"

namespace wheelyard::postgres {

// One pointer per function that postgres.cpp calls, with the same name.
struct Libpq {
    decltype(&PQconnectdbParams) connectdbParams = nullptr;
    decltype(&PQfinish) finish = nullptr;
    decltype(&PQstatus) status = nullptr;
    decltype(&PQconninfo) conninfo = nullptr;
    decltype(&PQconninfoFree) conninfoFree = nullptr;
    decltype(&PQerrorMessage) errorMessage = nullptr;
    decltype(&PQsocket) socket = nullptr;
    decltype(&PQserverVersion) serverVersion = nullptr;
    decltype(&PQbackendPID) backendPID = nullptr;
    decltype(&PQsetnonblocking) setnonblocking = nullptr;
    decltype(&PQsendQuery) sendQuery = nullptr;
    decltype(&PQsendQueryParams) sendQueryParams = nullptr;
    decltype(&PQenterPipelineMode) enterPipelineMode = nullptr;
    decltype(&PQexitPipelineMode) exitPipelineMode = nullptr;
    decltype(&PQpipelineSync) pipelineSync = nullptr;
    decltype(&PQflush) flush = nullptr;
    decltype(&PQconsumeInput) consumeInput = nullptr;
    decltype(&PQisBusy) isBusy = nullptr;
    decltype(&PQgetResult) getResult = nullptr;
    decltype(&PQnotifies) notifies = nullptr;
    decltype(&PQfreemem) freemem = nullptr;
    decltype(&PQclear) clear = nullptr;
    decltype(&PQresultStatus) resultStatus = nullptr;
    decltype(&PQresultErrorField) resultErrorField = nullptr;
    decltype(&PQcmdStatus) cmdStatus = nullptr;
    decltype(&PQcmdTuples) cmdTuples = nullptr;
    decltype(&PQntuples) ntuples = nullptr;
    decltype(&PQftype) ftype = nullptr;
    decltype(&PQgetvalue) getvalue = nullptr;
    decltype(&PQgetlength) getlength = nullptr;
    decltype(&PQsetNoticeReceiver) setNoticeReceiver = nullptr;
};

// The process-wide library; thread-safe. Error "store.library": there is none.
[[nodiscard]] base::Result<const Libpq*> libpq();

}  // namespace wheelyard::postgres
