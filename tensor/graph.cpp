#include "axial/tensor/graph.h"

#include <algorithm>
#include <cstring>

namespace axial {
namespace {

// So many parts of values are remembered: more than one op after another writes before they are read.
constexpr std::size_t fewestWritten = 256;
// Room beyond what one op needs, for ops that run inside of it.
constexpr std::size_t spare = 256;

// Room for so many more, so that what follows cannot fail.
template <class T>
void makeRoom(std::vector<T>& list, std::size_t count) {
    if (list.capacity() - list.size() < count) list.reserve(2 * list.capacity() + count);
}

// The bytes between the first value and the last.
std::pair<const std::byte*, const std::byte*> span(const TensorRef& v) {
    std::ptrdiff_t last = 0;
    for (std::size_t i = 0; i < v.rank; ++i)
        if (v.extent[i] != 0) last += static_cast<std::ptrdiff_t>(v.extent[i] - 1) * v.stride[i];
    const FormatInfo& info = infoOf(v.format);
    const auto* begin = static_cast<const std::byte*>(v.data);
    return {begin, begin + (last / info.blockElements + 1) * static_cast<std::ptrdiff_t>(info.blockBytes)};
}

std::uint64_t mixed(std::uint64_t x) { return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u; }
std::uint64_t hashOf(const std::string_view* axis, Format format, std::size_t rank, const Extents& extent) {
    std::uint64_t hash = mixed(reinterpret_cast<std::uintptr_t>(axis) + static_cast<std::uint64_t>(format));
    for (std::size_t i = 0; i < rank; ++i) hash = mixed(hash + extent[i]);
    return hash >> 32;
}
std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = text.size();
    for (; text.size() >= 8; text.remove_prefix(8)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), 8);
        hash = mixed(hash + word);
    }
    for (const char c : text) hash = hash << 8 ^ static_cast<unsigned char>(c);
    return mixed(hash);
}
std::uint64_t placeOf(const void* data) { return mixed(reinterpret_cast<std::uintptr_t>(data)) >> 32; }
bool isOf(const Graph::Shape& s, const TensorRef& v) {
    return s.axis == v.axis && s.format == v.format && s.rank == v.rank &&
           std::equal(v.extent.begin(), v.extent.begin() + v.rank, s.extent.begin());
}
std::uint64_t bitOf(std::uint64_t serial) { return std::uint64_t{1} << serial % 64; }

TensorRef refOf(const Graph::Shape& s) {
    TensorRef r;
    r.axis = s.axis;
    r.format = s.format;
    r.rank = s.rank;
    r.extent = s.extent;
    return r;
}

}  // namespace

std::size_t Graph::Shape::bytes() const { return bytesOf(format, refOf(*this).size()); }
std::string Graph::Shape::text() const {
    std::string text = describe(refOf(*this));
    if (format != Format::f32) text.append(" ").append(nameOf(format));
    return text;
}
bool operator==(const Graph::Shape& l, const Graph::Shape& r) {
    return l.format == r.format && l.rank == r.rank &&
           (l.axis == r.axis || std::equal(l.axis, l.axis + l.rank, r.axis)) &&
           std::equal(l.extent.begin(), l.extent.begin() + l.rank, r.extent.begin());
}

Graph::Graph(Interest interest) : Observer(interest) { clear(); }

void Graph::clear() {
    nodes_.clear();
    operands_.clear();
    results_.clear();
    leaves_.clear();
    shapes_.clear();
    shapeTable_.assign(256, nullptr);
    leafTable_.assign(1024, {});
    names_.clear();
    namedInputs_.clear();
    written_.clear();
    writtenSerials_ = 0;
    scopeByPath_.clear();
    scopes_.clear();
    scope_ = 0;
    enter("");
    meter_ = std::make_unique<MemoryMeter>();
    heldBefore_ = heldLast_ = meter_->held();
}

const Graph::Result* Graph::resultWith(ValueId id) const {
    if (id == 0) return nullptr;
    // The node that it must be of. Most values are read soon; ids rise from node to node.
    std::size_t node = nodes_.size(), few = 0;
    while (few < 16 && node != 0 && nodes_[node - 1].lastId >= id) --node, ++few;
    if (few == 16)
        node = static_cast<std::size_t>(
            std::lower_bound(nodes_.begin(), nodes_.end(), id, [](const Node& n, ValueId i) { return n.lastId < i; }) -
            nodes_.begin());
    if (node == nodes_.size()) return nullptr;
    for (const Result& r : resultsOf(nodes_[node]))
        if (r.id == id) return &r;
    return nullptr;
}

