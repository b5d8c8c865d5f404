#include "axial/tensor/graph.h"

#include <optional>
#include <sstream>

#include "axial/tensor/graph_drawing.h"
#include "axial/tensor/graph_json.h"
#include "axial/tensor/graph_text.h"
#include "commands.h"
#include "flags.h"
#include "graphviz.h"
#include "input.h"
#include "model_facts.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

std::vector<llm::TokenId> tokensOf(const llm::LoadedModel& loaded, const Options& options) {
    if (options.ids && (options.prompt || options.file))
        throw UsageError("--ids and a text are both given; one of them is enough");
    if (options.ids) return idsIn(*options.ids);
    const bool given = options.prompt || options.file;
    return loaded.tokenizer->encode(given ? inputText(options) : "Once upon a time");
}

// The step that is asked for: the one that reads the last of the tokens, with those before it in the context, or the
// one that reads them all.
class RecordedStep {
  public:
    RecordedStep(const llm::LoadedModel& loaded, const Options& options, std::vector<llm::TokenId> tokens)
        : engine_(makeEngine(loaded, options)),
          tokens_(std::move(tokens)),
          before_(options.prefill ? 0 : tokens_.size() - 1),
          cache_(engine_.makeCache(tokens_.size(), cacheFormats(options))) {
        if (before_ != 0) static_cast<void>(engine_.forward(cache_, std::span(tokens_).first(before_), last));
    }

    // Runs it so often first that weights lie in memory as they will from then on (ops/interleaved.h).
    void warmUp() {
        for (int i = 0; i < (before_ == 0 ? 1 : 3); ++i) run();
    }
    void record(Graph& graph) {
        const Watch watch(graph);
        run();
    }
    std::string description() const {
        const std::size_t read = tokens_.size() - before_;
        std::string text = read == 1 ? "one token" : std::to_string(read) + " tokens";
        if (before_ != 0) text += ", behind " + std::to_string(before_) + (before_ == 1 ? " other" : " others");
        return text;
    }

  private:
    static constexpr llm::LogitsOf last = llm::LogitsOf::last;
    void run() {
        cache_.truncate(before_);
        static_cast<void>(engine_.forward(cache_, std::span(tokens_).subspan(before_), last));
    }

    Engine engine_;
    std::vector<llm::TokenId> tokens_;
    std::size_t before_;
    llm::KvCache cache_;
};

}  // namespace

int runGraph(const Options& options) {
    const bool isSvg = options.output == "svg";
    if (isSvg) requireGraphviz();
    const llm::LoadedModel loaded = openModel(options.model, options);
    std::vector<llm::TokenId> tokens = tokensOf(loaded, options);
    if (tokens.empty()) throw UsageError("there are no tokens; at least one is needed");
    const Measurements measurements = options.noMeasurements ? Measurements::leftOut : Measurements::shown;

    RecordedStep step(loaded, options, std::move(tokens));
    if (!options.noMeasurements) step.warmUp();
    Graph graph(options.unfused ? Observer::Interest::everyValue : Observer::Interest::whatRuns);
    step.record(graph);

    const std::string title = ModelFacts(loaded.file).typeName() + " reads " + step.description();
    std::ostringstream out;
    if (options.output == "json") {
        writeJson(out, graph, title, measurements);
    } else if (isSvg || options.output == "dot") {
        writeDrawing(out, graph, title, measurements);
    } else {
        out << title << "\n\n";
        writeText(out, graph, measurements);
    }
    print(isSvg ? svgOf(out.str()) : out.str());
    return done;
}

}  // namespace axial::cli
