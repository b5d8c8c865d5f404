#include "axial/llm/suffix_automaton.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace axial::llm {
namespace {

// How many states up the chain of links learn that they stand at the end of the text. There are that many only in runs
// of one piece over and over, which would otherwise cost the square of their length.
constexpr int reach = 256;

}  // namespace

SuffixAutomaton::SuffixAutomaton(std::span<const TokenId> text) : SuffixAutomaton() {
    for (const TokenId token : text) push(token);
    text_.shrink_to_fit();
    states_.shrink_to_fit();
    edges_.shrink_to_fit();
}

std::size_t SuffixAutomaton::bytes() const {
    return text_.capacity() * sizeof(TokenId) + states_.capacity() * sizeof(State) + edges_.capacity() * sizeof(Edge);
}

void SuffixAutomaton::clear() noexcept {
    text_.clear();
    states_.clear();
    edges_.clear();
    freeBlocks_.fill(none);
    last_ = 0;
    earlier_ = {};
}

void SuffixAutomaton::push(TokenId token) {
    try {
        if (states_.empty()) addState({0, none, 0, 0, {}});
        text_.push_back(token);
        extend(token);
    } catch (...) {
        clear();
        throw;
    }
}

void SuffixAutomaton::extend(TokenId token) {
    const auto end = static_cast<std::uint32_t>(text_.size());
    const std::uint32_t now = addState({states_[last_].length + 1, 0, end, 0, {}});
    std::uint32_t at = last_;
    for (; at != none && !find(at, token); at = states_[at].link) addEdge(at, {token, now});
    if (at != none) {
        std::uint32_t next = find(at, token)->target;
        if (states_[next].length != states_[at].length + 1) next = split(at, token);
        states_[now].link = next;
    }
    last_ = now;

    std::uint32_t link = states_[now].link;
    earlier_ = {states_[link].length, states_[link].recent};
    for (int steps = 0; steps < reach && link != 0; ++steps, link = states_[link].link) states_[link].recent = end;
}

// The substrings that reach the edge's target from `at` and shorter ones stand in one more place from now on than the
// longer ones of that state: they get a state of their own.
std::uint32_t SuffixAutomaton::split(std::uint32_t at, TokenId token) {
    const std::uint32_t whole = find(at, token)->target;
    State shorter = states_[whole];
    shorter.length = states_[at].length + 1;
    if (shorter.edges > 1) {
        const std::uint32_t copy = block(std::bit_ceil(shorter.edges));
        std::copy_n(edges_.begin() + shorter.edge.target, shorter.edges, edges_.begin() + copy);
        shorter.edge.target = copy;
    }
    const std::uint32_t state = addState(shorter);
    states_[whole].link = state;
    for (; at != none; at = states_[at].link) {
        Edge* edge = find(at, token);
        if (!edge || edge->target != whole) break;
        edge->target = state;
    }
    return state;
}

std::uint32_t SuffixAutomaton::addState(const State& state) {
    states_.push_back(state);
    return static_cast<std::uint32_t>(states_.size() - 1);
}

const SuffixAutomaton::Edge* SuffixAutomaton::find(std::uint32_t state, TokenId token) const {
    const State& s = states_[state];
    if (s.edges <= 1) return s.edges == 1 && s.edge.token == token ? &s.edge : nullptr;
    const Edge* begin = edges_.data() + s.edge.target;
    const Edge* found = std::ranges::lower_bound(begin, begin + s.edges, token, {}, &Edge::token);
    return found != begin + s.edges && found->token == token ? found : nullptr;
}

SuffixAutomaton::Edge* SuffixAutomaton::find(std::uint32_t state, TokenId token) {
    return const_cast<Edge*>(std::as_const(*this).find(state, token));
}

void SuffixAutomaton::addEdge(std::uint32_t state, Edge edge) {
    const std::uint32_t edges = states_[state].edges;
    if (edges == 0) {
        states_[state].edge = edge;
    } else {
        if (std::has_single_bit(edges)) {  // the block is full
            const std::uint32_t larger = block(2 * edges);
            const State& s = states_[state];
            if (edges == 1) {
                edges_[larger] = s.edge;
            } else {
                std::copy_n(edges_.begin() + s.edge.target, edges, edges_.begin() + larger);
                release(s.edge.target, edges);
            }
            states_[state].edge.target = larger;
        }
        Edge* begin = edges_.data() + states_[state].edge.target;
        Edge* place = std::ranges::lower_bound(begin, begin + edges, edge.token, {}, &Edge::token);
        std::copy_backward(place, begin + edges, begin + edges + 1);
        *place = edge;
    }
    ++states_[state].edges;
}

// A block of a power of two of edges.
std::uint32_t SuffixAutomaton::block(std::uint32_t size) {
    std::uint32_t& free = freeBlocks_[std::countr_zero(size)];
    if (free == none) {
        edges_.resize(edges_.size() + size);
        return static_cast<std::uint32_t>(edges_.size() - size);
    }
    const std::uint32_t taken = free;
    free = edges_[taken].target;
    return taken;
}

void SuffixAutomaton::release(std::uint32_t block, std::uint32_t size) {
    std::uint32_t& free = freeBlocks_[std::countr_zero(size)];
    edges_[block].target = free;
    free = block;
}

void SuffixAutomaton::advance(Cursor& cursor, TokenId token) const {
    if (states_.empty()) return;
    const Edge* edge = find(cursor.state, token);
    while (!edge && cursor.state != 0) {
        cursor.state = states_[cursor.state].link;
        cursor.length = states_[cursor.state].length;
        edge = find(cursor.state, token);
    }
    if (edge) cursor = {edge->target, cursor.length + 1};
}

SuffixAutomaton::Match SuffixAutomaton::matchOf(const Cursor& cursor) const {
    if (cursor.length == 0) return {};
    return {cursor.length, states_[cursor.state].recent};
}

}  // namespace axial::llm
