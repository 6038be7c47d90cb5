# The programs: name, main file (wiring only), rooms linked.
wheelyard_program(wheelyard-builder  builder/main.cpp              builder)
wheelyard_program(wheelyard-governor builder/governor/main.cpp     governor)
wheelyard_static(wheelyard-governor governor base)
wheelyard_program(avail_wheels       indexer/avail_wheels/main.cpp avail_wheels)
if(NOT WHEELYARD_CLUSTER)
    wheelyard_program(wheelyard-registry registry/main.cpp registry indexer)
    wheelyard_program(wheelyard-indexer  indexer/main.cpp  indexer)
endif()

# What bench/ measures with; built only when named.
add_executable(inspect_bound EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/inspect_bound.cpp)
target_link_libraries(inspect_bound PRIVATE wheelyard_inspect)
