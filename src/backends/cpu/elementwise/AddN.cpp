// SPDX-License-Identifier: Apache-2.0
// AddN of CpuAcc for Float32 and 32-bit integers: segment by segment, so that the sums stay in the cache until the last
// tensor is added. Inputs are added in their order, as the reference kernel does.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BinaryUnquantized.hpp"
#include "backends/reference/Kernels.hpp"

#include <algorithm>
#include <array>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow AddNTypes[] = {
    backends::SameType({DataType::Float32, DataType::Signed32, DataType::Unsigned32})};

/// The element size of each of these types.
constexpr size_t ElementBytes = 4;
/// Elements of a segment: the sums and a segment of each of some inputs fit a first-level cache.
constexpr size_t SegmentElements = 1024;

struct Sum
{
    BinaryLoop m_Add;
    size_t m_NumInputs;
    size_t m_Count;

    void operator()(const ExecuteArgs& run) const
    {
        RunElements(*run.m_Parallel, m_Count,
                    [&](size_t begin, size_t end)
                    {
                        for (size_t first = begin; first < end; first += SegmentElements)
                        {
                            AddSegment(run, first, std::min(SegmentElements, end - first));
                        }
                    });
    }

private:
    /// The output may be the memory of any input, so all inputs are read before anything is written there.
    void AddSegment(const ExecuteArgs& run, size_t first, size_t count) const
    {
        alignas(64) std::array<std::byte, SegmentElements * ElementBytes> sums;
        const auto input = [&](size_t i) { return run.GetInput<std::byte>(i) + first * ElementBytes; };
        const std::byte* sum = input(0);
        for (size_t i = 1; i < m_NumInputs; ++i)
        {
            std::byte* const to =
                i + 1 < m_NumInputs ? sums.data() : run.GetOutput<std::byte>(0) + first * ElementBytes;
            m_Add(sum, input(i), to, count, {});
            sum = to;
        }
    }
};

backends::Prepared RefineAddN(const ReshapeArgs& args, const backends::PackedWeights*, backends::Prepared&)
{
    const size_t count = args.GetOutput(0).GetNumElements();
    const size_t numInputs = args.m_Inputs.size();
    if (count == 0 || numInputs < 2)
    {
        return backends::Prepared::Declined("it is empty or has one input");
    }
    // Integer sums wrap in the same way with and without a sign.
    const DataType type = args.GetInput(0).GetDataType() == DataType::Float32 ? DataType::Float32 : DataType::Signed32;
    return Sum{FindBinaryLoop(BinaryOperation::Add, type, OperandForms::VectorVector, false), numInputs, count};
}

} // namespace

extern const backends::Kernel CpuAddNKernel = {
    .m_Name = "CpuAddN", .m_Types = AddNTypes, .m_Reference = &ref::RefAddNKernel, .m_Refine = RefineAddN};

} // namespace tenon::cpu
