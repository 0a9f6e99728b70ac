// SPDX-License-Identifier: Apache-2.0
// EmbeddingLookup: slices of a table by number. The slices of a quantized table are copied as stored, or as real values
// if the output is declared float. Such a table may have a scale per slice or per block.
#include "backends/common/QuantizationCheck.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"
#include "common/CopyBlock.hpp"

#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::TypeSet;

constexpr TypeSet HybridTable = {DataType::QAsymmS8, DataType::QSymmS8, DataType::QAsymmU8, DataType::QSymmS4};
constexpr TypeSet HybridOutput = {DataType::Float32, DataType::Float16};
constexpr backends::TypeRow EmbeddingLookupTypes[] = {
    backends::WithScales(backends::Types({IndexTypes, HybridTable}, HybridOutput),
                         {backends::Scales::Any, backends::Scales::Blocks}, backends::Scales::Any),
    backends::Types({IndexTypes, backends::WholeByteType}, backends::WholeByteType)};

bool IsHybridLookup(DataType table, DataType output)
{
    return HybridTable.Has(table) && HybridOutput.Has(output);
}

/// Blocks that lie within the slices, as far as the shape is known.
SupportResult CheckTableBlocks(const TensorInfo& table)
{
    const TensorShape& shape = table.GetShape();
    const unsigned int last = table.GetQuantizationDim().value();
    if (shape.GetDimensionality() != Dimensionality::NotSpecified &&
        (last == 0 || last + 1 != shape.GetNumDimensions()))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "input 1 (" + table.ToString() +
                                     ") has blocks along another dimension than the last one of its slices");
    }
    return backends::CheckBlocks(table, "input 1");
}

SupportResult CheckEmbeddingLookup(const LayerView& layer)
{
    const TensorInfo& table = layer.GetInput(1);
    if (!IsHybridLookup(table.GetDataType(), layer.GetOutput(0).GetDataType()))
    {
        return CheckSameType(layer.GetOutput(0), "output 0", table.GetDataType());
    }
    if (table.HasQuantizationOffsets())
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "input 1 (" + table.ToString() +
                                     ") has a zero point; only symmetric tables give float slices");
    }
    if (table.HasBlockwiseQuantization())
    {
        return CheckTableBlocks(table);
    }
    if (table.HasMultipleQuantizationScales() && table.GetQuantizationDim().value() != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "input 1 (" + table.ToString() +
                                     ") has scales along another dimension than 0, that of the slices");
    }
    return SupportResult::Yes();
}

/// The numbers of the requested slices.
struct Slices
{
    IndexInput m_Numbers;
    size_t m_Count;
    int64_t m_Rows;         ///< rows of the table
    size_t m_SliceElements; ///< 0: only the numbers are checked

    size_t Read(const ExecuteArgs& args, size_t i) const
    {
        return static_cast<size_t>(m_Numbers.Read(args, i, 0, m_Rows));
    }
};

Slices MakeSlices(const ReshapeArgs& args)
{
    const TensorInfo& table = args.GetInput(1);
    RequireRank(table, "input 1", 1);
    const size_t count = args.GetInput(0).GetNumElements();
    const bool isEmpty = args.GetOutput(0).GetShape().GetNumElements64() == 0;
    const size_t elements = isEmpty ? 0 : CountElements(table.GetShape(), 1, table.GetNumDimensions());
    RequireElements(args.GetOutput(0), "output 0", uint64_t{count} * elements);
    return {IndexInput(args, 0), count, table.GetShape()[0], elements};
}

/// The scales of the elements of a table, in runs of `m_Run` of them: one for each row, or several.
struct TableScales
{
    std::vector<float> m_Scales;
    size_t m_Run = 0; ///< 0: no elements
};