const Graph::Shape* Graph::shapeOf(const TensorRef& v) {
    const std::uint64_t hash = hashOf(v.axis, v.format, v.rank, v.extent);
    const auto find = [&] {
        std::size_t at = hash & (shapeTable_.size() - 1);
        while (shapeTable_[at] && !isOf(*shapeTable_[at], v)) at = (at + 1) & (shapeTable_.size() - 1);
        return at;
    };
    std::size_t at = find();
    if (shapeTable_[at]) return shapeTable_[at];
    if (2 * (shapes_.size() + 1) > shapeTable_.size()) {
        std::vector<const Shape*> larger(2 * shapeTable_.size(), nullptr);
        for (const Shape& s : shapes_) {
            std::size_t to = hashOf(s.axis, s.format, s.rank, s.extent) & (larger.size() - 1);
            while (larger[to]) to = (to + 1) & (larger.size() - 1);
            larger[to] = &s;
        }
        shapeTable_ = std::move(larger);
        at = find();
    }
    return shapeTable_[at] = &shapes_.emplace_back(Shape{v.axis, v.format, v.rank, v.extent});
}

Graph::Index Graph::leafOf(const TensorRef& v) {
    // Known by where it lies, what it is called and how it is read.
    const std::uint64_t serial = serialOf(v.owner), label = hashOf(v.label);
    const auto find = [&] {
        std::size_t at = placeOf(v.data) & (leafTable_.size() - 1);
        const auto isIt = [&](const LeafPlace& p) {
            return p.data == v.data && p.label == label && p.serial == serial && isOf(*p.shape, v);
        };
        while (leafTable_[at].shape && !isIt(leafTable_[at])) at = (at + 1) & (leafTable_.size() - 1);
        return at;
    };
    std::size_t at = find();
    if (leafTable_[at].shape) return leafTable_[at].leaf;
    if (2 * (leaves_.size() + 1) > leafTable_.size()) {
        std::vector<LeafPlace> larger(2 * leafTable_.size());
        for (const LeafPlace& p : leafTable_) {
            if (!p.shape) continue;
            std::size_t to = placeOf(p.data) & (larger.size() - 1);
            while (larger[to].shape) to = (to + 1) & (larger.size() - 1);
            larger[to] = p;
        }
        leafTable_ = std::move(larger);
        at = find();
    }
    const bool isParameter = !v.label.empty();
    const Shape* const shape = shapeOf(v);
    leaves_.push_back({std::string(isParameter ? v.label : inputName(v)), isParameter, shape});
    leafTable_[at] = {v.data, label, serial, shape, static_cast<Index>(leaves_.size() - 1)};
    return leafTable_[at].leaf;
}

std::string_view Graph::kept(std::string_view name) {
    for (const std::string& known : names_)
        if (known == name) return known;
    return names_.emplace_back(name);
}

// The parts that were last written of a value: those that nobody has read since, or else those that were read together
// with the last of them. False if there are none.
bool Graph::addParts(const TensorRef& v, Index number, std::vector<Operand>& operands) {
    const std::uint64_t serial = serialOf(v.owner);
    if (!(writtenSerials_ & bitOf(serial))) return false;
    const auto [begin, end] = span(v);
    const std::size_t before = operands.size();
    Index reader = unread;
    for (std::size_t i = written_.size(); i-- > 0;) {
        Written& w = written_[i];
        if (w.serial != serial || w.begin >= end || begin >= w.end) continue;
        if (operands.size() == before) reader = w.reader;
        if (w.reader != reader) break;
        if (w.reader == unread) w.reader = static_cast<Index>(nodes_.size());
        operands.push_back({number, false, w.result, shapeOf(v)});
    }
    std::reverse(operands.begin() + static_cast<std::ptrdiff_t>(before), operands.end());
    return operands.size() != before;
}

void Graph::addOperand(const TensorRef& v, Index number, std::vector<Operand>& operands) {
    if (const Result* made = resultWith(v.id)) {
        const Shape* const shape = isOf(*made->shape, v) ? made->shape : shapeOf(v);
        operands.push_back({number, false, static_cast<Index>(made - results_.data()), shape});
    } else if (!v.label.empty() || !addParts(v, number, operands)) {
        const Index leaf = leafOf(v);
        operands.push_back({number, true, leaf, leaves_[leaf].shape});
    }
}

Graph::Pending& Graph::pendingFor(const OpEvent& e) {
    for (Pending& p : pending_)
        if (p.event == &e) return p;
    pending_.push_back({&e, {}});
    return pending_.back();
}

