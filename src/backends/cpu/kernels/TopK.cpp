// SPDX-License-Identifier: Apache-2.0
// TopK of CpuAcc, of floats, 32-bit integers and bytes.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/TopCandidates.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeSet ByteTypes = {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8,
                                         DataType::Unsigned8};
constexpr backends::TypeSet TopKElements = ByteTypes | DataType::Float32 | DataType::Signed32;
constexpr backends::TypeRow TopKTypes[] = {backends::Types({TopKElements, ref::IndexTypes}, TopKElements)};

template <typename T, typename Index>
struct TopKRun
{
    size_t m_Rows;
    size_t m_Length;
    size_t m_Count;
    size_t m_Capacity; ///< candidates of a part
    size_t m_Parts;
    TopScan<T> m_Scan;

    void operator()(const ExecuteArgs& run) const
    {
        const size_t parts = std::min<size_t>(m_Parts, run.m_Parallel->GetNumThreads());
        RunParts(*run.m_Parallel, parts,
                 [&](size_t index)
                 {
                     auto* candidates = static_cast<uint64_t*>(run.m_Scratch) + index * m_Capacity;
                     const Part part = GetPart(m_Rows, parts, index);
                     for (size_t row = part.m_Begin; row < part.m_End; ++row)
                     {
                         const T* in = run.GetInput<T>(0) + row * m_Length;
                         TopCandidates<T> top(m_Scan, m_Length, m_Count, candidates);
                         top.Collect(in);
                         top.Thin();
                         std::sort(candidates, candidates + m_Count);
                         for (size_t i = 0; i < m_Count; ++i)
                         {
                             const uint32_t element = GetElement(candidates[i]);
                             run.GetOutput<T>(0)[row * m_Count + i] = in[element];
                             run.GetOutput<Index>(1)[row * m_Count + i] = static_cast<Index>(element);
                         }
                     }
                 });
    }
};

template <typename T>
Prepared MakeTopK(const ReshapeArgs& args)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    const TensorShape& top = args.GetOutput(0).GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const size_t rows = ref::CountElements(shape, 0, rank - 1);
    const size_t length = shape[rank - 1];
    const size_t count = top[top.GetNumDimensions() - 1];
    const size_t capacity = TopCandidates<T>::GetCapacity(length, count);
    const size_t grain = GetGrain(length * sizeof(T));
    const size_t parts = std::clamp<size_t>(rows / grain, 1, GetMaxParts(args.m_MaxThreads));
    backends::Scratch scratch;
    scratch.Add<uint64_t>(parts * capacity);
    const auto make = [&](auto tag) -> Prepared
    {
        using Index = typename decltype(tag)::Type;
        return {TopKRun<T, Index>{rows, length, count, capacity, parts, FindTopScan<T>()}, scratch.GetBytes()};
    };
    switch (args.GetOutput(1).GetDataType())
    {
    case DataType::Signed16: return make(ref::TypeTag<int16_t>());
    case DataType::Signed32: return make(ref::TypeTag<int32_t>());
    default: return make(ref::TypeTag<int64_t>());
    }
}

Prepared RefineTopK(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::Float32: return MakeTopK<float>(args);
    case DataType::Signed32: return MakeTopK<int32_t>(args);
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return MakeTopK<uint8_t>(args);
    default: return MakeTopK<int8_t>(args);
    }
}

} // namespace

extern const backends::Kernel CpuTopKKernel = {
    .m_Name = "CpuTopK", .m_Types = TopKTypes, .m_Reference = &ref::RefTopKKernel, .m_Refine = RefineTopK};

} // namespace tenon::cpu
