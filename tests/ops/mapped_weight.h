// A weight as a model's file gives it, which may be interleaved.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "axial/ops/interleaved.h"
#include "axial/tensor/form_slot.h"
#include "axial/tensor/mapped_file.h"

namespace axial {

// Bytes in the mapping of a file that is gone with the object.
class OnDisk {
  public:
    explicit OnDisk(const std::vector<std::byte>& bytes) : file_(written(bytes)) {
        std::filesystem::remove(path());
        slot_.emplace(file_.bytes().data(), file_.bytes().size(), Origin::onDisk);
    }
    erased::WeightRows rows(Format format, std::size_t k) {
        return {format, file_.bytes().data(), static_cast<std::ptrdiff_t>(bytesOf(format, k)), &*slot_};
    }
    FormSlot& slot() { return *slot_; }

  private:
    static std::filesystem::path path() {
        return std::filesystem::temp_directory_path() / ("axial-interleaved-" + std::to_string(::getpid()));
    }
    static MappedFile written(const std::vector<std::byte>& bytes) {
        std::ofstream(path(), std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        return MappedFile(path());
    }
    MappedFile file_;
    std::optional<FormSlot> slot_;
};

struct AtFirstReading {
    AtFirstReading() { erased::interleaveAtReading(1); }
    ~AtFirstReading() { erased::interleaveAtReading(3); }
};

}  // namespace axial
