#include "lib/store/engine/postgres/libpq.hpp"

#include <dlfcn.h>

#include <mutex>
#include <optional>
#include <string>

#include "lib/base/process/library_functions.hpp"

namespace wheelyard::postgres {
namespace {

constexpr const char* file = "libpq.so.5";  // the soname since PostgreSQL 8.2

base::Result<Libpq> load() {
    void* opened = base::load_library(file);
    if (opened == nullptr) {
        const char* reason = ::dlerror();
        return base::fail("store.library", "PostgreSQL's client library cannot be loaded",
                          reason != nullptr ? reason : file, "install libpq5");
    }
    base::LibraryFunctions symbols(opened);
    Libpq library;
    symbols.take("PQconnectdbParams", library.connectdbParams);
    symbols.take("PQfinish", library.finish);
    symbols.take("PQstatus", library.status);
    symbols.take("PQconninfo", library.conninfo);
    symbols.take("PQconninfoFree", library.conninfoFree);
    symbols.take("PQerrorMessage", library.errorMessage);
    symbols.take("PQsocket", library.socket);
    symbols.take("PQserverVersion", library.serverVersion);
    symbols.take("PQbackendPID", library.backendPID);
    symbols.take("PQsetnonblocking", library.setnonblocking);
    symbols.take("PQsendQuery", library.sendQuery);
    symbols.take("PQsendQueryParams", library.sendQueryParams);
    symbols.take("PQenterPipelineMode", library.enterPipelineMode);
    symbols.take("PQexitPipelineMode", library.exitPipelineMode);
    symbols.take("PQpipelineSync", library.pipelineSync);
    symbols.take("PQflush", library.flush);
    symbols.take("PQconsumeInput", library.consumeInput);
    symbols.take("PQisBusy", library.isBusy);
    symbols.take("PQgetResult", library.getResult);
    symbols.take("PQnotifies", library.notifies);
    symbols.take("PQfreemem", library.freemem);
    symbols.take("PQclear", library.clear);
    symbols.take("PQresultStatus", library.resultStatus);
    symbols.take("PQresultErrorField", library.resultErrorField);
    symbols.take("PQcmdStatus", library.cmdStatus);
    symbols.take("PQcmdTuples", library.cmdTuples);
    symbols.take("PQntuples", library.ntuples);
    symbols.take("PQftype", library.ftype);
    symbols.take("PQgetvalue", library.getvalue);
    symbols.take("PQgetlength", library.getlength);
    symbols.take("PQsetNoticeReceiver", library.setNoticeReceiver);
    if (!symbols.missing().empty())
        return base::fail("store.library", "This PostgreSQL client library lacks a function",
                          symbols.missing(), "install libpq 14 or newer");
    return library;
}

}  // namespace

base::Result<const Libpq*> libpq() {
    static std::mutex mutex;
    static std::optional<Libpq> loaded;
    const std::scoped_lock lock(mutex);
    if (!loaded) {
        WHEELYARD_ASSIGN(loaded, load());
    }
    return &*loaded;
}

}  // namespace wheelyard::postgres
