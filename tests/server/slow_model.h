// The bundled model, in steps that take a while and are counted.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

#include "axial/llm/load.h"
#include "axial/llm/model.h"

namespace axial::llm {

inline const LoadedModel& bundled() {
    static const LoadedModel loaded = loadBundled();
    return loaded;
}

class SlowModel : public Model {
  public:
    explicit SlowModel(std::chrono::microseconds pause = {}) : pause_(pause) {}

    const Hyperparameters& hyperparameters() const override { return bundled().model->hyperparameters(); }
    Logits forward(std::span<const Continuation> conversations) const override {
        for (const Continuation& one : conversations) tokens += one.tokens.size();
        ++steps;
        largest = std::max<std::size_t>(largest, conversations.size());
        std::this_thread::sleep_for(pause_);
        return bundled().model->forward(conversations);
    }

    mutable std::atomic<std::size_t> tokens = 0, steps = 0, largest = 0;

  private:
    std::chrono::microseconds pause_;
};

}  // namespace axial::llm
