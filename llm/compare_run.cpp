#include "axial/llm/compare_run.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace axial::llm {
namespace {

std::string number(double value, int digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

// "seq 4, embed 17" for {4, 17} on "[seq=7, embed=128]".
std::string placeOf(const ComparedValue& value, const std::vector<std::size_t>& position) {
    std::string text;
    std::size_t begin = 1;
    for (const std::size_t at : position) {
        const std::size_t end = value.axes.find('=', begin);
        text += (text.empty() ? "" : ", ") + value.axes.substr(begin, end - begin) + " " + std::to_string(at);
        begin = value.axes.find(' ', end) + 1;
    }
    return text;
}

// Where the largest difference is, and what stands there.
std::string largestOf(const ComparedValue& value) {
    const ValueDifference& d = value.difference;
    return "at " + placeOf(value, d.at) + " got " + number(d.got, 5) + ", wanted " + number(d.wanted, 5);
}

std::string relative(const ValueDifference& d) {
    return d.magnitude > 0 ? number(d.largest / d.magnitude, 2) : d.largest > 0 ? "inf" : "0";
}

std::string verdictOf(const ComparedValue& value) {
    const ValueDifference& d = value.difference;
    switch (d.verdict) {
        case Verdict::within:
            return d.order;
        case Verdict::departs:
            return "departs: " + largestOf(value);
        case Verdict::otherExtents:
            return "other extents: " + value.extents;
    }
    return "";
}

std::string listed(std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return "";
    std::string text = "\n" + std::string(title) + "\n";
    for (const std::string& line : lines) text += "  " + line + "\n";
    return text;
}

// "3" of "3/attn_norm"; nothing of "logits".
std::string layerOf(const std::string& path) {
    const std::size_t slash = path.find('/');
    return slash == path.npos ? "" : path.substr(0, slash);
}

// Words in lines of at most 100 characters.
std::string wrapped(std::string_view title, const std::vector<std::string>& words) {
    if (words.empty()) return "";
    std::string text = "\n" + std::string(title) + "\n", line = " ";
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = " " + words[i] + (i + 1 < words.size() ? "," : "");
        if (line.size() + word.size() > 100) {
            text += line + "\n";
            line = " ";
        }
        line += word;
    }
    return text + line + "\n";
}

// The values without a reference: by name where others of their layer have one, else layer by layer.
std::string withoutReference(const RunComparison& run) {
    std::set<std::string> referred, named;
    for (const ComparedValue& value : run.values) referred.insert(layerOf(value.path));
    std::vector<std::string> words;
    for (const std::string& path : run.withoutReference) {
        const std::string layer = layerOf(path);
        if (referred.contains(layer))
            words.push_back(path);
        else if (named.insert(layer).second)
            words.push_back(layer.empty() ? "all outside of the layers" : "all of layer " + layer);
    }
    return wrapped("values without a reference:", words);
}

std::string headOf(const RunComparison& run) {
    const ComparedValue* first = run.firstDeparture();
    if (!first) {
        if (run.values.empty()) return "nothing was compared\n";
        const auto farthest = std::ranges::max_element(run.values, {}, [](const ComparedValue& v) {
            return v.difference.magnitude > 0 ? v.difference.largest / v.difference.magnitude : 0;
        });
        return "all " + std::to_string(run.values.size()) + " values agree; the farthest is " + farthest->path + ", " +
               relative(farthest->difference) + " of its largest away\n";
    }
    const ValueDifference& d = first->difference;
    std::string text = first->path + " is the first to depart from the reference, " + first->saved + "\n";
    if (d.verdict == Verdict::otherExtents)
        return text + "  it is " + first->axes + ", the reference " + first->extents + "\n";
    text += "  the largest difference is " + number(d.largest, 3) + ", " + relative(d) + " of the largest, " +
            number(d.magnitude, 5) + "; " + number(d.allowed, 2) + " is allowed\n    " + largestOf(*first) + "\n  " +
            std::to_string(d.departing) + " of " + std::to_string(first->count) + " numbers depart, the first at " +
            placeOf(*first, d.first) + "\n";
    if (!d.order.empty()) text += "  the reference was read " + d.order + "\n";
    if (!d.wouldAgree.empty()) text += "  equal if " + d.wouldAgree + "\n";
    const auto before = static_cast<std::size_t>(first - run.values.data());
    if (before != 0)
        text += "  " + (before == 1 ? "the value" : "all " + std::to_string(before) + " values") + " before it agree" +
                (before == 1 ? "s" : "") + ", the last of them is " + run.values[before - 1].path + "\n";
    return text;
}

}  // namespace

