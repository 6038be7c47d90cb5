# One row a target: name (NAME_fuzz.cpp, corpus/NAME/) and the rooms it links.
