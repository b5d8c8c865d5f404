#include <algorithm>
#include <cmath>
#include <cstdio>

#include "axial/tensor/error.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "interrupt.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

using Tokens = std::vector<llm::TokenId>;

// -ln p(token), the softmax of a row of logits in float64.
double surprise(std::span<const float> logits, llm::TokenId token) {
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
    return largest + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(token)]);
}

// The surprises of all tokens so far: ln of the perplexity is their mean, and its error that of the mean.
struct Surprises {
    double sum = 0, squares = 0;
    std::size_t count = 0;

    void add(double nll) {
        sum += nll;
        squares += nll * nll;
        ++count;
    }
    double mean() const { return sum / static_cast<double>(count); }
    double perplexity() const { return std::exp(mean()); }
    double error() const {
        const double variance = squares / static_cast<double>(count) - mean() * mean();
        return count > 1 && variance > 0 ? std::sqrt(variance / static_cast<double>(count - 1)) : 0;
    }
};

class Scorer {
  public:
    Scorer(const Engine& engine, llm::CacheFormats formats, std::size_t window, std::size_t piece)
        : engine_(engine), cache_(engine.makeCache(window, formats)), piece_(piece) {}

    // Reads a window from an empty context, and adds the surprises of its tokens from number `first` (above 0) on.
    void score(std::span<const llm::TokenId> window, std::size_t first, Surprises& surprises) {
        cache_.truncate(0);
        while (cache_.length() + 1 < first) static_cast<void>(read(window.first(first - 1), llm::LogitsOf::last));
        while (cache_.length() + 1 < window.size()) {
            const std::size_t from = cache_.length();
            const llm::Logits logits = read(window.first(window.size() - 1), llm::LogitsOf::all);
            const std::size_t vocabulary = logits.extent(llm::vocab);
            for (std::size_t i = 0; i < logits.extent(llm::seq); ++i)
                surprises.add(surprise(logits.values().subspan(i * vocabulary, vocabulary), window[from + i + 1]));
        }
    }

  private:
    // The next piece of a text.
    llm::Logits read(std::span<const llm::TokenId> text, llm::LogitsOf which) {
        const auto rest = text.subspan(cache_.length());
        // Logits of all positions are large: 600 KB each for a vocabulary of 150,000.
        const std::size_t most = which == llm::LogitsOf::all ? std::min<std::size_t>(piece_, 64) : piece_;
        return engine_.forward(cache_, rest.first(std::min(rest.size(), most)), which);
    }

    const Engine& engine_;
    llm::KvCache cache_;
    std::size_t piece_;
};

std::string number(double value, const char* format) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace

int runPerplexity(const Options& options) {
    const std::string text = inputText(options);
    const llm::CacheFormats formats = cacheFormats(options);
    const llm::LoadedModel loaded = openModel(options.model, options);
    const llm::Vocabulary& vocabulary = loaded.tokenizer->vocabulary();
    Tokens tokens = loaded.tokenizer->encode(text);
    const bool begins = vocabulary.addsBos && vocabulary.bos;
    if (begins) tokens.insert(tokens.begin(), *vocabulary.bos);

    const auto window = static_cast<std::size_t>(options.window);
    const std::size_t stride = options.stride == 0 ? window : static_cast<std::size_t>(options.stride);
    // Without a stride the second half of each window counts, with one what the window before has not reached.
    const std::size_t first = options.stride == 0 ? window / 2 + 1 : window - std::min(stride, window - 1);
    if (tokens.size() < window)
        throw UsageError("the text has " + std::to_string(tokens.size()) + " tokens, fewer than a window of " +
                         std::to_string(window) + "; give more text, or a smaller -c");

    const Engine engine = makeEngine(loaded, options);
    Scorer scorer(engine, formats, window, static_cast<std::size_t>(std::min(options.batch, options.ubatch)));
    const Interruptible interruptible;
    const std::size_t windows = (tokens.size() - window) / stride + 1;
    Surprises surprises;
    for (std::size_t i = 0; i < windows; ++i) {
        if (Interruptible::requested()) return interrupted;
        Tokens piece(tokens.begin() + static_cast<std::ptrdiff_t>(i * stride),
                     tokens.begin() + static_cast<std::ptrdiff_t>(i * stride + window));
        if (begins) piece.front() = *vocabulary.bos;
        scorer.score(piece, first, surprises);
        if (options.verbose || (!options.quiet && stderrIsTerminal()))
            note("[" + std::to_string(i + 1) + "/" + std::to_string(windows) + "] " +
                 number(surprises.perplexity(), "%.4f") + "\n");
    }
    print("perplexity: " + number(surprises.perplexity(), "%.4f") + " ± " +
          number(surprises.perplexity() * surprises.error(), "%.5f") +
          "\nnegative log likelihood: " + number(surprises.mean(), "%.6f") + " ± " + number(surprises.error(), "%.6f") +
          " a token\n" + std::to_string(surprises.count) + " tokens counted, in " + std::to_string(windows) +
          " windows of " + std::to_string(window) + "\n");
    return done;
}

}  // namespace axial::cli
