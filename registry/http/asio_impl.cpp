// The one file that compiles Asio's and Beast's own sources (separate compilation: the others only see
// declarations).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