/// Throws LayerValidationException where the shape, perhaps unknown until now, does not fit the scales.
TableScales GetScales(const TensorInfo& table, size_t sliceElements)
{
    std::vector<float> scales = table.GetQuantizationScales();
    if (table.HasBlockwiseQuantization())
    {
        const SupportResult fits = CheckTableBlocks(table);
        if (!fits)
        {
            throw LayerValidationException(fits.m_Reason);
        }
        return {std::move(scales), table.GetQuantizationBlockSize()};
    }
    const size_t rows = table.GetShape()[0];
    if (scales.size() == 1)
    {
        scales.resize(rows, scales[0]);
    }
    if (scales.size() != rows)
    {
        throw LayerValidationException("input 1 has " + std::to_string(scales.size()) + " scales for " +
                                       std::to_string(rows) + " slices; give one, or one each");
    }
    return {std::move(scales), sliceElements};
}

/// Element i of a table, read as a signed number even if its type is unsigned, because TFLite's converters wrote tables
/// so.
int8_t ReadByte(const void* table, size_t i)
{
    return static_cast<const int8_t*>(table)[i];
}

int8_t ReadInt4(const void* table, size_t i)
{
    const unsigned int pair = static_cast<const uint8_t*>(table)[i / 2];
    const unsigned int int4 = (i % 2 == 0 ? pair : pair >> 4) & 0xFU;
    return static_cast<int8_t>(static_cast<int>(int4 ^ 8U) - 8); // bit 3 is the sign
}

template <typename Out, int8_t (*ReadElement)(const void*, size_t)>
struct HybridLookup
{
    Slices m_Slices;
    TableScales m_Scales;
    size_t m_PerByte; ///< elements per byte: as in TFLite, a slice that would begin within a byte is read from the
                      ///< byte's start

    void operator()(const ExecuteArgs& args) const
    {
        Out* out = args.GetOutput<Out>(0);
        for (size_t i = 0; i < m_Slices.m_Count; ++i)
        {
            const size_t row = m_Slices.Read(args, i);
            const size_t begin = row * m_Slices.m_SliceElements;
            const size_t first = begin / m_PerByte * m_PerByte;
            for (size_t k = 0; k < m_Slices.m_SliceElements; k += m_Scales.m_Run)
            {
                const float scale = m_Scales.m_Scales[(begin + k) / m_Scales.m_Run];
                for (size_t element = k; element < k + m_Scales.m_Run; ++element)
                {
                    *out++ =
                        static_cast<Out>(static_cast<float>(ReadElement(args.m_Inputs[1], first + element)) * scale);
                }
            }
        }
    }
};

backends::Prepared PrepareEmbeddingLookup(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& table = args.GetInput(1);
    const DataType outputType = args.GetOutput(0).GetDataType();
    const Slices slices = MakeSlices(args);
    if (!IsHybridLookup(table.GetDataType(), outputType))
    {
        return [slices, bytes = slices.m_SliceElements * GetMovedBytes(outputType)](const ExecuteArgs& run)
        {
            auto* out = run.GetOutput<std::byte>(0);
            for (size_t i = 0; i < slices.m_Count; ++i)
            {
                const size_t row = slices.Read(run, i);
                if (bytes != 0)
                {
                    CopyBlock(out + i * bytes, run.GetInput<std::byte>(1) + row * bytes, bytes);
                }
            }
        };
    }
    TableScales scales = GetScales(table, slices.m_SliceElements);
    const bool isByBlock = table.HasBlockwiseQuantization();
    return DispatchType<float, Half>(
        outputType,
        [&](auto tag) -> backends::Prepared
        {
            using Out = typename decltype(tag)::Type;
            if (table.GetDataType() == DataType::QSymmS4)
            {
                return HybridLookup<Out, ReadInt4>{slices, std::move(scales), isByBlock ? size_t{1} : size_t{2}};
            }
            return HybridLookup<Out, ReadByte>{slices, std::move(scales), 1};
        });
}

} // namespace

extern const backends::Kernel RefEmbeddingLookupKernel = {"RefEmbeddingLookup", EmbeddingLookupTypes,
                                                          PrepareEmbeddingLookup, CheckEmbeddingLookup};

} // namespace tenon::ref
