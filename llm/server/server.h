// The server: listens, and carries requests to the service and answers back.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace axial::llm::server {

class Service;

struct ServerSettings {
    std::string host = "127.0.0.1";  // an address, or a name that is one
    unsigned short port = 8080;      // 0: one that is free
    std::size_t mostConnections = 256;
    std::size_t mostHeader = 16 << 10, mostBody = 16 << 20;  // bytes of a request
    std::size_t workers = 2;                                 // threads that read requests
    std::chrono::milliseconds headTime{30'000};   // for a request's head to arrive, from the answer before it on
    std::chrono::milliseconds bodyTime{60'000};   // for its body
    std::chrono::milliseconds writeTime{30'000};  // for a client to take a piece of an answer
    std::chrono::milliseconds quietTime{5'000};   // after which a comment tells that a stream is alive
    std::chrono::milliseconds stopTime{10'000};   // for answers to be finished when the server stops
    bool handlesSignals = false;                  // SIGINT and SIGTERM stop it; a second one at once
    std::function<void(const std::string&)> log;  // a line for each request, without what it says; may be empty
    bool logsBodies = false;                      // with what it says
};

class Server {
  public:
    // Listens from now on; connections wait for run(). Borrows the service. Throws FileError with the system's reason.
    Server(ServerSettings settings, Service& service);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    unsigned short port() const;
    // Serves until it is stopped and every answer is sent, or the time for that is over. False: it was told twice, and
    // what was running is left as it was.
    bool run();
    // From any thread: accepts nothing more, closes what is idle, and lets answers finish within stopTime.
    void stop();

  private:
    class Listener;
    std::unique_ptr<Listener> listener_;
};

}  // namespace axial::llm::server
