// SPDX-License-Identifier: Apache-2.0
// SparseToDense: a default value everywhere except at given positions. If a position occurs twice, the last value
// counts.
#include "backends/reference/kernels/ChosenValues.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <algorithm>

namespace tenon::ref
{

namespace
{

template <typename T>
struct SparseToDenseRun
{
    IndexInput m_Places;
    size_t m_Count;      ///< number of positions
    size_t m_ValueStep;  ///< 0: one value for all
    size_t m_Elements;   ///< of the output
    unsigned int m_Rank; ///< of the output
    Extents m_Sizes;
    Extents m_Strides;

    void operator()(const ExecuteArgs& args) const
    {
        const T* values = args.GetInput<T>(2);
        T* out = args.GetOutput<T>(0);
        std::fill_n(out, m_Elements, *args.GetInput<T>(3));
        for (size_t i = 0; i < m_Count; ++i)
        {
            int64_t offset = 0;
            for (unsigned int d = 0; d < m_Rank; ++d)
            {
                offset += m_Places.Read(args, i * m_Rank + d, 0, m_Sizes[d]) * m_Strides[d];
            }
            out[offset] = values[i * m_ValueStep];
        }
    }
};

backends::Prepared PrepareSparseToDense(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& output = args.GetOutput(0);
    const TensorShape& values = args.GetInput(2).GetShape();
    const unsigned int rank = output.GetNumDimensions();
    const size_t places = args.GetInput(0).GetNumElements();
    // The number of positions without indices, for a scalar, is the size of the first dimension.
    const size_t count = rank != 0 ? places / rank : CountElements(args.GetInput(0).GetShape(), 0, 1);
    RequireElements(args.GetInput(0), "input 0", uint64_t{count} * rank);
    RequireElements(args.GetInput(3), "input 3", 1);
    if (values.GetNumDimensions() != 0)
    {
        RequireElements(args.GetInput(2), "input 2", count);
    }
    return DispatchMoved(
        output.GetDataType(),
        [&](auto tag) -> backends::Prepared
        {
            using T = typename decltype(tag)::Type;
            return SparseToDenseRun<T>{
                IndexInput(args, 0),          count, values.GetNumDimensions() == 0 ? size_t{0} : size_t{1},
                output.GetNumElements(),      rank,  GetExtents(output.GetShape()),
                GetStrides(output.GetShape())};
        });
}

} // namespace

extern const backends::Kernel RefSparseToDenseKernel = {"RefSparseToDense", ChosenTypes, PrepareSparseToDense,
                                                        CheckChosen};

} // namespace tenon::ref
