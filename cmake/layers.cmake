# The layer table: every room of the tree, its folder, and the rooms it may include.
#
#   wheelyard_layer(ROOM FOLDER [rooms it may include …])
#
# CMake makes one static library `wheelyard_ROOM` of each row and links only what the row names; `ctest -R layers`
# reads this same file and fails on an #include that no row allows; docs/explanation/architecture.md's picture is drawn from it.
# Folder = namespace = target. Only direct edges count: a room that uses `base` through another names `base` too.

wheelyard_layer(base         lib/base)
wheelyard_layer(io           lib/io                 base)
wheelyard_layer(wheel        lib/wheel              base)
wheelyard_layer(simple       lib/simple             base io wheel)
wheelyard_layer(inspect      lib/inspect            base wheel)
wheelyard_layer(wire         lib/wire               base io wheel inspect)

wheelyard_layer(builder      builder                base io wheel simple inspect wire)
wheelyard_layer(governor     builder/governor       base)

wheelyard_layer(blobs        registry/blobs         base)
wheelyard_layer(catalog      registry/catalog       base io wheel)
wheelyard_layer(lifecycle    registry/lifecycle     base io wheel blobs catalog)
wheelyard_layer(tasks        registry/tasks         base io wire catalog)
wheelyard_layer(http         registry/http          base io wheel simple wire)
wheelyard_layer(registry     registry               base io wheel simple inspect wire blobs catalog lifecycle tasks http)

wheelyard_layer(indexer      indexer                base io wheel simple blobs catalog)
wheelyard_layer(avail_wheels indexer/avail_wheels   base io wheel simple)
