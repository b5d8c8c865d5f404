#include "axial/llm/expert_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>

#include "axial/llm/piece_reader.h"
#include "axial/llm/use_scores.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// A larger piece is read in several parts, side by side.
constexpr std::size_t mostAtOnce = std::size_t{2} << 20;
constexpr std::size_t none = static_cast<std::size_t>(-1);

// Address space, of which the system gives memory as it is touched.
class Arena {
  public:
    explicit Arena(std::uint64_t bytes) : bytes_(std::max<std::uint64_t>(1, bytes)) {
        void* const address = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (address == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<std::byte*>(address);
#ifdef MADV_HUGEPAGE
        ::madvise(address, bytes_, MADV_HUGEPAGE);
#endif
    }
    ~Arena() { ::munmap(data_, bytes_); }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    std::byte* data() const { return data_; }

  private:
    std::size_t bytes_;
    std::byte* data_;
};

// Lets go of a lock for as long as it lives.
class Unlocked {
  public:
    explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
    ~Unlocked() { lock_.lock(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

  private:
    std::unique_lock<std::mutex>& lock_;
};

std::vector<std::size_t> expertsOf(const std::vector<ExpertPieces>& layers) {
    std::vector<std::size_t> counts;
    for (const ExpertPieces& layer : layers) counts.push_back(layer.experts());
    return counts;
}

}  // namespace

class ExpertStore::State {
  public:
    State(std::vector<std::unique_ptr<const PieceFile>> files, std::vector<ExpertPieces> layers,
          const ExpertStoreOptions& options)
        : files_(std::move(files)),
          layers_(std::move(layers)),
          used_(options.used),
          layout_(layOutExperts(layers_, used_, options.budget)),
          arena_(layout_.bytes()),
          scores_(expertsOf(layers_), options.halfLife) {
        std::byte* at = arena_.data();
        for (const ExpertLayout::Pool& pool : layout_.pools) {
            pools_.push_back({at, std::vector<std::size_t>(pool.slots, none), {}, 0});
            for (std::size_t slot = pool.slots; slot-- > 0;) pools_.back().free.push_back(slot);
            at += pool.slotBytes * pool.slots;
        }
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
            first_.push_back(items_.size());
            for (std::size_t e = 0; e < layers_[layer].experts(); ++e) {
                Item item;
                item.layer = layer;
                item.expert = e;
                items_.push_back(item);
            }
        }
        first_.push_back(items_.size());
        expected_.resize(layers_.size());
        reader_.emplace(std::max<std::size_t>(1, options.readers),
                        [this](const PieceRead& read, std::exception_ptr error) { arrived(read, std::move(error)); });
    }

    const std::vector<ExpertPieces>& layers() const { return layers_; }
    const ExpertLayout& layout() const { return layout_; }

    void forEach(std::size_t layer, std::span<const std::int32_t> wanted, const Use& use) {
        std::unique_lock lock(mutex_);
        Held held(*this, itemsOf("forEach", layer, wanted));  // let go of before the lock is
        beginVisit(layer, held.items());
        while (!held.items().empty()) {
            startAbsent(held.items());
            const std::size_t ready = held.sortOutReady();
            if (ready == 0) {
                const auto from = std::chrono::steady_clock::now();
                changed_.wait(lock);
                statistics_.waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
                continue;
            }
            giveOut(layer, held.items().first(ready), use, lock);
            held.release(ready);
        }
    }

    void expect(std::size_t layer, std::span<const std::int32_t> likely) {
        const std::lock_guard lock(mutex_);
        const std::vector<std::size_t> items = itemsOf("expect", layer, likely);
        const std::size_t at = layout_.poolOfLayer[layer];
        expectNoMore(layer, items);
        for (const std::size_t item : items) {
            Item& i = items_[item];
            if (i.expected || i.pinned) continue;
            // as many places as one token needs stay without a claim to them
            if (pools_[at].claimed + used_ >= layout_.pools[at].slots) break;
            if (i.state == Item::State::absent) {
                // what is in memory already is worth a place, too
                claim(item);
                const std::size_t slot = placeFor(at);
                if (slot == none) {
                    giveUpClaim(item);
                    break;
                }
                i.early = true;
                start(item, slot, ReadQueue::Order::ahead);
                ++statistics_.readAhead;
            } else {
                claim(item);
            }
            expected_[layer].push_back(item);
        }
    }