void Graph::enter(std::string_view scope) {
    isEntered_ = false;
    if (!scopes_.empty()) {
        if (scopes_[scope_].path == scope) return;
        // Steps of a model go through their scopes in the same order.
        const Index follower = scopes_[scope_].follower;
        if (scopes_[follower].path == scope) {
            scope_ = follower;
            return;
        }
    }
    auto at = scopeByPath_.find(scope);
    if (at == scopeByPath_.end()) {
        scopes_.push_back({std::string(scope), 0});
        at = scopeByPath_.emplace(scopes_.back().path, static_cast<Index>(scopes_.size() - 1)).first;
    }
    scopes_[scope_].follower = at->second;
    scope_ = at->second;
}

// What was held since this was last asked counts for the scope that ops were in.
void Graph::takePeak() {
    const std::size_t peak = meter_->takePeak();
    if (isEntered_) {
        if (peak == heldLast_) return;  // nothing ran there, nor took memory
        enter(entered_);
    }
    heldLast_ = meter_->held();
    if (peak > heldBefore_) scopes_[scope_].peakBytes = std::max(scopes_[scope_].peakBytes, peak - heldBefore_);
}

void Graph::onScope(std::string_view scope) try {
    takePeak();
    entered_ = scope;
    isEntered_ = true;
} catch (...) {  // no memory: before() tries it again
}

void Graph::onName(std::string_view name, const TensorRef& value, const std::string&) try {
    if (const Result* made = resultWith(value.id)) {
        Result& result = results_[static_cast<std::size_t>(made - results_.data())];
        if (result.name.empty()) result.name = kept(name);
    } else if (value.id == 0 && value.label.empty()) {
        constexpr std::size_t most = 16;
        if (namedInputs_.size() == most) namedInputs_.erase(namedInputs_.begin());
        namedInputs_.push_back({value.data, serialOf(value.owner), std::string(name)});
    }
} catch (...) {  // no memory: it stays without a name
}

std::string_view Graph::inputName(const TensorRef& v) const {
    for (std::size_t i = namedInputs_.size(); i-- > 0;)
        if (namedInputs_[i].data == v.data && namedInputs_[i].serial == serialOf(v.owner)) return namedInputs_[i].name;
    return {};
}

void Graph::before(const OpEvent& e) {
    // What will be looked at, all at once.
    for (const TensorRef& in : e.in)
        if (!in.label.empty()) {
            __builtin_prefetch(in.label.data());
            __builtin_prefetch(&leafTable_[placeOf(in.data) & (leafTable_.size() - 1)]);
        }
    enter(e.scope);
    Pending& pending = pendingFor(e);
    pending.operands.clear();
    for (std::size_t i = 0; i < e.in.size(); ++i) addOperand(e.in[i], static_cast<Index>(i), pending.operands);
    makeRoom(nodes_, spare);
    makeRoom(operands_, pending.operands.size() + spare);
    makeRoom(results_, e.in.size() + spare);
    if (written_.size() >= 2 * fewestWritten) {
        written_.erase(written_.begin(), written_.end() - fewestWritten);
        writtenSerials_ = 0;
        for (const Written& w : written_) writtenSerials_ |= bitOf(w.serial);
    }
    makeRoom(written_, spare);
}

void Graph::onOp(const OpEvent& e) {
    const Pending& pending = pendingFor(e);
    const auto index = static_cast<Index>(nodes_.size());
    Node node{e.op,
              scope_,
              static_cast<Index>(operands_.size()),
              static_cast<Index>(pending.operands.size()),
              static_cast<Index>(results_.size()),
              static_cast<Index>(1 + e.moreOut.size()),
              e.out.id,
              e.work,
              e.time};
    operands_.insert(operands_.end(), pending.operands.begin(), pending.operands.end());
    results_.push_back({e.out.id, index, 0, e.inPlace, shapeOf(e.out), {}});
    for (std::size_t i = 0; i < e.moreOut.size(); ++i)
        results_.push_back({e.moreOut[i].id, index, static_cast<Index>(i + 1), false, shapeOf(e.moreOut[i]), {}});
    if (e.inPlace) {
        const auto [begin, end] = span(e.out);
        const std::uint64_t serial = serialOf(e.out.owner);
        written_.push_back({serial, begin, end, node.firstResult, unread});
        writtenSerials_ |= bitOf(serial);
    }
    nodes_.push_back(node);
}

}  // namespace axial
