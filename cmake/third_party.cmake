# Every library from outside, and the modules that link it; tests/layers/third_party.py says which file may include it. All
# from the distribution's packages.

find_package(Threads REQUIRED)
find_package(OpenSSL 1.1.1 REQUIRED)
find_package(CURL 7.60 REQUIRED)
find_package(LibArchive REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)

# Header-only libraries, found by path so that a cluster without root can point CMAKE_PREFIX_PATH at them.
function(wheelyard_headers name probe)
    find_path(${name}_INCLUDE_DIR ${probe} REQUIRED)
    add_library(${name} INTERFACE)
    target_include_directories(${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIR})
endfunction()
wheelyard_headers(tl_expected tl/expected.hpp)
wheelyard_headers(nlohmann_json nlohmann/json.hpp)
wheelyard_headers(tomlplusplus toml++/toml.h)
wheelyard_headers(cli11 CLI/CLI.hpp)

target_link_libraries(wheelyard_flags INTERFACE tl_expected)
wheelyard_uses(base OpenSSL::Crypto Threads::Threads)
wheelyard_uses(attest OpenSSL::Crypto)
wheelyard_uses(io LibArchive::LibArchive ZLIB::ZLIB nlohmann_json tomlplusplus)
wheelyard_uses(zip ZLIB::ZLIB)

# libcurl is loaded by the first request, not linked (decision 9), unless there is only an archive of it.
get_target_property(curl_type CURL::libcurl TYPE)
if(curl_type STREQUAL STATIC_LIBRARY OR CURL_LIBRARIES MATCHES "\\.a$")
    wheelyard_uses(io CURL::libcurl)
else()
    target_include_directories(wheelyard_io SYSTEM PRIVATE
        $<TARGET_PROPERTY:CURL::libcurl,INTERFACE_INCLUDE_DIRECTORIES>)
    wheelyard_uses(io ${CMAKE_DL_LIBS})
    set_source_files_properties(lib/io/curl_library.cpp PROPERTIES COMPILE_DEFINITIONS
        WHEELYARD_CURL_FOLDER="$<TARGET_FILE_DIR:CURL::libcurl>")
endif()

# Unpacks twice as fast as zlib, which does the work on a cluster and in the portable programs.
if(WHEELYARD_ISAL AND NOT WHEELYARD_CLUSTER)
    find_path(ISAL_INCLUDE_DIR isa-l/igzip_lib.h)
    find_library(ISAL_LIBRARY isal)
    if(NOT ISAL_INCLUDE_DIR OR NOT ISAL_LIBRARY)
        message(FATAL_ERROR "ISA-L was not found: install libisal-dev, or configure with -DWHEELYARD_ISAL=OFF")
    endif()
    add_library(isal INTERFACE)
    target_include_directories(isal SYSTEM INTERFACE ${ISAL_INCLUDE_DIR})
    target_link_libraries(isal INTERFACE ${ISAL_LIBRARY})
    set_source_files_properties(lib/inspect/zip/inflate.cpp PROPERTIES COMPILE_DEFINITIONS WHEELYARD_ISAL)
    wheelyard_uses(zip isal)
endif()

# Optional on a cluster, which serves no pages: without it, compressed HIP bundles are reported as not read.
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
if(ZSTD_INCLUDE_DIR AND ZSTD_LIBRARY)
    add_library(zstd INTERFACE)
    target_include_directories(zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
    target_link_libraries(zstd INTERFACE ${ZSTD_LIBRARY})
    set_source_files_properties(lib/inspect/zip/zstd_stream.cpp lib/io/zstd.cpp PROPERTIES
        COMPILE_DEFINITIONS WHEELYARD_ZSTD)
    wheelyard_uses(zip zstd)
    wheelyard_uses(io zstd)
elseif(NOT WHEELYARD_CLUSTER)
    message(FATAL_ERROR "zstd was not found: install libzstd-dev")
endif()
foreach(module builder commands indexer avail_wheels)  # their command lines
    wheelyard_uses(${module} cli11)
endforeach()

if(NOT WHEELYARD_CLUSTER)
    find_package(Boost 1.81 REQUIRED)
    find_package(SQLite3 REQUIRED)
    add_library(boost_headers INTERFACE)
    target_include_directories(boost_headers SYSTEM INTERFACE ${Boost_INCLUDE_DIRS})
    target_compile_definitions(boost_headers INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION
        BOOST_BEAST_SEPARATE_COMPILATION)
    wheelyard_uses(engine SQLite::SQLite3 ${CMAKE_DL_LIBS})
    # Only its header: libpq is loaded by the first connection, as libcurl.
    find_path(LIBPQ_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql)
    if(NOT LIBPQ_INCLUDE_DIR)
        message(FATAL_ERROR "libpq-fe.h was not found: install libpq-dev")
    endif()
    target_include_directories(wheelyard_engine SYSTEM PUBLIC ${LIBPQ_INCLUDE_DIR})
    # The archives: the programs then need no package at run time that a server rarely has.
    find_path(CMARK_INCLUDE_DIR cmark-gfm-core-extensions.h)
    find_library(CMARK_LIBRARY libcmark-gfm.a)
    find_library(CMARK_EXTENSIONS_LIBRARY libcmark-gfm-extensions.a)
    if(NOT CMARK_INCLUDE_DIR OR NOT CMARK_LIBRARY OR NOT CMARK_EXTENSIONS_LIBRARY)
        message(FATAL_ERROR "cmark-gfm was not found: install libcmark-gfm-dev and libcmark-gfm-extensions-dev")
    endif()
    add_library(cmark INTERFACE)
    target_include_directories(cmark SYSTEM INTERFACE ${CMARK_INCLUDE_DIR})
    target_link_libraries(cmark INTERFACE ${CMARK_EXTENSIONS_LIBRARY} ${CMARK_LIBRARY})
    target_compile_definitions(cmark INTERFACE CMARK_GFM_STATIC_DEFINE CMARK_GFM_EXTENSIONS_STATIC_DEFINE)
    wheelyard_uses(web cmark)
    wheelyard_uses(http boost_headers OpenSSL::SSL)
endif()
