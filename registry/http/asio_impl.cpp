// The only file that compiles Asio's and Beast's implementation (separate compilation); all others see
// declarations.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
