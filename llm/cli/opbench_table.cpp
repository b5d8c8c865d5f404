#include "opbench_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "terminal.h"

namespace axial::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace bench;

std::string number(double value, const char* format) {
    char text[48];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

Json fields(const OpCase& c, const Limits& limits, const Measured& m, const std::string& target) {
    const ProductLimit fastest = limits.productLimit(c.arithmetic);
    Json json = {{"op", c.op},
                 {"layer", c.layer.empty() ? Json() : Json(c.layer)},
                 {"format", axial::nameOf(c.format)},
                 {"activations", c.activations ? Json(nameOf(*c.activations)) : Json()},
                 {"axes", Json::object()},
                 {"cached", c.cached},
                 {"threads", limits.threads},
                 {"target", target},
                 {"seconds", m.seconds},
                 {"gb_s", m.readRate * 1e-9},
                 {"gmac_s", m.productRate * 1e-9},
                 {"read_share", m.readShare},
                 {"mac_share", m.productShare},
                 {"read_limit_gb_s", limits.readRate * 1e-9},
                 {"mac_limit_gmac_s", fastest.rate * 1e-9},
                 {"mac_limit", fastest.name}};
    for (const auto& [name, extent] : c.axes) json["axes"][name] = extent;
    return json;
}

class JsonRows : public OpBenchTable {
  public:
    JsonRows(std::string target, bool lines) : target_(std::move(target)), lines_(lines) {}
    void begin(std::span<const OpCase>) override {
        if (!lines_) print("[");
    }
    void row(const OpCase& c, const Limits& limits, const Measured& m) override {
        const Json json = fields(c, limits, m, target_);
        if (lines_)
            print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
        else
            print((first_ ? "\n" : ",\n") + json.dump(2, ' ', false, Json::error_handler_t::replace));
        first_ = false;
    }
    void end(std::span<const Limits>) override {
        if (!lines_) print("\n]\n");
    }

  private:
    std::string target_;
    bool lines_, first_ = true;
};

class TextTable : public OpBenchTable {
  public:
    explicit TextTable(std::string target) : target_(std::move(target)) {}

    void begin(std::span<const OpCase> cases) override {
        for (const OpCase& c : cases) {
            const Cells cells = cellsOf(c);
            for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
        }
        line({"op", "layer", "format", "activations", "axes"}, "threads", "time", "GB/s", "of read", "GMAC/s",
             "of MAC");
    }
    void row(const OpCase& c, const Limits& limits, const Measured& m) override {
        line(cellsOf(c), std::to_string(limits.threads), duration(m.seconds), rate(m.readRate), share(m.readShare),
             rate(m.productRate), share(m.productShare));
    }
    void end(std::span<const Limits> all) override {
        std::string text = "\naxial " AXIAL_VERSION ", " + target_ + "\n";
        for (const Limits& limits : all) {
            text += std::to_string(limits.threads) + (limits.threads == 1 ? " thread reads " : " threads read ") +
                    rate(limits.readRate) + " GB/s and can do, in GMAC/s:";
            for (std::size_t i = 0; i < products; ++i)
                if (limits.productRate[i] > 0)
                    text += (i == 0 ? " " : ", ") + std::string(nameOf(static_cast<Product>(i))) + " " +
                            rate(limits.productRate[i]);
            text += "\n";
        }
        print(text +
              "GB/s: what an op has to read from memory (weights, keys and values, its largest input). of read: its "
              "share "
              "of the reading speed.\nGMAC/s: multiply-accumulates. of MAC: their share of the fastest kind that the "
              "arithmetic allows; int16 activations take two\nproducts of bytes each, other codes one, and floats meet "
              "floats.\n");
    }

  private:
    using Cells = std::vector<std::string>;
    static Cells cellsOf(const OpCase& c) {
        return {c.op, c.layer, std::string(axial::nameOf(c.format)),
                c.activations ? std::string(nameOf(*c.activations)) : "", textOf(c.axes)};
    }
    static std::string duration(double seconds) {
        return seconds >= 1      ? number(seconds, "%.2f s")
               : seconds >= 1e-3 ? number(seconds * 1e3, "%.2f ms")
                                 : number(seconds * 1e6, "%.2f us");
    }
    static std::string rate(double perSecond) {
        const double billions = perSecond * 1e-9;
        return billions == 0 ? "-" : number(billions, billions < 10 ? "%.2f" : billions < 100 ? "%.1f" : "%.0f");
    }
    static std::string share(double share) {
        return share == 0 ? "-" : number(share * 100, share < 0.1 ? "%.1f %%" : "%.0f %%");
    }
    void line(const Cells& cells, const std::string& threads, const std::string& time, const std::string& read,
              const std::string& readShare, const std::string& macs, const std::string& macShare) const {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (widths_[i] == 0) continue;  // no row has it
            const std::size_t width = std::max(widths_[i], std::string_view(titles[i]).size());
            text += cells[i] + std::string(width + 2 - cells[i].size(), ' ');
        }
        const auto right = [&text](const std::string& cell, std::size_t width) {
            text += std::string(width > cell.size() ? width - cell.size() : 1, ' ') + cell;
        };
        right(threads, 7);
        right(time, 11);
        right(read, 8);
        right(readShare, 9);
        right(macs, 8);
        right(macShare, 8);
        print(text + "\n");
    }

    static constexpr const char* titles[] = {"op", "layer", "format", "activations", "axes"};
    std::string target_;
    std::size_t widths_[5] = {};
};

}  // namespace

std::unique_ptr<OpBenchTable> makeOpBenchTable(const std::string& format, const std::string& target) {
    if (format == "json" || format == "jsonl") return std::make_unique<JsonRows>(target, format == "jsonl");
    return std::make_unique<TextTable>(target);
}

}  // namespace axial::cli
