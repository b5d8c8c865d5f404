#include <chrono>
#include <ctime>

#include "axial/llm/sampler_random.h"
#include "bench_plan.h"
#include "bench_table.h"
#include "commands.h"
#include "flags.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

std::string now() {
    const std::time_t time = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&time, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

class Bench {
  public:
    Bench(const Engine& engine, const BenchTest& test)
        : engine_(engine), test_(test), cache_(engine.makeCache(test.depth + test.prompt + test.generate, test.cache)) {
        const auto vocabulary = static_cast<double>(engine.model().hyperparameters().vocabulary);
        for (std::size_t i = 0; i < cache_.capacity(); ++i)
            tokens_.push_back(static_cast<llm::TokenId>(llm::uniformAt(1, i) * vocabulary));
        read(test.depth);
    }

    // Seconds that the test takes. Only forward passes are in the time.
    double run() {
        cache_.truncate(test_.depth);
        const auto start = std::chrono::steady_clock::now();
        read(test_.prompt);
        for (std::size_t i = 0; i < test_.generate; ++i) read(1);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

  private:
    void read(std::size_t count) {
        const std::size_t most = std::min(test_.batch, test_.ubatch);
        for (const std::size_t end = cache_.length() + count; cache_.length() < end;) {
            const std::size_t from = cache_.length();
            const auto piece = std::span(tokens_).subspan(from, std::min(most, end - from));
            static_cast<void>(engine_.forward(cache_, piece, llm::LogitsOf::last));
        }
    }

    const Engine& engine_;
    BenchTest test_;
    llm::KvCache cache_;
    std::vector<llm::TokenId> tokens_;
};

}  // namespace

int runBench(const Options& options) {
    const std::vector<BenchTest> plan = planOf(options);
    const auto table = makeBenchTable(options.output, options.activations);
    const std::vector<std::string> paths = splitList(options.model);
    for (const std::string& path : paths) openFile(path);  // what cannot be read is said before anything is printed
    table->begin();
    for (const std::string& path : paths) {
        const llm::LoadedModel loaded = openModel(path, options);
        const ModelFacts facts(loaded.file);
        for (BenchTest test : plan) {
            const Engine engine(loaded.model, activationsIn(options), test.threads, test.threads);
            test.threads = engine.threads();
            const auto say = [&](const std::string& what) {
                if (options.progress)
                    note(test.name() + ", " + std::to_string(test.threads) + " threads: " + what + "\n");
            };
            BenchResult result{test, {}, now()};
            Bench bench(engine, test);
            if (!options.noWarmup) {
                say("warm-up");
                bench.run();
            }
            for (std::int64_t i = 0; i < options.repetitions; ++i) {
                say("run " + std::to_string(i + 1) + " of " + std::to_string(options.repetitions));
                result.seconds.push_back(bench.run());
            }
            table->row(loaded.file.path().string(), facts, result);
        }
    }
    table->end();
    return done;
}

}  // namespace axial::cli
