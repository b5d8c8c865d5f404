#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>
#include <thread>

#include "axial/llm/server/server.h"
#include "axial/llm/server/service.h"
#include "axial/tensor/error.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

namespace server = llm::server;

std::vector<std::string> keysIn(const Options& options) {
    std::vector<std::string> keys = options.apiKeys;
    if (const char* key = std::getenv("AXIAL_API_KEY"); key && *key) keys.push_back(key);
    if (options.apiKeyFile) {
        std::istringstream lines(readFile(*options.apiKeyFile));
        for (std::string line; std::getline(lines, line);) {
            while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
            if (!line.empty()) keys.push_back(line);
        }
        if (keys.empty()) throw UsageError("--api-key-file: there is no key in " + *options.apiKeyFile);
    }
    for (const std::string& key : keys)
        if (key.empty()) throw UsageError("--api-key: the key is empty");
    return keys;
}

std::string nameOf(const Options& options, const llm::ModelFile& file) {
    if (!options.alias.empty()) return options.alias;
    if (options.model.empty()) return "axial-tiny-qwen3";
    const std::filesystem::path path(file.path());
    const std::filesystem::path name = path.extension() == ".gguf" ? path.stem() : path.filename();
    return name.empty() ? path.parent_path().filename().string() : name.string();
}

std::shared_ptr<server::ServedModel> servedModel(const Options& options, server::Metrics& metrics) {
    auto served =
        std::make_shared<server::ServedModel>(server::ServedModel{.loaded = openModel(options.model, options)});
    served->id = nameOf(options, served->loaded.file);
    served->created =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    try {
        served->chat = openTemplate(served->tokenizer().vocabulary(), options);
    } catch (const UnsupportedError& error) {
        if (options.chatTemplate) throw;
        served->noChat = error.what();
    }
    served->thinking = served->loaded.file.advisedSampling(true);
    served->straight = served->loaded.file.advisedSampling(false);
    server::LoopSettings loop;
    loop.contextSize = contextSize(served->loaded.model->hyperparameters(), options);
    loop.parallel = static_cast<std::size_t>(options.parallel);
    loop.stepTokens = static_cast<std::size_t>(options.serveStep);
    loop.queue = static_cast<std::size_t>(options.queue);
    loop.cacheFormats = cacheFormats(options);
    loop.keptBytes = static_cast<std::size_t>(options.cacheRam) << 20;
    loop.threads = static_cast<std::size_t>(options.threads);
    loop.activations = activationsIn(options);
    served->loop =
        std::make_unique<server::InferenceLoop>(served->loaded.model, served->loaded.tokenizer, loop, metrics);
    return served;
}

server::ServerSettings settingsIn(const Options& options) {
    server::ServerSettings settings;
    settings.host = options.host;
    settings.port = static_cast<unsigned short>(options.port);
    settings.mostConnections = static_cast<std::size_t>(options.maxConnections);
    settings.mostBody = static_cast<std::size_t>(options.maxBody) << 20;
    settings.headTime = settings.writeTime = std::chrono::seconds(options.timeout);
    settings.stopTime = std::chrono::seconds(options.stopTime);
    settings.handlesSignals = true;
    if (options.verbose || options.logPrompts) settings.log = [](const std::string& line) { note(line + "\n"); };
    settings.logsBodies = options.logPrompts;
    return settings;
}

}  // namespace

int runServe(const Options& options) {
    server::AccessSettings access{keysIn(options), options.corsOrigins, options.allowedHosts};
    access.hosts.push_back(options.host);
    server::Service service(std::move(access));
    server::Server http(settingsIn(options), service);
    const std::string address = options.host.find(':') == options.host.npos ? options.host : "[" + options.host + "]";
    const std::string url = "http://" + address + ":" + std::to_string(http.port());

    // Listens while it loads, so that whoever waits for it is told so.
    std::exception_ptr problem;
    std::atomic<bool> loaded = false;
    std::thread loader([&] {
        try {
            service.setModel(servedModel(options, service.metrics()));
            if (!options.quiet) note(service.model()->id + " is at " + url + "\n");
        } catch (...) {
            problem = std::current_exception();
            http.stop();
        }
        loaded = true;
    });
    const bool finished = http.run();
    if (!finished || !loaded) std::_Exit(finished ? done : interrupted);  // whatever still runs is not waited for
    loader.join();
    service.setModel(nullptr);
    if (problem) std::rethrow_exception(problem);
    return done;
}

}  // namespace axial::cli
