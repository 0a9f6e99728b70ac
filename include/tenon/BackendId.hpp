// SPDX-License-Identifier: Apache-2.0
// BackendId: the name of a backend.
#pragma once

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenon
{

/// The backends that Arm NN's applications name by number. Any other is named by its string.
enum class Compute
{
    Undefined = 0,
    CpuRef = 1, ///< reference kernels: exact, complete
    CpuAcc = 2, ///< fast kernels on the CPU
    GpuAcc = 3  ///< a GPU
};

constexpr const char* GetComputeDeviceAsCString(Compute compute)
{
    switch (compute)
    {
    case Compute::CpuRef: return "CpuRef";
    case Compute::CpuAcc: return "CpuAcc";
    case Compute::GpuAcc: return "GpuAcc";
    case Compute::Undefined: break;
    }
    return "Unknown";
}

class BackendId
{
public:
    BackendId() : m_Id(GetComputeDeviceAsCString(Compute::Undefined)) {}
    BackendId(std::string id) : m_Id(std::move(id)) {}                       // NOLINT: implicit, as Arm NN's
    BackendId(const char* id) : m_Id(id) {}                                  // NOLINT
    BackendId(Compute compute) : m_Id(GetComputeDeviceAsCString(compute)) {} // NOLINT

    operator std::string() const { return m_Id; } // NOLINT

    bool IsCpuRef() const { return m_Id == "CpuRef"; }
    bool IsCpuAcc() const { return m_Id == "CpuAcc"; }
    bool IsGpuAcc() const { return m_Id == "GpuAcc"; }
    bool IsEmpty() const { return m_Id.empty(); }
    bool IsUndefined() const { return m_Id == "Unknown"; }
    const std::string& Get() const { return m_Id; }

    friend bool operator==(const BackendId& a, const BackendId& b) { return a.m_Id == b.m_Id; }
    friend bool operator!=(const BackendId& a, const BackendId& b) { return a.m_Id != b.m_Id; }
    friend bool operator<(const BackendId& a, const BackendId& b) { return a.m_Id < b.m_Id; }
    friend std::ostream& operator<<(std::ostream& os, const BackendId& id) { return os << id.m_Id; }

private:
    std::string m_Id;
};

} // namespace tenon

namespace std
{
template <>
struct hash<tenon::BackendId>
{
    size_t operator()(const tenon::BackendId& id) const noexcept { return hash<string>()(id.Get()); }
};
} // namespace std

namespace tenon
{

using BackendIdVector = std::vector<BackendId>;
using BackendIdSet = std::unordered_set<BackendId>;

} // namespace tenon
