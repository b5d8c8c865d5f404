#include "axial/llm/server/server.h"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>

#include "axial/llm/server/http_connection.h"
#include "axial/tensor/error.h"

namespace axial::llm::server {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using asio::ip::tcp;

constexpr std::chrono::milliseconds interval{20};  // between two looks whether all connections are closed

tcp::acceptor listening(asio::io_context& io, const ServerSettings& settings) {
    try {
        tcp::resolver resolver(io);
        const auto found = resolver.resolve(settings.host, std::to_string(settings.port), tcp::resolver::passive);
        return tcp::acceptor(io, found.begin()->endpoint(), true);
    } catch (const boost::system::system_error& error) {
        throw FileError("server: cannot listen on " + settings.host + " port " + std::to_string(settings.port) + ": " +
                        error.code().message() + "; choose another address or port");
    }
}

}  // namespace

class Server::Listener {
  public:
    Listener(ServerSettings settings, Service& service)
        : settings_(std::move(settings)),
          workers_(std::max<std::size_t>(1, settings_.workers)),
          connections_{settings_, service, io_, workers_},
          acceptor_(listening(io_, settings_)),
          signals_(io_),
          deadline_(io_) {}
    ~Listener() {
        workers_.stop();
        workers_.join();
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }

    bool run() {
        if (settings_.handlesSignals) {
            signals_.add(SIGINT);
            signals_.add(SIGTERM);
            waitForSignal();
        }
        asio::co_spawn(io_, accept(), asio::detached);
        io_.run();
        return !interrupted_;
    }

    void stop() {
        asio::post(io_, [this] { beginStop(); });
    }

  private:
    void waitForSignal() {
        signals_.async_wait([this](const Code& code, int) {
            if (code) return;
            if (connections_.stopping) {
                interrupted_ = true;
                io_.stop();
                return;
            }
            beginStop();
            waitForSignal();
        });
    }

    void beginStop() {
        if (std::exchange(connections_.stopping, true)) return;
        Code ignored;
        acceptor_.close(ignored);
        closeIdle(connections_);
        if (const auto model = connections_.service.model())
            model->loop->stop(std::chrono::steady_clock::now() + settings_.stopTime);
        checkWhetherOver();
    }

    // A second more than the answers have, for their ends to be sent.
    void checkWhetherOver(std::chrono::milliseconds waited = {}) {
        if (connections_.open.empty() || waited > settings_.stopTime + std::chrono::seconds(2)) return io_.stop();
        deadline_.expires_after(interval);
        deadline_.async_wait([this, waited](const Code& code) {
            if (!code) checkWhetherOver(waited + interval);
        });
    }

    asio::awaitable<void> accept() {
        while (acceptor_.is_open()) {
            Code code;
            tcp::socket socket(io_);
            co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, code));
            if (!acceptor_.is_open()) co_return;
            if (code) {  // of descriptors there may be more in a moment
                asio::steady_timer pause(io_, std::chrono::milliseconds(100));
                co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, code));
                continue;
            }
            asio::co_spawn(io_, serveConnection(std::move(socket), connections_), asio::detached);
        }
    }

    const ServerSettings settings_;
    asio::thread_pool workers_;
    Connections connections_;  // outlives the coroutines in `io_`
    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    asio::signal_set signals_;
    asio::steady_timer deadline_;
    bool interrupted_ = false;
};

Server::Server(ServerSettings settings, Service& service)
    : listener_(std::make_unique<Listener>(std::move(settings), service)) {}
Server::~Server() = default;
unsigned short Server::port() const { return listener_->port(); }
bool Server::run() { return listener_->run(); }
void Server::stop() { listener_->stop(); }

}  // namespace axial::llm::server
