# How modules become targets: warnings, sanitizers, output folders, and the functions that the tables call.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(THREADS_PREFER_PTHREAD_FLAG ON)

find_program(WHEELYARD_CCACHE ccache)
if(WHEELYARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${WHEELYARD_CCACHE})
    if(WHEELYARD_PCH)  # as strict as that, ccache keeps nothing that includes a precompiled header
        set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${WHEELYARD_CCACHE})
        add_compile_options("$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
endif()

# Parsed once for all modules: each compile would spend most of a second on them. Headers of our own in this list saved
# nothing more. A source still includes what it uses: scripts/tidy and the packages compile without this list.
set(WHEELYARD_PRECOMPILED <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <mutex>
    <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> <tl/expected.hpp>)
function(wheelyard_precompile target)
    if(NOT WHEELYARD_PCH)
        return()
    endif()
    if(target STREQUAL "wheelyard_base")
        target_precompile_headers(wheelyard_base PRIVATE ${WHEELYARD_PRECOMPILED})
    else()
        target_precompile_headers(${target} REUSE_FROM wheelyard_base)
    endif()
endfunction()

if(WHEELYARD_SANITIZE)
    add_compile_options(-fsanitize=${WHEELYARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${WHEELYARD_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        add_compile_options(-fno-sanitize=function)  # Clang 14 cannot assemble its prologues in coroutines
        add_link_options(-fuse-ld=lld)  # 70 programs of 20 to 240 MB, in a fifth of ld's time
    endif()
endif()
if(WHEELYARD_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What distributions compile with, in builds that optimise: a function with an array checks its frame before it returns, libc's
# functions check the sizes that the compiler knows, and indirect jumps land only where one may (on processors that have it; the
# linker says so in the program where libc's own objects say it of themselves, too). musl has no checked functions.
if(NOT WHEELYARD_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release" AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE}" MATCHES "-O[123s]")
    set(level 3)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
        set(level 2)  # it warns of 3
    endif()
    add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
    include(CheckCXXCompilerFlag)
    foreach(flag -fcf-protection -mbranch-protection=standard)  # x86-64, AArch64
        string(MAKE_C_IDENTIFIER "WHEELYARD_HAS${flag}" has)
        check_cxx_compiler_flag(${flag} ${has})
        if(${has})
            add_compile_options(${flag})
        endif()
    endforeach()
endif()

# Flags of our own code only; third-party headers are SYSTEM and keep their warnings to themselves.
add_library(wheelyard_flags INTERFACE)
target_compile_options(wheelyard_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
    -Wimplicit-fallthrough -Wformat=2 -Werror)
target_include_directories(wheelyard_flags INTERFACE ${CMAKE_SOURCE_DIR})
set(WHEELYARD_REBUILD "" CACHE STRING "What a rebuild adds to the version, such as .post1; scripts/package sets it")
target_compile_definitions(wheelyard_flags INTERFACE WHEELYARD_VERSION="${PROJECT_VERSION}${WHEELYARD_REBUILD}")
# The commit for `--version`, from the checkout when the build is configured; a packager of a tarball may set it.
set(WHEELYARD_COMMIT "" CACHE STRING "Commit that --version names; empty: that of the checkout, or unknown")
set(commit "${WHEELYARD_COMMIT}")
if(NOT commit AND EXISTS ${CMAKE_SOURCE_DIR}/.git)  # not that of another project around an unpacked tarball
    execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
elseif(NOT commit)
    file(READ ${CMAKE_SOURCE_DIR}/packaging/archived commit LIMIT 12)  # `git archive` fills it in
    string(REGEX MATCH "^[0-9a-f]+" commit "${commit}")
endif()
if(commit)  # one source file compiles again, not all
    set_source_files_properties(lib/base/version.cpp PROPERTIES COMPILE_DEFINITIONS WHEELYARD_COMMIT="${commit}")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER 15)
    # It reports what libstdc++ 12's own stable_sort uses.
    target_compile_options(wheelyard_flags INTERFACE -Wno-deprecated-declarations)
endif()
# In a joint source a local variable may have the name of another file's helper, and GCC also means names within a lambda that
# does not capture the outer one: the tree of clang-tidy looks for what is left.
if(WHEELYARD_UNITY OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(wheelyard_flags INTERFACE -Wno-shadow)
endif()
if(WHEELYARD_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it takes each source in the generated one for a header
    target_compile_options(wheelyard_flags INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Once it inlines, GCC 12 reports these falsely in the standard library's own variant and string; Clang, clang-tidy and
    # the sanitizers look for the real ones.
    target_compile_options(wheelyard_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
        -Wno-stringop-overflow -Wno-stringop-overread)
    if(WHEELYARD_SANITIZE MATCHES "thread")
        # Asio's fences, which ThreadSanitizer does not follow: they guard what its own locks guard as well.
        target_compile_options(wheelyard_flags INTERFACE -Wno-tsan)
    endif()
endif()

# Sources that WHEELYARD_UNITY compiles alone: those with a name that another source of their folder uses for
# something else, and those that need libarchive, zlib, OpenSSL or the system's list of users, which the
# static avail_wheels and governor do not link.
set(WHEELYARD_COMPILED_ALONE
    lib/base/digest/digest.cpp
    lib/base/digest/hmac.cpp
    lib/base/process/user.cpp
    lib/io/archive.cpp
    lib/io/archive_entry.cpp
    lib/io/gzip.cpp
    lib/io/tar_gz.cpp
    registry/intake/validation.cpp  # wire::refuse as `refuse`
)

# With WHEELYARD_UNITY, the SOURCES of TARGET that lie in one folder are compiled as one, which takes a third of the time: their
# headers are read once.
function(wheelyard_compile_by_folder target)
    if(NOT WHEELYARD_UNITY)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    foreach(source ${ARGN})
        file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${source})
        if(path IN_LIST WHEELYARD_COMPILED_ALONE)
            continue()
        endif()
        get_filename_component(group ${path} DIRECTORY)  # its name is in what is compiled, and the clone may lie anywhere
        string(MAKE_C_IDENTIFIER ${group} group)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endforeach()
endfunction()

# One row of cmake/layers.cmake: a static library of every .cpp directly in FOLDER, or for FOLDER/* also in the folders
# in it that no row above names (main files are programs).
function(wheelyard_layer module folder)
    if(WHEELYARD_CLUSTER AND folder MATCHES "^(lib/store|registry|indexer)" AND NOT folder MATCHES "^indexer/avail_wheels")
        return()
    endif()
    set(folders ${folder})
    if(folder MATCHES "/\\*$")
        string(REGEX REPLACE "/\\*$" "" folder ${folder})
        file(GLOB folders RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*)
        list(FILTER folders EXCLUDE REGEX "\\.[a-z]+$")
        list(REMOVE_ITEM folders ${WHEELYARD_CLAIMED_FOLDERS})
        list(PREPEND folders ${folder})
    endif()
    set(WHEELYARD_CLAIMED_FOLDERS ${WHEELYARD_CLAIMED_FOLDERS} ${folders} PARENT_SCOPE)
    set(WHEELYARD_MODULES ${WHEELYARD_MODULES} ${module} PARENT_SCOPE)  # those of this build, for their tests
    set(WHEELYARD_FOLDER_${module} ${folder} PARENT_SCOPE)
    set(WHEELYARD_FOLDERS_${module} ${folders} PARENT_SCOPE)
    list(TRANSFORM folders REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/\\1/*.cpp")
    file(GLOB sources CONFIGURE_DEPENDS ${folders})
    list(FILTER sources EXCLUDE REGEX "/(main|interposer/interposer)\\.cpp$")  # the latter: cmake/interposer.cmake
    if(NOT sources)
        add_library(wheelyard_${module} INTERFACE)
        target_link_libraries(wheelyard_${module} INTERFACE wheelyard_flags)
        foreach(needed ${ARGN})
            target_link_libraries(wheelyard_${module} INTERFACE wheelyard_${needed})
        endforeach()
        return()
    endif()
    add_library(wheelyard_${module} STATIC ${sources})
    wheelyard_compile_by_folder(wheelyard_${module} ${sources})
    wheelyard_precompile(wheelyard_${module})
    target_link_libraries(wheelyard_${module} PUBLIC wheelyard_flags)
    foreach(needed ${ARGN})
        target_link_libraries(wheelyard_${module} PUBLIC wheelyard_${needed})
    endforeach()
endfunction()

# A third-party library that a module's wrapper uses. Tolerates modules without sources.
function(wheelyard_uses module)
    if(NOT TARGET wheelyard_${module})
        return()
    endif()
    get_target_property(type wheelyard_${module} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
        target_link_libraries(wheelyard_${module} INTERFACE ${ARGN})
    else()
        target_link_libraries(wheelyard_${module} PUBLIC ${ARGN})
    endif()
endfunction()

add_custom_target(programs)

# wheelyard_program(NAME MAIN_CPP modules…): a program; main.cpp is wiring and joins the modules that the row names.
function(wheelyard_program name main)
    if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${main})
        return()
    endif()
    add_executable(${name} ${CMAKE_SOURCE_DIR}/${main})
    wheelyard_precompile(${name})
    foreach(module ${ARGN})
        target_link_libraries(${name} PRIVATE wheelyard_${module})
    endforeach()
    target_link_libraries(${name} PRIVATE cli11)
    # A library of a module that this program calls nothing of would be loaded at every start. What relocations write is
    # read-only from main() on, which costs a start of the registry 0.8 ms.
    target_link_options(${name} PRIVATE -Wl,--as-needed -Wl,-z,relro,-z,now)
    if(NOT WHEELYARD_SANITIZE)  # a sanitizer's runtime must see the shared library's __cxa_throw
        target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
    add_dependencies(programs ${name})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    list(APPEND WHEELYARD_PROGRAMS ${name})
    set(WHEELYARD_PROGRAMS ${WHEELYARD_PROGRAMS} PARENT_SCOPE)
endfunction()

# wheelyard_libraries(NAME "LIBRARY VERSION"…): what `--version` of the program names.
function(wheelyard_libraries name)
    list(JOIN ARGN ", " libraries)
    target_compile_definitions(${name} PRIVATE WHEELYARD_LIBRARIES="${libraries}")
endfunction()

# At a random address, as other programs are, where the compiler's own objects and libc's archive permit it. A build that says
# itself that all is static, as scripts/package's, says so for every program.
include(CheckCXXSourceCompiles)
if(NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-static")
    set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
    check_cxx_source_compiles("#include <string>\nint main(int count, char** words) { return int(std::string(words[0]).size()) > count; }"
        WHEELYARD_HAS_STATIC_PIE)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
set(WHEELYARD_STATIC_LINK $<IF:$<BOOL:${WHEELYARD_HAS_STATIC_PIE}>,-static-pie,-static>)

# Makes a program fully static, so that it starts in a millisecond and runs on any node: it links the archives of the
# MODULES alone, in that order, without the shared libraries that other parts of those modules need.
function(wheelyard_static name)
    if(NOT TARGET ${name})
        return()
    endif()
    set_target_properties(${name} PROPERTIES LINK_LIBRARIES wheelyard_flags)
    foreach(module ${ARGN})
        target_link_libraries(${name} PRIVATE $<TARGET_FILE:wheelyard_${module}>)
        add_dependencies(${name} wheelyard_${module})
    endforeach()
    target_link_libraries(${name} PRIVATE Threads::Threads)
    if(WHEELYARD_SANITIZE)
        target_link_libraries(${name} PRIVATE OpenSSL::Crypto)  # sanitizers keep what -static would have dropped
    else()
        # Of libstdc++'s and libc's archives a third is of no use to a program of ours. With -static-libgcc, GCC would start a
        # static program as one at a fixed address.
        set_target_properties(${name} PROPERTIES LINK_OPTIONS
            "${WHEELYARD_STATIC_LINK};-Wl,--gc-sections;-Wl,-z,relro,-z,now")
    endif()
endfunction()