    void pin(std::span<const std::pair<std::size_t, std::int32_t>> wanted,
             const std::function<void(double)>& onProgress) {
        std::unique_lock lock(mutex_);
        std::vector<std::size_t> items;
        for (const auto& [layer, expert] : wanted) {
            const std::size_t item = itemsOf("pin", layer, std::span(&expert, 1)).front(), at = poolOf(item);
            Item& i = items_[item];
            if (i.pinned) continue;
            if (i.expected) {
                giveUpClaim(item);
                std::erase(expected_[layer], item);
            }
            if (pools_[at].claimed + used_ >= layout_.pools[at].slots) continue;
            const bool absent = i.state == Item::State::absent;
            const std::size_t slot = absent ? placeFor(at) : none;
            if (absent && slot == none) continue;
            items.push_back(item);
            i.pinned = true;
            ++pools_[at].claimed;
            if (absent) start(item, slot, ReadQueue::Order::now);
            hurry(item);
        }
        const std::size_t total = items.size();
        Held held(*this, items);
        try {
            while (!held.items().empty()) {
                const std::size_t ready = held.sortOutReady();
                held.release(ready);
                if (onProgress && total != 0) {
                    const Unlocked unlocked(lock);
                    onProgress(1 - static_cast<double>(held.items().size()) / static_cast<double>(total));
                }
                if (ready == 0) changed_.wait(lock);
            }
        } catch (...) {
            for (const std::size_t item : held.items()) {  // the others stay pinned: they are there
                items_[item].pinned = false;
                --pools_[poolOf(item)].claimed;
            }
            throw;
        }
    }

    std::vector<std::vector<std::uint64_t>> uses() const {
        const std::lock_guard lock(mutex_);
        std::vector<std::vector<std::uint64_t>> all(layers_.size());
        for (const Item& item : items_) all[item.layer].push_back(item.uses);
        return all;
    }
    ExpertStatistics statistics() const {
        const std::lock_guard lock(mutex_);
        return statistics_;
    }

  private:
    struct Item {
        enum class State : std::uint8_t { absent, reading, resident, failed };
        std::size_t layer = 0, expert = 0;
        State state = State::absent;
        bool pinned = false, expected = false;  // has a claim to its place
        bool early = false;                     // was read because it was expected, and not wanted yet
        bool ahead = false;                     // is being read when nothing else is to be read
        std::size_t slot = none;
        std::size_t users = 0, pending = 0;  // forEach that hold it; reads that are not over
        std::exception_ptr error;
        std::uint64_t uses = 0;
    };
    struct Pool {
        std::byte* data;
        std::vector<std::size_t> itemIn;  // for each slot
        std::vector<std::size_t> free;
        std::size_t claimed;  // items that are pinned or expected
    };

    // Items that one call wants: none of them is dropped meanwhile. All of it under the lock.
    class Held {
      public:
        Held(State& store, std::vector<std::size_t> items) : store_(store), items_(std::move(items)) {
            for (const std::size_t item : items_) ++store_.items_[item].users;
        }
        ~Held() { release(items_.size()); }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        std::span<const std::size_t> items() const { return items_; }
        // Puts those that are in memory first: so many. Throws the error of one that could not be read.
        std::size_t sortOutReady() {
            for (const std::size_t item : items_)
                if (store_.items_[item].state == Item::State::failed) std::rethrow_exception(store_.items_[item].error);
            const auto rest = std::ranges::stable_partition(
                items_, [&](std::size_t item) { return store_.items_[item].state == Item::State::resident; });
            return static_cast<std::size_t>(rest.begin() - items_.begin());
        }
        void release(std::size_t count) noexcept {
            for (std::size_t i = 0; i < count; ++i) {
                Item& item = store_.items_[items_[i]];
                if (--item.users == 0 && item.state == Item::State::failed) {
                    item.state = Item::State::absent;
                    item.error = nullptr;
                }
            }
            items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count));
            if (count != 0) store_.changed_.notify_all();  // somebody may wait for a place
        }

