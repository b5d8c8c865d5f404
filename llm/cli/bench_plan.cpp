#include "bench_plan.h"

#include <cmath>
#include <numeric>

#include "flags.h"

namespace axial::cli {
namespace {

struct Shape {
    std::size_t prompt, generate;
};

std::vector<Shape> shapesIn(const Options& options) {
    std::vector<Shape> shapes;
    for (const std::size_t n : numbersIn(options.benchPrompt))
        if (n > 0) shapes.push_back({n, 0});
    for (const std::size_t n : numbersIn(options.benchGenerate))
        if (n > 0) shapes.push_back({0, n});
    for (const std::string& text : options.benchPairs) {
        const std::vector<std::size_t> pair = numbersIn(text);
        if (pair.size() != 2) throw UsageError("-pg: \"" + text + "\" is not two numbers, as in 512,128");
        if (pair[0] + pair[1] > 0) shapes.push_back({pair[0], pair[1]});
    }
    if (shapes.empty()) throw UsageError("there is nothing to measure: -p, -n and -pg are all 0");
    return shapes;
}

}  // namespace

std::vector<std::size_t> numbersIn(const std::string& list) {
    std::vector<std::size_t> numbers;
    const auto read = [&list](std::string_view text) {
        const auto value = wholeIn(text);
        if (!value || *value < 0 || *value > (1 << 24))
            throw UsageError("\"" + list + "\" is not a list of numbers; examples: 512  128,256  64-512*2  0-100+50");
        return static_cast<std::size_t>(*value);
    };
    for (const std::string& part : splitList(list)) {
        const std::size_t dash = part.find('-', 1);
        if (dash == part.npos) {
            numbers.push_back(read(part));
            continue;
        }
        const std::size_t sign = std::min(part.find_first_of("+*", dash), part.size());
        const std::string_view text(part);
        const std::size_t first = read(text.substr(0, dash)), last = read(text.substr(dash + 1, sign - dash - 1));
        const std::size_t step = sign == part.size() ? 1 : read(text.substr(sign + 1));
        const bool times = sign < part.size() && part[sign] == '*';
        if (step < (times ? 2u : 1u) || (times && first == 0)) read("");
        for (std::size_t n = first; n <= last; n = times ? n * step : n + step) {
            numbers.push_back(n);
            if (numbers.size() > 10000) read("");
        }
    }
    return numbers;
}

std::string BenchTest::name() const {
    std::string text;
    if (prompt > 0) text += "pp" + std::to_string(prompt);
    if (generate > 0) text += (text.empty() ? "tg" : "+tg") + std::to_string(generate);
    if (depth > 0) text += " @ d" + std::to_string(depth);
    if (streams > 1) text += " x " + std::to_string(streams);
    if (this->text != BenchText::none) text += this->text == BenchText::copy ? " copy" : " free";
    if (drafts) text += " +spec";
    return text;
}

std::vector<BenchTest> planOf(const Options& options) {
    std::vector<BenchTest> plan;
    const auto add = [&](BenchTest test) {
        for (const std::size_t streams : numbersIn(options.benchStreams)) {
            test.streams = streams;
            plan.push_back(test);
        }
        if (!options.speculate || test.prompt > 0) return;
        test.streams = 1;
        for (const BenchText text : {BenchText::free, BenchText::copy})
            for (const bool drafts : {false, true}) {
                test.text = text;
                test.drafts = drafts;
                plan.push_back(test);
            }
    };
    for (const std::string& keys : splitList(options.benchCacheK))
        for (const std::string& values : splitList(options.benchCacheV))
            for (const std::size_t threads : numbersIn(options.benchThreads))
                for (const std::size_t batch : numbersIn(options.benchBatch))
                    for (const std::size_t ubatch : numbersIn(options.benchUbatch))
                        for (const std::size_t depth : numbersIn(options.benchDepth))
                            for (const Shape& shape : shapesIn(options))
                                add({shape.prompt,
                                     shape.generate,
                                     depth,
                                     threads,
                                     batch,
                                     ubatch,
                                     {formatByName(keys)->format, formatByName(values)->format}});
    return plan;
}

std::vector<double> BenchResult::rates() const {
    std::vector<double> rates;
    for (const double s : seconds)
        rates.push_back(static_cast<double>(test.streams * (test.prompt + test.generate)) / s);
    return rates;
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    const double middle = mean(values);
    double sum = 0;
    for (const double v : values) sum += (v - middle) * (v - middle);
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace axial::cli
