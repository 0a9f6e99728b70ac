// SPDX-License-Identifier: Apache-2.0
// DynamicUpdateSlice: a tensor with another one written into it. Start indices are clamped so that the update lies
// inside.
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"
#include "common/CopyBlock.hpp"
#include "common/FourBits.hpp"

#include <algorithm>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow DynamicUpdateSliceTypes[] = {
    backends::Types({backends::AnyType, backends::AnyType, IndexTypes}, backends::AnyType)};

SupportResult CheckDynamicUpdateSlice(const LayerView& layer)
{
    const DataType type = layer.GetInput(0).GetDataType();
    const SupportResult update = CheckSameType(layer.GetInput(1), "input 1", type);
    return update ? CheckSameType(layer.GetOutput(0), "output 0", type) : update;
}

/// Writes a box into a larger one, row by row.
struct BoxPaste
{
    IndexInput m_Starts;
    unsigned int m_Rank;
    Extents m_Sizes;   ///< of the update
    Extents m_Slack;   ///< maximum start indices of the update
    Extents m_Strides; ///< of the output, elements
    size_t m_Rows;
    size_t m_ElementBytes;

    void Paste(const ExecuteArgs& args, const std::byte* update, std::byte* out) const
    {
        Extents index{};
        const unsigned int outer = m_Rank == 0 ? 0 : m_Rank - 1;
        const size_t rowBytes = (m_Rank == 0 ? 1 : static_cast<size_t>(m_Sizes[outer])) * m_ElementBytes;
        int64_t at = 0;
        for (unsigned int d = 0; d < m_Rank; ++d)
        {
            const int64_t start = m_Starts.ReadAny(args, d);
            at += std::clamp<int64_t>(start, 0, m_Slack[d]) * m_Strides[d];
        }
        for (size_t row = 0; row < m_Rows; ++row, update += rowBytes)
        {
            CopyBlock(out + static_cast<size_t>(at) * m_ElementBytes, update, rowBytes);
            for (unsigned int d = outer; d-- > 0;)
            {
                at += m_Strides[d];
                if (++index[d] < m_Sizes[d])
                {
                    break;
                }
                at -= m_Strides[d] * m_Sizes[d];
                index[d] = 0;
            }
        }
    }
};

struct BytesRun
{
    BoxPaste m_Box;
    size_t m_Bytes; ///< of the output

    void operator()(const ExecuteArgs& args) const
    {
        if (m_Bytes != 0)
        {
            CopyBlock(args.m_Outputs[0], args.m_Inputs[0], m_Bytes);
            m_Box.Paste(args, args.GetInput<std::byte>(1), args.GetOutput<std::byte>(0));
        }
    }
};

/// 4-bit elements become bytes in the scratch memory, and nibbles again.
struct Int4Run
{
    BoxPaste m_Box;
    size_t m_OutputElements;
    size_t m_UpdateElements;
    size_t m_Output; ///< offsets in the scratch memory
    size_t m_Update;

    void operator()(const ExecuteArgs& args) const
    {
        auto* output = backends::Scratch::At<std::byte>(args.m_Scratch, m_Output);
        auto* update = backends::Scratch::At<std::byte>(args.m_Scratch, m_Update);
        UnpackFourBits(args.GetInput<std::byte>(0), m_OutputElements, true, output);
        UnpackFourBits(args.GetInput<std::byte>(1), m_UpdateElements, true, update);
        m_Box.Paste(args, update, output);
        PackFourBits(output, m_OutputElements, args.GetOutput<std::byte>(0));
    }
};

backends::Prepared PrepareDynamicUpdateSlice(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& output = args.GetOutput(0);
    const TensorShape& shape = output.GetShape();
    const TensorShape& update = args.GetInput(1).GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    bool fits = args.GetInput(0).GetShape() == shape && update.GetNumDimensions() == rank;
    Extents slack{};
    for (unsigned int i = 0; fits && i < rank; ++i)
    {
        fits = update[i] <= shape[i];
        slack[i] = int64_t{shape[i]} - update[i];
    }
    if (!fits)
    {
        throw LayerValidationException("an update of shape " + update.ToString() + " does not fit into " +
                                       args.GetInput(0).GetShape().ToString() + " to give " + shape.ToString());
    }
    RequireElements(args.GetInput(2), "input 2", rank);
    const size_t rows = update.GetNumElements64() == 0 ? 0 : CountElements(update, 0, rank == 0 ? 0 : rank - 1);
    const BoxPaste box{IndexInput(args, 2),
                       rank,
                       GetExtents(update),
                       slack,
                       GetStrides(shape),
                       rows,
                       GetMovedBytes(output.GetDataType())};
    if (GetDataTypeBits(output.GetDataType()) >= 8 || shape.GetNumElements64() == 0)
    {
        return BytesRun{box, output.GetNumBytes()};
    }
    backends::Scratch scratch;
    const size_t outputAt = scratch.Add<std::byte>(output.GetNumElements());
    const size_t updateAt = scratch.Add<std::byte>(update.GetNumElements());
    return backends::Prepared(Int4Run{box, output.GetNumElements(), update.GetNumElements(), outputAt, updateAt},
                              scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefDynamicUpdateSliceKernel = {"RefDynamicUpdateSlice", DynamicUpdateSliceTypes,
                                                             PrepareDynamicUpdateSlice, CheckDynamicUpdateSlice};

} // namespace tenon::ref