      private:
        State& store_;
        std::vector<std::size_t> items_;
    };

    std::size_t poolOf(std::size_t item) const { return layout_.poolOfLayer[items_[item].layer]; }

    std::vector<std::size_t> itemsOf(const char* call, std::size_t layer, std::span<const std::int32_t> experts) const {
        if (layer >= layers_.size())
            throw ValueError(std::string("expert store: ") + call + ": layer " + std::to_string(layer) +
                             " is asked for, but there are " + std::to_string(layers_.size()));
        std::vector<std::size_t> items;
        items.reserve(experts.size());
        for (const std::int32_t e : experts) {
            if (e < 0 || static_cast<std::size_t>(e) >= layers_[layer].experts())
                throw ValueError(std::string("expert store: ") + call + ": expert " + std::to_string(e) +
                                 " is asked for, but layer " + std::to_string(layer) + " has " +
                                 std::to_string(layers_[layer].experts()));
            items.push_back(first_[layer] + static_cast<std::size_t>(e));
        }
        return items;
    }

    void claim(std::size_t item) {
        items_[item].expected = true;
        ++pools_[poolOf(item)].claimed;
    }
    void giveUpClaim(std::size_t item) {
        items_[item].expected = false;
        --pools_[poolOf(item)].claimed;
    }

    // What was expected of the layer is so no more, and is not read any more where no read has begun, but for `wanted`.
    void expectNoMore(std::size_t layer, std::span<const std::size_t> wanted) {
        for (const std::size_t item : expected_[layer]) {
            giveUpClaim(item);
            Item& i = items_[item];
            if (!i.ahead || std::ranges::find(wanted, item) != wanted.end()) continue;
            if (!reader_->queue().withdraw(item, i.pending)) continue;
            --statistics_.readAhead;
            i.pending = 0;
            i.early = false;
            leave(item);
        }
        expected_[layer].clear();
    }

    // An item is no more in its place.
    void leave(std::size_t item) {
        Item& i = items_[item];
        Pool& pool = pools_[poolOf(item)];
        pool.itemIn[i.slot] = none;
        pool.free.push_back(i.slot);
        i.slot = none;
        i.state = Item::State::absent;
        i.ahead = false;
    }

    // A place in the pool, for which another item is dropped if need be; none if all are in use or claimed.
    std::size_t placeFor(std::size_t at) {
        Pool& pool = pools_[at];
        if (pool.free.empty()) {
            std::size_t least = none;
            for (const std::size_t item : pool.itemIn) {
                const Item& i = items_[item];
                if (i.state != Item::State::resident || i.users != 0 || i.pinned || i.expected) continue;
                if (least == none || scores_.lessWorth(item, least)) least = item;
            }
            if (least == none) return none;
            items_[least].early = false;
            leave(least);
        }
        const std::size_t slot = pool.free.back();
        pool.free.pop_back();
        return slot;
    }

    // Where a piece of an item is, or is read to: from the block on in which it begins.
    std::byte* placeOf(const Item& item, std::size_t piece) const {
        const ExpertPieces& layer = layers_[item.layer];
        const std::size_t pool = layout_.poolOfLayer[item.layer];
        std::byte* at = pools_[pool].data + item.slot * layout_.pools[pool].slotBytes;
        for (std::size_t p = 0; p < piece; ++p) at += placeBytes(layer.pieces[p].bytes);
        return at;
    }

    void start(std::size_t item, std::size_t slot, ReadQueue::Order order) {
        Item& i = items_[item];
        const ExpertPieces& layer = layers_[i.layer];
        i.slot = slot;
        i.state = Item::State::reading;
        i.ahead = order == ReadQueue::Order::ahead;
        i.pending = 0;
        pools_[poolOf(item)].itemIn[slot] = item;
        for (std::size_t p = 0; p < layer.each; ++p) {
            const ExpertPiece& piece = layer.pieces[i.expert * layer.each + p];
            const std::uint64_t begin = piece.offset / PieceFile::block * PieceFile::block;
            const std::size_t needed = static_cast<std::size_t>(piece.offset - begin) + piece.bytes;
            const std::size_t whole = (needed + PieceFile::block - 1) / PieceFile::block * PieceFile::block;
            for (std::size_t part = 0; part < whole; part += mostAtOnce) {
                const std::size_t bytes = std::min(mostAtOnce, whole - part);
                reader_->queue().put({files_[piece.file].get(),
                                      begin + part,
                                      {placeOf(i, p) + part, bytes},
                                      std::min(bytes, needed - part),
                                      item},
                                     order);
                ++i.pending;
            }
        }
    }

    // Called by the reader.
    void arrived(const PieceRead& read, std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        Item& item = items_[read.owner];
        if (error && !item.error) item.error = std::move(error);
        if (!item.error) statistics_.bytesRead += read.into.size();
        if (--item.pending != 0) return;
        item.ahead = false;
        if (!item.error) {
            item.state = Item::State::resident;
            ++statistics_.read;
        } else {
            leave(read.owner);
            if (item.users != 0)
                item.state = Item::State::failed;
            else
                item.error = nullptr;
        }
        changed_.notify_all();
    }

    // Counts the uses of a round, and hurries what is on its way.
    void beginVisit(std::size_t layer, std::span<const std::size_t> wanted) {
        expectNoMore(layer, wanted);
        scores_.beginRound(layer);
        statistics_.wanted += wanted.size();
        for (const std::size_t item : wanted) {
            Item& i = items_[item];
            scores_.use(item);
            ++i.uses;
            statistics_.resident += i.state == Item::State::resident;
            statistics_.underWay += i.state == Item::State::reading;
            statistics_.aheadUsed += std::exchange(i.early, false);
            hurry(item);
        }
    }

    // What is being read ahead is wanted now.
    void hurry(std::size_t item) {
        if (std::exchange(items_[item].ahead, false)) reader_->queue().hurry(item);
    }

    void startAbsent(std::span<const std::size_t> wanted) {
        for (const std::size_t item : wanted) {
            if (items_[item].state != Item::State::absent) continue;
            const std::size_t slot = placeFor(poolOf(item));
            if (slot == none) return;
            start(item, slot, ReadQueue::Order::now);
        }
    }

    void giveOut(std::size_t layer, std::span<const std::size_t> ready, const Use& use,
                 std::unique_lock<std::mutex>& lock) {
        const std::size_t each = layers_[layer].each;
        std::vector<const std::byte*> pieces;
        pieces.reserve(ready.size() * each);
        std::vector<Given> given;
        for (const std::size_t item : ready) {
            const Item& i = items_[item];
            for (std::size_t p = 0; p < each; ++p)
                pieces.push_back(placeOf(i, p) + layers_[layer].pieces[i.expert * each + p].offset % PieceFile::block);
            given.push_back({static_cast<std::int32_t>(i.expert), std::span(pieces).last(each)});
        }
        const Unlocked unlocked(lock);
        use(given);
    }

    const std::vector<std::unique_ptr<const PieceFile>> files_;
    const std::vector<ExpertPieces> layers_;
    const std::size_t used_;
    const ExpertLayout layout_;
    const Arena arena_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;  // something arrived, or was let go of
    UseScores scores_;
    std::vector<Pool> pools_;
    std::vector<std::size_t> first_;  // item of each layer, and behind the last one
    std::vector<Item> items_;
    std::vector<std::vector<std::size_t>> expected_;  // items of each layer that are
    ExpertStatistics statistics_;
    std::optional<PieceReader> reader_;  // gone before what it reads into
};

