// What the command line can say. The defaults stand here and nowhere else; flags.cpp says how each is spelled.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace axial::cli {

struct Options {
    // Model.
    std::string model;  // empty: the bundled one
    std::string preTokenizer;
    std::int64_t contextSize = 4096;
    std::string cacheTypeK = "f16", cacheTypeV = "f16";
    std::string activations = "int16";
    std::optional<double> expertTopP;
    std::int64_t threads = 0, threadsBatch = 0;
    std::int64_t batch = 2048, ubatch = 512;

    // Text in.
    std::optional<std::string> prompt, file;
    std::optional<std::string> system, systemFile;
    std::optional<std::string> chatTemplate, date;
    bool noGenerationPrompt = false;
    std::optional<std::string> ids;
    bool noSpecial = false;
    std::vector<std::string> references;

    // The reply.
    std::int64_t predict = -1;
    std::vector<std::string> stop;
    std::optional<std::int64_t> keepFirst;
    bool speculate = false;
    std::int64_t streams = 1;
    std::optional<std::string> jsonSchema, regex, grammar;
    bool noThink = false, hideThinking = false, showThinking = false;

    // Sampling; none: the model's advice.
    std::optional<double> temperature, topP, minP, typicalP, repeatPenalty, presencePenalty, frequencyPenalty;
    std::optional<std::int64_t> topK, repeatLastN;
    std::int64_t seed = -1;
    std::vector<std::string> logitBias;
    bool temperatureLast = false;

    // Out.
    std::string output;
    bool all = false, tensors = false, statistics = false;
    std::optional<std::int64_t> layer;
    std::int64_t firstValues = 4;
    bool withoutNorm = false;
    std::optional<std::string> layers;
    std::int64_t verifyCache = 0;
    bool quiet = false, verbose = false;

    // Diff.
    std::string reference, exactActivations = "float32";
    std::optional<double> tolerance;

    // Serve.
    std::string host = "127.0.0.1";
    std::int64_t port = 8080, parallel = 4, queue = 64, cacheRam = 1024, serveStep = 128;
    std::int64_t maxConnections = 256, maxBody = 16, timeout = 30, stopTime = 10;
    std::string alias;
    std::vector<std::string> apiKeys, allowedHosts, corsOrigins;
    std::optional<std::string> apiKeyFile;
    bool logPrompts = false;

    // Graph.
    bool prefill = false, unfused = false, noMeasurements = false;

    // Perplexity.
    std::int64_t window = 512, stride = 0;

    // Bench: lists.
    std::string benchPrompt = "512", benchGenerate = "128", benchDepth = "0", benchThreads = "0", benchBatch = "2048",
                benchUbatch = "512", benchCacheK = "f16", benchCacheV = "f16";
    std::string benchStreams = "1";
    std::optional<std::string> benchText;
    std::vector<std::string> benchPairs;
    std::int64_t repetitions = 5;
    bool noWarmup = false, progress = false, profile = false;

    // Opbench; -t, -r and -o are those of bench.
    std::optional<std::string> benchOps, benchFormats, benchAxes, benchTarget, benchFrom;
    std::optional<double> minTime;
    bool cached = false;
};

}  // namespace axial::cli
