#include "axial/llm/server/http_connection.h"

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <optional>

#include "axial/llm/server/api_error.h"
#include "axial/llm/server/http_text.h"
#include "axial/llm/server/reply_writer.h"

namespace axial::llm::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Code = boost::system::error_code;
using Parser = http::request_parser<http::string_body>;

// The answer to what is no request, if it has one: who has left or is too slow gets none.
std::optional<HttpReply> faultOf(const Code& code, const ServerSettings& settings) {
    if (code == http::error::end_of_stream || code == http::error::partial_message ||
        code.category() != http::make_error_code(http::error::end_of_stream).category())
        return std::nullopt;
    if (code == http::error::body_limit)
        return ApiError(413, "the body is larger than " + std::to_string(settings.mostBody) + " bytes", {},
                        "request_too_large")
            .reply();
    if (code == http::error::header_limit)
        return ApiError(431, "the headers are larger than " + std::to_string(settings.mostHeader) + " bytes").reply();
    return ApiError(400, "this is no HTTP request: " + code.message()).reply();
}

HttpRequest headOf(const Parser& parser) {
    HttpRequest head;
    const auto& message = parser.get();
    head.method = std::string(message.method_string());
    const std::string target(message.target());
    head.path = target.substr(0, target.find('?'));
    for (const auto& field : message) head.headers.emplace_back(field.name_string(), field.value());
    return head;
}

}  // namespace

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
  public:
    HttpConnection(asio::ip::tcp::socket socket, Connections& connections)
        : all_(connections), stream_(std::move(socket)), wake_(connections.io) {
        all_.open.insert(this);
        all_.service.metrics().connections = std::ssize(all_.open);
    }
    ~HttpConnection() {
        all_.open.erase(this);
        all_.service.metrics().connections = std::ssize(all_.open);
    }

    bool idle() const { return idle_; }
    void close() {
        Code ignored;
        stream_.socket().close(ignored);
    }

    asio::awaitable<void> run() {
        Code ignored;
        stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
        bool again = true;
        while (again && !all_.stopping) again = co_await serveOne();
        co_await part();
    }

    asio::awaitable<void> turnAway() {
        const ApiError error(503, "too many connections are open; try again in a moment", {}, "too_many_connections");
        co_await write(answerText(error.reply(), {}, {}));
        co_await part();
    }

  private:
    // Reads a request and answers it; whether another may follow.
    asio::awaitable<bool> serveOne() {
        Code code;
        auto token = asio::redirect_error(asio::use_awaitable, code);
        Parser parser;
        parser.header_limit(static_cast<std::uint32_t>(all_.settings.mostHeader));
        parser.body_limit(all_.settings.mostBody);
        idle_ = true;
        stream_.expires_after(all_.settings.headTime);
        co_await http::async_read_header(stream_, buffer_, parser, token);
        idle_ = false;
        started_ = std::chrono::steady_clock::now();
        HttpRequest request;
        if (code) {
            co_await refuse(code, request);
            co_return false;
        }
        request = headOf(parser);
        framing_.http11 = parser.get().version() >= 11;
        framing_.bodyless = request.method == "HEAD";
        framing_.keepsOpen = parser.keep_alive() && !all_.stopping;
        std::optional<HttpReply> early;
        if (framing_.http11 && request.header("host").empty())
            early = ApiError(400, "the request has no Host header").reply();
        else
            early = all_.service.answerHead(request);
        if (early) {
            framing_.keepsOpen = framing_.keepsOpen && parser.is_done();
            const bool sent = co_await send(*early, request);
            co_return sent&& framing_.keepsOpen;
        }
        if (!parser.is_done() && request.header("expect") == "100-continue") {
            const bool sent = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
            if (!sent) co_return false;
        }
        stream_.expires_after(all_.settings.bodyTime);
        if (!parser.is_done()) co_await http::async_read(stream_, buffer_, parser, token);
        if (code) {
            co_await refuse(code, request);
            co_return false;
        }
        request.body = std::move(parser.get().body());
        stream_.expires_never();
        const auto answering = [this, &request]() -> asio::awaitable<Answer> {
            co_return all_.service.answer(request);
        };
        Answer answer = co_await asio::co_spawn(all_.workers.get_executor(), answering, asio::use_awaitable);
        bool sent = false;
        if (const auto* reply = std::get_if<HttpReply>(&answer))
            sent = co_await send(*reply, request);
        else
            sent = co_await sendRunning(std::get<RunningReply>(answer), request);
        co_return sent&& framing_.keepsOpen && !all_.stopping;
    }

    asio::awaitable<void> refuse(const Code& code, const HttpRequest& request) {
        framing_.keepsOpen = false;
        const std::optional<HttpReply> reply = faultOf(code, all_.settings);
        if (reply) co_await send(*reply, request);
    }

    asio::awaitable<bool> write(std::string bytes) {
        Code code;
        stream_.expires_after(all_.settings.writeTime);
        co_await asio::async_write(stream_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, code));
        stream_.expires_never();
        co_return !code;
    }

    asio::awaitable<bool> send(const HttpReply& reply, const HttpRequest& request) {
        note(request, reply.status);
        const bool sent = co_await write(answerText(reply, all_.service.headersFor(request), framing_));
        co_return sent;
    }

    // While it lives, events wake the coroutine. Afterwards nobody waits for them.
    class Reading {
      public:
        Reading(HttpConnection& connection, std::shared_ptr<EventChannel> events)
            : connection_(connection), events_(std::move(events)) {
            events_->onReady([self = connection_.shared_from_this()] {
                asio::post(self->all_.io, [self] { self->wake_.cancel(); });
            });
        }
        ~Reading() {
            events_->onReady({});
            events_->abandon();
            connection_.wakeLoop();
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

      private:
        HttpConnection& connection_;
        std::shared_ptr<EventChannel> events_;
    };

    void wakeLoop() {
        if (const auto model = all_.service.model()) model->loop->wake();
    }

    asio::awaitable<bool> sendRunning(RunningReply running, const HttpRequest& request) {
        const Reading reading(*this, running.events);
        ReplyWriter& writer = *running.writer;
        const bool streams = writer.streams();
        bool headSent = false;
        watchPeer();
        while (true) {
            EventChannel::Taken taken = running.events->take();
            if (taken.wasFull) wakeLoop();
            std::string bytes;
            std::optional<Failure> failure;
            try {
                for (Event& event : taken.events) {
                    if (auto* fault = std::get_if<Failure>(&event)) failure = std::move(*fault);
                    if (failure) break;
                    bytes += writer.take(std::move(event));
                }
            } catch (const std::exception& error) {
                failure = Failure{Failure::Kind::internal, error.what()};
            }
            if (failure && !headSent && bytes.empty()) {
                unwatchPeer();
                const bool sent = co_await send(apiErrorOf(*failure).reply(), request);
                co_return sent;
            }
            const bool over = failure || taken.closed;
            if (over && !streams) {
                unwatchPeer();
                const bool sent = co_await send(writer.reply(), request);
                co_return sent;
            }
            if (over) bytes += failure ? writer.end(*failure) : writer.end();
            if (!bytes.empty()) {
                bytes = streamPart(bytes, framing_);
                if (!std::exchange(headSent, true)) bytes.insert(0, beginStream(request));
                if (over) bytes += streamEnd(framing_);
                const bool sent = co_await write(std::move(bytes));
                if (!sent) co_return false;
            }
            if (over) {
                unwatchPeer();
                co_return true;
            }
            if (left_) co_return false;
            if (!taken.events.empty()) continue;  // more may have come meanwhile
            Code code;
            wake_.expires_after(all_.settings.quietTime);
            co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, code));
            if (code || !streams) continue;
            bytes = streamPart(": nothing yet\n\n", framing_);
            if (!std::exchange(headSent, true)) bytes.insert(0, beginStream(request));
            const bool sent = co_await write(std::move(bytes));
            if (!sent) co_return false;
        }
    }

    std::string beginStream(const HttpRequest& request) {
        if (!framing_.http11) framing_.keepsOpen = false;
        note(request, 200);
        return streamHead(all_.service.headersFor(request), framing_);
    }

    // Notices that the client closes its connection, which it does not read from meanwhile.
    void watchPeer() {
        left_ = false;
        stream_.socket().async_wait(asio::ip::tcp::socket::wait_read,
                                    [self = shared_from_this(), watch = ++watch_](const Code& code) {
                                        if (code || watch != self->watch_ || !self->peerIsGone()) return;
                                        self->left_ = true;
                                        self->wake_.cancel();
                                    });
    }
    void unwatchPeer() {
        ++watch_;
        Code ignored;
        stream_.socket().cancel(ignored);
    }
    bool peerIsGone() {
        char byte;
        const auto count = ::recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    }

    // Takes what the client still sends for a moment, so that it gets to read the answer.
    asio::awaitable<void> part() {
        Code code;
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, code);
        stream_.expires_after(std::chrono::seconds(1));
        char bytes[4096];
        for (std::size_t taken = 0; !code && taken < (1 << 20);)
            taken +=
                co_await stream_.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, code));
        close();
    }

    void note(const HttpRequest& request, unsigned status) {
        const std::string route = all_.service.routeName(request);
        all_.service.metrics().answered(route, status);
        if (!all_.settings.log) return;
        const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - started_;
        std::string line = (request.method.empty() ? "-" : request.method) + " " + route + " " +
                           std::to_string(status) + " " + std::to_string(static_cast<long>(passed.count())) + " ms";
        if (all_.settings.logsBodies && !request.body.empty()) line += " " + request.body;
        all_.settings.log(line);
    }

    Connections& all_;
    beast::tcp_stream stream_;
    asio::steady_timer wake_;
    beast::flat_buffer buffer_;
    Framing framing_;
    bool idle_ = true, left_ = false;
    std::uint64_t watch_ = 0;
    std::chrono::steady_clock::time_point started_ = {};
};

asio::awaitable<void> serveConnection(asio::ip::tcp::socket socket, Connections& connections) {
    constexpr std::size_t mostTurnedAway = 32;  // who are told so; others are just closed
    const std::size_t open = connections.open.size(), most = connections.settings.mostConnections;
    if (open >= most + mostTurnedAway) co_return;
    const auto connection = std::make_shared<HttpConnection>(std::move(socket), connections);
    try {
        if (open < most)
            co_await connection->run();
        else
            co_await connection->turnAway();
    } catch (const std::exception&) {  // memory: nothing can be said, but the client is not left waiting
    }
    connection->close();
}

void closeIdle(Connections& connections) {
    for (HttpConnection* connection : connections.open)
        if (connection->idle()) connection->close();
}

}  // namespace axial::llm::server
