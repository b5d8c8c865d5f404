// One client's connection. For server.cpp and http_connection.cpp: it is Asio's.
#pragma once
#include <set>
#include <utility>  // Boost 1.74 forgets it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>

#include "axial/llm/server/server.h"
#include "axial/llm/server/service.h"

namespace axial::llm::server {

class HttpConnection;

// What connections share. All of it belongs to the one thread that runs `io`.
struct Connections {
    const ServerSettings& settings;
    Service& service;
    boost::asio::io_context& io;
    boost::asio::thread_pool& workers;
    bool stopping = false;
    std::set<HttpConnection*> open = {};
};

// Serves requests on the socket, one after the other, until the client leaves or the server stops.
boost::asio::awaitable<void> serveConnection(boost::asio::ip::tcp::socket socket, Connections& connections);
// Closes those that wait for a request.
void closeIdle(Connections& connections);

}  // namespace axial::llm::server
