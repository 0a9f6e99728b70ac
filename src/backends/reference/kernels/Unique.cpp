// SPDX-License-Identifier: Apache-2.0
// Unique: the values without repetitions, in the order in which they first occur, and for each element which one it is.
// How many there are is known only while running. Equal elements are found by sorting, since that needs no allocation.
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <numeric>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow UniqueTypes[] = {backends::SameType(
    {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16, DataType::Signed8, DataType::QAsymmS8,
     DataType::QSymmS8, DataType::Unsigned8, DataType::QAsymmU8, DataType::Signed16, DataType::QSymmS16,
     DataType::Unsigned16, DataType::Signed32, DataType::Unsigned32, DataType::Signed64, DataType::Unsigned64})};

SupportResult CheckUnique(const LayerView& layer)
{
    const DataType type = layer.GetDescriptor<UniqueDescriptor>().m_IndexType;
    if (type != DataType::Signed32 && type != DataType::Signed64)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 std::string("indices of type ") + GetDataTypeName(type) +
                                     " are wanted; they can be Signed32 or Signed64");
    }
    return layer.GetNumOutputs() < 2 ? SupportResult::Yes() : CheckSameType(layer.GetOutput(1), "output 1", type);
}

/// An order of all values in which equal ones are neighbours: NaN is behind all others.
template <typename T>
bool IsLess(T a, T b)
{
    if constexpr (!std::is_integral_v<T>)
    {
        if (a != a || b != b)
        {
            return a == a;
        }
    }
    return a < b;
}

template <typename T, typename Index>
struct UniqueRun
{
    size_t m_Count;
    size_t m_Order; ///< offsets in the scratch memory
    size_t m_First;

    void operator()(const ExecuteArgs& args) const
    {
        const T* in = args.GetInput<T>(0);
        uint32_t* order = backends::Scratch::At<uint32_t>(args.m_Scratch, m_Order);
        uint32_t* first = backends::Scratch::At<uint32_t>(args.m_Scratch, m_First);
        std::iota(order, order + m_Count, 0U);
        std::sort(order, order + m_Count,
                  [in](uint32_t a, uint32_t b) { return IsLess(in[a], in[b]) || (!IsLess(in[b], in[a]) && a < b); });
        unsigned int distinct = 0;
        for (size_t i = 0; i < m_Count; ++i)
        {
            const bool repeats = i != 0 && in[order[i]] == in[order[i - 1]];
            first[order[i]] = repeats ? first[order[i - 1]] : order[i];
            distinct += repeats ? 0U : 1U;
        }
        auto* values = static_cast<T*>(args.m_LateOutputs->Allocate(0, TensorShape({distinct})));
        auto* indices =
            static_cast<Index*>(args.m_LateOutputs->Allocate(1, TensorShape({static_cast<unsigned int>(m_Count)})));
        Index next = 0;
        for (size_t i = 0; i < m_Count; ++i)
        {
            if (first[i] == i)
            {
                values[next] = in[i];
                indices[i] = next++;
            }
            else
            {
                indices[i] = indices[first[i]];
            }
        }
    }
};

backends::Prepared PrepareUnique(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const size_t count = args.GetInput(0).GetNumElements();
    backends::Scratch scratch;
    const size_t order = scratch.Add<uint32_t>(count);
    const size_t first = scratch.Add<uint32_t>(count);
    return DispatchType<float, int32_t, int64_t, int8_t, uint8_t, int16_t, uint16_t, uint32_t, uint64_t, double, Half,
                        BFloat16>(
        args.GetInput(0).GetDataType(),
        [&](auto tag)
        {
            using T = typename decltype(tag)::Type;
            return args.GetDescriptor<UniqueDescriptor>().m_IndexType == DataType::Signed64
                       ? backends::Prepared(UniqueRun<T, int64_t>{count, order, first}, scratch.GetBytes())
                       : backends::Prepared(UniqueRun<T, int32_t>{count, order, first}, scratch.GetBytes());
        });
}

} // namespace

extern const backends::Kernel RefUniqueKernel = {"RefUnique", UniqueTypes, PrepareUnique, CheckUnique};

} // namespace tenon::ref
