// SPDX-License-Identifier: Apache-2.0
// CumSum of CpuAcc, along the last axis. The sums of a row wait for each other, as they are added up in order like
// CpuRef's: those of several rows are computed side by side. Along other axes CpuRef adds whole lines, which is fast.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Descriptors.hpp>

#include <cstddef>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow CumSumTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float64, DataType::Signed32, DataType::Signed64})};

/// `T`: unsigned for integers, whose sums wrap.
template <typename T>
struct CumSumRows
{
    size_t m_Rows;
    size_t m_Length;
    bool m_Exclusive;
    bool m_Reverse;

    void operator()(const ExecuteArgs& run) const
    {
        RunRanges(*run.m_Parallel, m_Rows, GetGrain(2 * m_Length * sizeof(T)),
                  [&](size_t begin, size_t end)
                  {
                      constexpr size_t Most = 8; // additions under way at a time
                      for (; begin + Most <= end; begin += Most)
                      {
                          Sum<Most>(run, begin);
                      }
                      for (; begin < end; ++begin)
                      {
                          Sum<1>(run, begin);
                      }
                  });
    }

private:
    template <size_t Count>
    void Sum(const ExecuteArgs& run, size_t row) const
    {
        m_Exclusive ? Sum<Count, true>(run, row) : Sum<Count, false>(run, row);
    }

    template <size_t Count, bool Exclusive>
    void Sum(const ExecuteArgs& run, size_t row) const
    {
        const size_t length = m_Length;
        const size_t first = m_Reverse ? length - 1 : 0;
        const auto step = m_Reverse ? std::ptrdiff_t{-1} : std::ptrdiff_t{1};
        const T* in = run.GetInput<T>(0) + row * length + first;
        T* out = run.GetOutput<T>(0) + row * length + first;
        T sums[Count];
        for (size_t r = 0; r < Count; ++r)
        {
            sums[r] = Exclusive ? T(0) + in[r * length] : in[r * length]; // a zero that is added may change its sign
            out[r * length] = Exclusive ? T(0) : in[r * length];
        }
        for (size_t i = 1; i < length; ++i)
        {
            in += step;
            out += step;
            for (size_t r = 0; r < Count; ++r)
            {
                const T before = sums[r];
                sums[r] += in[r * length];
                out[r * length] = Exclusive ? before : sums[r];
            }
        }
    }
};

Prepared PrepareCumSum(const ReshapeArgs& args, const backends::PackedWeights*)
{
    Prepared reference = ref::FindKernel(LayerType::CumSum)->Prepare(args, nullptr); // checks shapes
    const auto& descriptor = args.GetDescriptor<CumSumDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const auto axis = static_cast<unsigned int>(descriptor.m_Axis);
    const unsigned int rank = shape.GetNumDimensions();
    if (args.GetOutput(0).GetNumElements() == 0 || ref::CountElements(shape, axis + 1, rank) != 1)
    {
        return reference;
    }
    const auto make = [&](auto tag) -> Prepared
    {
        return CumSumRows<typename decltype(tag)::Type>{ref::CountElements(shape, 0, axis), shape[axis],
                                                        descriptor.m_Exclusive, descriptor.m_Reverse};
    };
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::Float32: return make(ref::TypeTag<float>());
    case DataType::Float64: return make(ref::TypeTag<double>());
    case DataType::Signed32: return make(ref::TypeTag<uint32_t>());
    default: return make(ref::TypeTag<uint64_t>());
    }
}

} // namespace

extern const backends::Kernel CpuCumSumKernel = {"CpuCumSum", CumSumTypes, PrepareCumSum};

} // namespace tenon::cpu
