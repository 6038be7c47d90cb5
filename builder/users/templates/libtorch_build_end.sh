set -eu
prefix=$({{root}}/bin/python -c 'import torch; print(torch.utils.cmake_prefix_path)')
# The modules of this torch's libraries must be those that it was linked to: ldd "$libraries"/libtorch*.so | grep -v "$libraries"
libraries=${prefix%/share/cmake}/lib
cmake -S {{place}}/libtorch -B "$folder" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release{{options}}
cmake --build "$folder"
"$folder/example"
