// SPDX-License-Identifier: Apache-2.0
// Where: the indices of all elements that are not zero. Their number is known only after counting, so the output is
// allocated while running.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow WhereTypes[] = {
    backends::Types({{DataType::Boolean, DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64,
                      DataType::Signed8, DataType::QAsymmS8, DataType::QSymmS8, DataType::Unsigned8, DataType::QAsymmU8,
                      DataType::Signed16, DataType::QSymmS16, DataType::Unsigned16, DataType::Signed32,
                      DataType::Unsigned32, DataType::Signed64, DataType::Unsigned64}},
                    DataType::Signed64)};

template <typename T>
struct WhereRun
{
    unsigned int m_Rank;
    Extents m_Sizes;
    size_t m_Elements;

    void operator()(const ExecuteArgs& args) const
    {
        const T* in = args.GetInput<T>(0);
        unsigned int count = 0;
        for (size_t i = 0; i < m_Elements; ++i)
        {
            count += in[i] != T(0) ? 1U : 0U;
        }
        auto* out = static_cast<int64_t*>(args.m_LateOutputs->Allocate(0, TensorShape({count, m_Rank})));
        Extents index{};
        for (size_t i = 0; i < m_Elements; ++i)
        {
            if (in[i] != T(0))
            {
                for (unsigned int d = 0; d < m_Rank; ++d)
                {
                    *out++ = index[d];
                }
            }
            for (unsigned int d = m_Rank; d-- > 0;)
            {
                if (++index[d] < m_Sizes[d])
                {
                    break;
                }
                index[d] = 0;
            }
        }
    }
};

backends::Prepared PrepareWhere(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    return DispatchType<uint8_t, int8_t, float, int32_t, int64_t, uint32_t, int16_t, uint16_t, uint64_t, Half, BFloat16,
                        double>(
        args.GetInput(0).GetDataType(),
        [&shape](auto tag) -> backends::Prepared
        {
            using T = typename decltype(tag)::Type;
            return WhereRun<T>{shape.GetNumDimensions(), GetExtents(shape), shape.GetNumElements()};
        });
}

} // namespace

extern const backends::Kernel RefWhereKernel = {"RefWhere", WhereTypes, PrepareWhere};

} // namespace tenon::ref