ExpertStore::ExpertStore(std::vector<std::unique_ptr<const PieceFile>> files, std::vector<ExpertPieces> layers,
                         const ExpertStoreOptions& options)
    : state_(std::make_unique<State>(std::move(files), std::move(layers), options)) {}
ExpertStore::~ExpertStore() = default;

std::size_t ExpertStore::layers() const { return state_->layers().size(); }
std::size_t ExpertStore::experts(std::size_t layer) const { return state_->layers()[layer].experts(); }
const ExpertLayout& ExpertStore::layout() const { return state_->layout(); }
void ExpertStore::forEach(std::size_t layer, std::span<const std::int32_t> wanted, const Use& use) {
    state_->forEach(layer, wanted, use);
}
void ExpertStore::expect(std::size_t layer, std::span<const std::int32_t> likely) { state_->expect(layer, likely); }
void ExpertStore::pin(std::span<const std::pair<std::size_t, std::int32_t>> layersAndExperts,
                      const std::function<void(double)>& onProgress) {
    state_->pin(layersAndExperts, onProgress);
}
std::vector<std::vector<std::uint64_t>> ExpertStore::uses() const { return state_->uses(); }
ExpertStatistics ExpertStore::statistics() const { return state_->statistics(); }

}  // namespace axial::llm
