#include "bench_profile.h"

#include <algorithm>
#include <cstdio>

#include "axial/tensor/quantity.h"

namespace axial::cli {
namespace {

double secondsOf(const ProfileRow& row) { return std::chrono::duration<double>(row.time).count(); }

std::string text(const char* format, double value) {
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, format, value);
    return buffer;
}

std::string right(const std::string& value, std::size_t width) {
    return std::string(width > value.size() ? width - value.size() : 0, ' ') + value;
}

std::string table(const char* title, const std::vector<ProfileRow>& rows, double all, bool memory,
                  const std::optional<MachineLimits>& limits) {
    std::size_t width = 24;
    for (const ProfileRow& row : rows) width = std::max(width, 2 * row.depth + row.name.size());
    const auto line = [&](const std::string& name, const std::vector<std::string>& cells) {
        constexpr std::size_t widths[] = {8, 12, 9, 12, 9, 9, 9, 10, 13};
        std::string text = name + std::string(width > name.size() ? width - name.size() : 0, ' ');
        for (std::size_t i = 0; i < cells.size(); ++i) text += right(cells[i], widths[i]);
        return text + "\n";
    };
    std::vector<std::string> heads{"calls", "time", "share", "per call", "GB/s", "of limit", "GMAC/s", "of limit"};
    if (memory) heads.push_back("most memory");
    std::string lines = line(title, heads);
    for (const ProfileRow& row : rows) {
        const double seconds = std::max(1e-9, secondsOf(row));
        const LimitShares share = limits ? sharesOf(row, *limits) : LimitShares{};
        const auto ofLimit = [&](double part) { return limits ? text("%.0f %%", 100 * part) : std::string("-"); };
        std::vector<std::string> cells{std::to_string(row.calls),
                                       inTime(row.time),
                                       text("%.1f %%", 100 * seconds / all),
                                       inTime(row.time / static_cast<long>(std::max<std::size_t>(1, row.calls))),
                                       text("%.2f", static_cast<double>(row.work.bytesRead) / seconds / 1e9),
                                       ofLimit(share.read),
                                       text("%.2f", static_cast<double>(row.work.multiplyAdds) / seconds / 1e9),
                                       ofLimit(share.multiply)};
        if (memory) cells.push_back(inBytes(row.peakBytes));
        lines += line(std::string(2 * row.depth, ' ') + row.name, cells);
    }
    return lines;
}

}  // namespace

BenchProfile::BenchProfile(const Graph& graph) : ops(profileByOp(graph)), scopes(profileByScope(graph)) {}

LimitShares sharesOf(const ProfileRow& row, const MachineLimits& limits) {
    const double seconds = std::max(1e-9, secondsOf(row));
    const auto codes = static_cast<double>(row.work.ofCodes);
    const double floats = static_cast<double>(row.work.multiplyAdds) - codes;
    return {static_cast<double>(row.work.bytesRead) / limits.readRate / seconds,
            (codes / limits.codeRate + floats / limits.floatRate) / seconds};
}

std::string describe(const BenchProfile& profile, const std::string& test, double tokens) {
    const double inOps = secondsOf(profile.scopes.front());
    std::string out = test + ", recorded: " + text("%.2f t/s", tokens / profile.seconds) + ", " +
                      text("%.1f %%", 100 * inOps / profile.seconds) + " of the time in ops\n";
    if (profile.limits)
        out += "limits of this machine: " + text("%.1f GB/s read", profile.limits->readRate / 1e9) + ", " +
               text("%.0f GMAC/s of floats", profile.limits->floatRate / 1e9) + ", " +
               text("%.0f of integer codes\n", profile.limits->codeRate / 1e9);
    else
        out += "this build cannot measure the machine's limits: AXIAL_BUILD_BENCH is off\n";
    out += "\n" + table("op", profile.ops, inOps, false, profile.limits);
    return out + "\n" + table("scope", profile.scopes, inOps, true, profile.limits);
}

}  // namespace axial::cli
