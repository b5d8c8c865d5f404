#include "axial/llm/server/event_channel.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>

using namespace axial::llm;
using namespace axial::llm::server;

namespace {

Piece piece(std::size_t choice, std::string text, std::size_t tokens) {
    return {choice, std::move(text), {}, tokens, 0};
}

}  // namespace

TEST_CASE("event channel: text that nobody has taken is joined, but not over choices, nor with logprobs") {
    EventChannel channel;
    channel.push(piece(0, "a", 1));
    channel.push(piece(0, "b", 2));
    channel.push(piece(1, "c", 1));
    Piece told = piece(1, "d", 2);
    told.logprobs.push_back({{7, -0.5}, {}});
    channel.push(told);
    channel.push(ChoiceEnd{.choice = 0});
    channel.close();
    const EventChannel::Taken taken = channel.take();
    REQUIRE(taken.events.size() == 4);
    CHECK(std::get<Piece>(taken.events[0]).text == "ab");
    CHECK(std::get<Piece>(taken.events[0]).tokens == 2);
    CHECK(std::get<Piece>(taken.events[1]).text == "c");
    CHECK(std::get<Piece>(taken.events[2]).logprobs.size() == 1);
    CHECK(std::holds_alternative<ChoiceEnd>(taken.events[3]));
    CHECK(taken.closed);
    CHECK(channel.take().events.empty());
}

TEST_CASE("event channel: full until somebody takes") {
    EventChannel channel(1000);
    CHECK_FALSE(channel.full());
    channel.push(piece(0, std::string(2000, 'x'), 1));
    CHECK(channel.full());
    CHECK(channel.take().wasFull);
    CHECK_FALSE(channel.full());
    CHECK_FALSE(channel.take().wasFull);
}

TEST_CASE("event channel: whoever waits is told once between two takes, and of what was there before") {
    EventChannel channel;
    int told = 0;
    channel.push(piece(0, "a", 1));
    channel.onReady([&] { ++told; });
    CHECK(told == 1);
    channel.push(piece(0, "b", 2));
    CHECK(told == 1);
    channel.take();
    CHECK(told == 1);
    channel.push(piece(0, "c", 3));
    CHECK(told == 2);
    channel.onReady({});
    channel.take();
    channel.push(piece(0, "d", 4));
    CHECK(told == 2);
}

TEST_CASE("event channel: nothing is lost between two threads") {
    EventChannel channel;
    std::thread writer([&] {
        for (std::size_t i = 1; i <= 20000; ++i) channel.push(piece(i % 3, std::to_string(i) + " ", i));
        channel.close();
    });
    std::string texts[3], expected[3];
    for (bool closed = false; !closed;) {
        EventChannel::Taken taken = channel.take();
        for (const Event& event : taken.events) texts[std::get<Piece>(event).choice] += std::get<Piece>(event).text;
        closed = taken.closed;
    }
    writer.join();
    for (std::size_t i = 1; i <= 20000; ++i) expected[i % 3] += std::to_string(i) + " ";
    for (int i = 0; i < 3; ++i) CHECK(texts[i] == expected[i]);
}
