#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <span>

#include "axial/ops/instruction_set.h"
#include "axial/tensor/error.h"
#include "axial/tensor/parallel.h"
#include "bench_plan.h"
#include "commands.h"
#include "flags.h"
#include "open_model.h"
#include "opbench_shapes.h"
#include "opbench_table.h"

namespace axial::cli {
namespace {

// What most files hold, and what engines are compared on.
constexpr Format usualFormats[] = {Format::q4_0, Format::q4_k, Format::q6_k, Format::q8_0, Format::f16};

std::string joined(const auto& names) {
    std::string text;
    for (const auto& name : names) text.append(text.empty() ? "" : ", ").append(name);
    return text;
}

// One of the names, or a UsageError that lists them.
template <class Names>
void check(std::string_view flag, const std::string& given, const Names& names) {
    if (std::find(names.begin(), names.end(), given) == names.end())
        throw UsageError(std::string(flag) + ": \"" + given + "\" is not one of " + joined(names));
}

std::vector<Format> formatsIn(const std::string& list) {
    std::vector<Format> formats;
    std::vector<std::string_view> names;
    for (const FormatInfo& info : axial::formats)
        if (bench::isStoredAs(info.format)) names.push_back(info.name);
    for (const std::string& name : splitList(list)) {
        const FormatInfo* info = formatByName(name);
        if (!info || !bench::isStoredAs(info->format)) check("--format", name, names);
        formats.push_back(info->format);
    }
    return formats;
}

// Puts seq and key into the selection, and returns the others.
std::vector<bench::AxisExtent> extentsIn(const std::string& list, bool fromModel, bench::Selection& selection) {
    std::vector<std::string_view> names{"seq", "key"};
    if (!fromModel)
        for (const std::string_view axis : bench::sizedAxes()) names.push_back(axis);
    std::vector<bench::AxisExtent> extents;
    for (const std::string& part : splitList(list)) {
        const std::size_t equals = part.find('=');
        const auto extent = equals == part.npos ? std::nullopt : wholeIn(part.substr(equals + 1));
        if (!extent || *extent < 1)
            throw UsageError("--axes: \"" + part + "\" is not an axis and its extent, as in seq=512");
        const bench::AxisExtent axis{part.substr(0, equals), static_cast<std::size_t>(*extent)};
        check(fromModel ? "--axes with --from, which gives the others" : "--axes", axis.name, names);
        if (axis.name == "seq" || axis.name == "key") {
            (axis.name == "seq" ? selection.seq : selection.key).push_back(axis.extent);
            continue;
        }
        if (std::any_of(extents.begin(), extents.end(), [&](const auto& e) { return e.name == axis.name; }))
            throw UsageError("--axes: " + axis.name + " is given twice");
        extents.push_back(axis);
    }
    return extents;
}

bench::Selection selectionOf(const Options& options) {
    bench::Selection selection;
    if (options.benchOps) {
        selection.ops = splitList(*options.benchOps);
        for (const std::string& op : selection.ops) check("--op", op, bench::opNames());
    }
    if (options.benchFormats) selection.formats = formatsIn(*options.benchFormats);
    selection.strict = options.benchFormats.has_value();
    selection.activations = {activationsIn(options)};
    selection.cached = options.cached;
    return selection;
}

std::vector<bench::OpCase> casesOf(const Options& options) {
    bench::Selection selection = selectionOf(options);
    std::vector<bench::AxisExtent> extents;
    if (options.benchAxes) extents = extentsIn(*options.benchAxes, options.benchFrom.has_value(), selection);
    const auto formats =
        selection.formats.empty() ? std::span<const Format>(usualFormats) : std::span<const Format>(selection.formats);
    const bench::Shapes shapes =
        options.benchFrom ? shapesOf(openFile(*options.benchFrom)) : bench::qwen3Shapes(formats, extents);
    try {
        std::vector<bench::OpCase> cases = bench::opCases(shapes, selection);
        if (cases.empty()) throw UsageError("there is nothing to measure: no op that is asked for has such a format");
        return cases;
    } catch (const ShapeError& e) {
        throw UsageError(e.what());
    }
}

bench::Measured measured(const bench::OpCase& c, const bench::Memory& memory, const bench::Limits& limits,
                         const Options& options) {
    try {
        return bench::measure(c, memory, limits, options.minTime.value_or(0.05),
                              static_cast<std::size_t>(options.repetitions));
    } catch (const std::bad_alloc&) {
        throw ValueError(c.name() + ": there is not enough memory for its result");
    }
}

// The limits of each number of threads. Whatever else the machine does makes them look lower, so they are measured
// again every few seconds, and the best counts.
class LimitsSoFar {
  public:
    LimitsSoFar(const std::vector<std::size_t>& threads, const bench::Memory& memory) : memory_(memory) {
        for (const std::size_t count : threads) limits_.push_back({count == 0 ? usableCores() : count, 0, {}});
        measureReading();
    }
    std::span<const bench::Limits> get() const { return limits_; }
    void refresh() {
        if (Clock::now() - measured_ < std::chrono::seconds(5)) return;
        measureReading();
        for (bench::Limits& limits : limits_) {
            const auto rates = bench::measureProductRates(limits.threads);
            for (std::size_t i = 0; i < rates.size(); ++i)
                limits.productRate[i] = std::max(limits.productRate[i], rates[i]);
        }
        measured_ = Clock::now();
    }

  private:
    using Clock = std::chrono::steady_clock;
    void measureReading() {
        for (bench::Limits& limits : limits_)
            limits.readRate = std::max(limits.readRate, bench::measureReadRate(limits.threads, memory_));
    }
    const bench::Memory& memory_;
    std::vector<bench::Limits> limits_;
    Clock::time_point measured_ = Clock::now() - std::chrono::hours(1);
};

}  // namespace

int runOpBench(const Options& options) {
    const std::vector<bench::OpCase> cases = casesOf(options);
    std::size_t most = 0;
    for (const bench::OpCase& c : cases) most = std::max(most, c.operandBytes);
    if (options.benchTarget) check("--target", *options.benchTarget, instructionSets());

    const bench::Memory memory(most);
    LimitsSoFar limits(numbersIn(options.benchThreads), memory);  // read by the best instructions, whatever is chosen
    if (options.benchTarget) useInstructionSet(*options.benchTarget);

    const auto table = makeOpBenchTable(options.output, instructionSet());
    table->begin(cases);
    for (const bench::OpCase& c : cases) {
        limits.refresh();
        for (const bench::Limits& of : limits.get()) table->row(c, of, measured(c, memory, of, options));
    }
    table->end(limits.get());
    return done;
}

}  // namespace axial::cli
