#include <chrono>
#include <ctime>

#include "axial/llm/sampler_random.h"
#include "bench_plan.h"
#include "bench_speculation.h"
#include "bench_table.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
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
    Bench(const Engine& engine, const BenchTest& test) : engine_(engine), test_(test) {
        const std::size_t room = test.depth + test.prompt + test.generate;
        const auto vocabulary = static_cast<double>(engine.model().hyperparameters().vocabulary);
        for (std::size_t i = 0; i < test.streams; ++i) caches_.push_back(engine.makeCache(room, test.cache));
        for (std::size_t i = 0; i < test.streams * room; ++i)
            tokens_.push_back(static_cast<llm::TokenId>(llm::uniformAt(1, i) * vocabulary));
        read(test.depth);
    }

    // Seconds that the test takes. Only forward passes are in the time.
    double run() {
        for (llm::KvCache& cache : caches_) cache.truncate(test_.depth);
        const auto start = std::chrono::steady_clock::now();
        read(test_.prompt);
        for (std::size_t i = 0; i < test_.generate; ++i) read(1);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

  private:
    // The next `count` tokens of each conversation, in equal pieces.
    void read(std::size_t count) {
        const std::size_t most = std::max<std::size_t>(1, std::min(test_.batch, test_.ubatch) / caches_.size());
        for (const std::size_t end = caches_.front().length() + count; caches_.front().length() < end;) {
            const std::size_t from = caches_.front().length(), piece = std::min(most, end - from);
            std::vector<llm::Continuation> step;
            for (std::size_t i = 0; i < caches_.size(); ++i)
                step.push_back({caches_[i], std::span(tokens_).subspan(i * caches_[i].capacity() + from, piece)});
            static_cast<void>(engine_.forward(step));
        }
    }

    const Engine& engine_;
    BenchTest test_;
    std::vector<llm::KvCache> caches_;
    std::vector<llm::TokenId> tokens_;  // of one conversation behind those of another
};

BenchProfile profileOf(Bench& bench, const Engine& engine, Activations activations) {
    Graph graph;
    double seconds = 0;
    {
        const Watch watch(graph);
        seconds = bench.run();
    }
    BenchProfile profile(graph);
    profile.seconds = seconds;
    profile.limits = measureLimits(engine.threads(), activations);
    return profile;
}

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
        const std::vector<llm::TokenId> text =
            options.benchText ? loaded.tokenizer->encode(readFile(*options.benchText)) : std::vector<llm::TokenId>();
        for (const BenchTest& test : plan) checkText(text, test);
        for (BenchTest test : plan) {
            const Engine engine(loaded.model, activationsIn(options), test.threads, test.threads);
            test.threads = engine.threads();
            const auto say = [&](const std::string& what) {
                if (options.progress)
                    note(test.name() + ", " + std::to_string(test.threads) + " threads: " + what + "\n");
            };
            BenchResult result{.test = test, .seconds = {}, .time = now(), .profile = {}};
            const auto repeat = [&](auto&& bench) {
                if (!options.noWarmup) {
                    say("warm-up");
                    bench.run();
                }
                for (std::int64_t i = 0; i < options.repetitions; ++i) {
                    say("run " + std::to_string(i + 1) + " of " + std::to_string(options.repetitions));
                    result.seconds.push_back(bench.run());
                }
            };
            if (test.text == BenchText::none) {
                Bench bench(engine, test);
                repeat(bench);
                if (options.profile) {
                    say("recorded run");
                    result.profile = profileOf(bench, engine, activationsIn(options));
                }
            } else {
                SpeculationBench bench(engine, test, text);
                repeat(bench);
                result.drafted = bench.reply().draftedTokens;
                result.accepted = bench.reply().acceptedTokens;
            }
            table->row(loaded.file.path().string(), facts, result);
        }
    }
    table->end();
    return done;
}

}  // namespace axial::cli