const ComparedValue* RunComparison::firstDeparture() const {
    const auto found =
        std::ranges::find_if(values, [](const ComparedValue& v) { return v.difference.verdict != Verdict::within; });
    return found == values.end() ? nullptr : &*found;
}

RunComparison compareRun(const std::function<void(const NamedValues::Take&)>& pass, const ReferenceValues& reference,
                         double tolerance) {
    struct Asked {
        std::size_t reference, rank;  // and which of its names this is
    };
    std::map<std::string, std::vector<Asked>> asked;  // by path
    for (std::size_t i = 0; i < reference.values.size(); ++i) {
        const ValueName& name = reference.values[i].name;
        for (std::size_t rank = 0; rank < name.names.size(); ++rank)
            asked[pathOf({name.layer, name.names[rank], {}})].push_back({i, rank});
    }
    RunComparison run;
    run.unread = reference.unread;
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> best(reference.values.size(), none), row(reference.values.size(), none);
    std::vector<bool> isReplaced;
    pass([&](const NamedValue& named) {
        const std::string path = pathOf(named);
        const auto found = asked.find(path);
        if (found == asked.end()) {
            run.withoutReference.push_back(path);
            return;
        }
        for (const auto& [index, rank] : found->second) {
            if (best[index] != none && best[index] < rank) continue;
            if (row[index] != none) isReplaced[row[index]] = true;
            best[index] = rank;
            row[index] = run.values.size();
            const ReferenceValue& wanted = reference.values[index];
            run.values.push_back({path, named.value.size(), describe(named.value), wanted.saved,
                                  describeExtents(wanted.tensor, named.value),
                                  compareValue(named.value, wanted.tensor, tolerance)});
            isReplaced.push_back(false);
        }
    });
    for (std::size_t i = run.values.size(); i-- > 0;)
        if (isReplaced[i]) run.values.erase(run.values.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t i = 0; i < reference.values.size(); ++i)
        if (row[i] == none) run.notInRun.push_back(reference.values[i].saved);
    return run;
}

RunComparison compareRun(const Model& model, std::span<const TokenId> tokens, const ReferenceValues& reference,
                         double tolerance) {
    KvCache cache = model.makeCache(tokens.size(), Format::f32);
    const auto pass = [&](const NamedValues::Take& take) { (void)forwardNamed(model, cache, tokens, take); };
    return compareRun(pass, reference, tolerance);
}

std::string textOf(const RunComparison& run) {
    std::vector<std::vector<std::string>> rows{{"value", "axes", "largest difference", "of the largest", ""}};
    for (const ComparedValue& value : run.values) {
        const ValueDifference& d = value.difference;
        const bool isMeasured = d.verdict != Verdict::otherExtents;
        rows.push_back({value.path, value.axes, isMeasured ? number(d.largest, 2) : "", isMeasured ? relative(d) : "",
                        verdictOf(value)});
    }
    std::string text = headOf(run);
    if (!run.values.empty()) {
        std::vector<std::size_t> width(rows.front().size());
        for (const auto& row : rows)
            for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
        text += "\n";
        for (const auto& row : rows) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                const std::string space(width[i] - row[i].size(), ' ');
                const bool isNumber = i == 2 || i == 3;
                line += (i ? "  " : "") + (isNumber ? space + row[i] : row[i] + space);
            }
            text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        }
    }
    text += withoutReference(run);
    text += wrapped("saved, but no value of this run:", run.notInRun);
    text += listed("saved in a way that is not compared:", run.unread);
    return text;
}

}  // namespace axial::llm
