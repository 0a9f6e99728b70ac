// SPDX-License-Identifier: Apache-2.0
// BatchMatMul: matrix products; the other dimensions are broadcast. Types are floats and doubles; 8-bit and 16-bit
// tensors as in TFLite's reference kernels, or by RequantizationMode::FloatHalfEven; 8-bit products without rescaling;
// float x with 8-bit y.
#include "backends/common/KernelTable.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "backends/reference/kernels/HybridInput.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "backends/reference/kernels/RowProducts.hpp"
#include "backends/reference/kernels/RunTasks.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scales;
using backends::Scratch;
using backends::Types;
using backends::TypeSet;
using backends::WithScales;

constexpr TypeSet Bytes = {DataType::QAsymmS8, DataType::QSymmS8};
constexpr TypeSet SignedInt8Types = {DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8};

constexpr backends::TypeRow BatchMatMulTypes[] = {
    Types({DataType::Float32, DataType::Float32}, DataType::Float32),
    Types({DataType::Float16, DataType::Float16}, DataType::Float16),
    Types({DataType::BFloat16, DataType::BFloat16}, DataType::BFloat16),
    WithScales(Types({DataType::QAsymmU8, DataType::QAsymmU8}, DataType::QAsymmU8), {Scales::PerTensor},
               Scales::PerTensor),
    WithScales(Types({Bytes, Bytes}, Bytes), {Scales::PerTensor}, Scales::PerTensor),
    Types({SignedInt8Types, SignedInt8Types}, DataType::Signed32),
    WithScales(
        Types({DataType::QSymmS16, {DataType::QSymmS16, DataType::QAsymmS8, DataType::QSymmS8}}, DataType::QSymmS16),
        {Scales::PerTensor}, Scales::PerTensor),
    Types({DataType::Float32, Bytes}, DataType::Float32),
    Types({DataType::Float64, DataType::Float64}, DataType::Float64),
};

/// The part that all combinations of types share: transposed matrices of y, a block of rows of x for each task, and
/// their sums. Patch: element of a gathered row of x; W: element of y; Acc: accumulator.
template <typename Patch, typename W, typename Acc>
class Base
{
protected:
    Base(const MatMulGeometry& g, Scratch& scratch)
        : m_Geometry(g), m_Transposed(scratch.Add<W>(g.m_NumMatricesY, g.m_Depth, g.m_Columns)),
          m_Patches(scratch.Add<Patch>(MaxTasks, Block, g.m_Depth)),
          m_Sums(scratch.Add<Acc>(MaxTasks, Block, g.m_Columns))
    {
    }

    /// gather(task, offset in x, stride, patch): writes a row of x to patch[i * stride]. emit(task, sums, row of the
    /// block, offset in the output): takes the sums of a row.
    template <typename Gather, typename Emit>
    void RunProducts(const ExecuteArgs& args, int32_t zeroY, const Gather& gather, const Emit& emit) const
    {
        const MatMulGeometry& g = m_Geometry;
        W* transposed = Scratch::At<W>(args.m_Scratch, m_Transposed);
        TransposeMatrices(args, transposed);
        const size_t blocks = (g.m_Rows + Block - 1) / Block;
        const auto run = [&](size_t task, size_t begin, size_t end)
        {
            Patch* patches = Scratch::At<Patch>(args.m_Scratch, m_Patches) + task * Block * g.m_Depth;
            Acc* sums = Scratch::At<Acc>(args.m_Scratch, m_Sums) + task * Block * g.m_Columns;
            for (size_t i = begin; i < end; ++i)
            {
                const MatMulGeometry::Batch batch = g.GetBatch(i / blocks);
                const size_t first = i % blocks * Block;
                const size_t count = std::min(Block, g.m_Rows - first);
                const bool interleaves = BlockStride<Patch> != 1 && count == Block;
                for (size_t p = 0; p < count; ++p)
                {
                    gather(task, p, batch.m_X + (first + p) * g.m_X.m_Row, interleaves ? BlockStride<Patch> : 1,
                           patches + p * (interleaves ? 1 : g.m_Depth));
                }
                const W* matrix = transposed + batch.m_MatrixY * g.m_Depth * g.m_Columns;
                Multiply(patches, count, matrix, zeroY, sums);
                for (size_t p = 0; p < count; ++p)
                {
                    emit(task, p, sums + p * g.m_Columns, batch.m_Output + (first + p) * g.m_Output.m_Row);
                }
            }
        };
        RunTasks(*args.m_Parallel, g.m_NumBatches * blocks, run);
    }

    /// out[column] = f(sums[column], column), in the output's stride.
    template <typename T, typename F>
    void Store(const Acc* sums, T* out, const F& f) const
    {
        for (size_t c = 0; c < m_Geometry.m_Columns; ++c)
        {
            out[c * m_Geometry.m_Output.m_Column] = f(sums[c], c);
        }
    }

    static constexpr size_t Block = PatchBlock<Patch>;
    MatMulGeometry m_Geometry;

private:
    /// Transposes each matrix of y to [columns, depth].
    void TransposeMatrices(const ExecuteArgs& args, W* transposed) const
    {
        const MatMulGeometry& g = m_Geometry;
        const W* y = args.GetInput<W>(1);
        const auto transpose = [&](size_t, size_t begin, size_t end)
        {
            for (size_t row = begin; row < end; ++row)
            {
                const W* from = y + g.GetMatrixY(row / g.m_Columns) + row % g.m_Columns * g.m_Y.m_Column;
                for (size_t k = 0; k < g.m_Depth; ++k)
                {
                    transposed[row * g.m_Depth + k] = from[k * g.m_Y.m_Row];
                }
            }
        };
        RunTasks(*args.m_Parallel, g.m_NumMatricesY * g.m_Columns, transpose);
    }

    void Multiply(const Patch* patches, size_t count, const W* matrix, int32_t zeroY, Acc* sums) const
    {
        const size_t depth = m_Geometry.m_Depth;
        if constexpr (std::is_same_v<W, int16_t>)
        {
            // Sums of products of two 16-bit numbers need 64 bits from the start.
            for (size_t i = 0; i < count * m_Geometry.m_Columns; ++i)
            {
                const Patch* patch = patches + i / m_Geometry.m_Columns * depth;
                const W* column = matrix + i % m_Geometry.m_Columns * depth;
                sums[i] = 0;
                for (size_t k = 0; k < depth; ++k)
                {
                    sums[i] += static_cast<int32_t>(patch[k]) * column[k];
                }
            }
        }
        else
        {
            MultiplyPatches(patches, count, matrix, zeroY, m_Geometry.m_Columns, depth, sums);
        }
    }

    size_t m_Transposed; ///< offsets in the scratch memory
    size_t m_Patches;
    size_t m_Sums;
};

/// A row of x less its zero point.
template <typename In, typename Patch>
void GatherRow(const In* row, size_t step, size_t depth, int32_t zeroPoint, size_t stride, Patch* patch)
{
    for (size_t k = 0; k < depth; ++k)
    {
        patch[k * stride] = CenterWeight<Patch>(row[k * step], zeroPoint);
    }
}

/// T: float or double.
template <typename T>
class FloatProduct : Base<T, T, T>
{
public:
    FloatProduct(const ReshapeArgs&, const MatMulGeometry& g, Scratch& scratch) : Base<T, T, T>(g, scratch) {}

    void operator()(const ExecuteArgs& args) const
    {
        const MatMulGeometry& g = this->m_Geometry;
        const T* x = args.GetInput<T>(0);
        T* output = args.GetOutput<T>(0);
        const auto gather = [&](size_t, size_t, size_t offset, size_t stride, T* patch)
        { GatherRow(x + offset, g.m_X.m_Column, g.m_Depth, 0, stride, patch); };
        const auto emit = [&](size_t, size_t, const T* sums, size_t offset)
        { this->Store(sums, output + offset, [](T sum, size_t) { return sum; }); };
        this->RunProducts(args, 0, gather, emit);
    }
};

/// 8-bit numbers to plain 32-bit numbers: TFLite ignores zero points then.
class PlainProduct : Base<int16_t, int8_t, int32_t>
{
public:
    PlainProduct(const ReshapeArgs&, const MatMulGeometry& g, Scratch& scratch) : Base(g, scratch) {}

    void operator()(const ExecuteArgs& args) const
    {
        const MatMulGeometry& g = m_Geometry;
        const int8_t* x = args.GetInput<int8_t>(0);
        int32_t* output = args.GetOutput<int32_t>(0);
        const auto gather = [&](size_t, size_t, size_t offset, size_t stride, int16_t* patch)
        { GatherRow(x + offset, g.m_X.m_Column, g.m_Depth, 0, stride, patch); };
        const auto emit = [&](size_t, size_t, const int32_t* sums, size_t offset)
        { Store(sums, output + offset, [](int32_t sum, size_t) { return sum; }); };
        RunProducts(args, 0, gather, emit);
    }
};

/// One number per column, from one for all or one for each. Throws LayerValidationException for another count.
void FillColumns(std::vector<float>& scales, const MatMulGeometry& g)
{
    if (scales.size() == 1)
    {
        scales.resize(g.m_Columns, scales[0]);
    }
    if (scales.size() != g.m_Columns)
    {
        throw LayerValidationException("input 1 has " + std::to_string(scales.size()) + " scales for " +
                                       std::to_string(g.m_Columns) + " columns; give one, or one each");
    }
}

/// TFLite uses the per-tensor scale of y, which is missing if y is quantized per axis: TFLite then reads 0. This code
/// does so, too, and every sum becomes the output's zero point.
TensorQuantization GetQuantizationY(const ReshapeArgs& args)
{
    return args.GetInput(1).HasMultipleQuantizationScales() ? TensorQuantization()
                                                            : GetTensorQuantization(args.GetInput(1));
}

/// The stored value of a sum, as in TFLite.
template <typename Out>
class FixedPointScale
{
public:
    FixedPointScale(const ReshapeArgs& args, const MatMulGeometry&)
        : m_ZeroPoint(args.GetOutput(0).GetQuantizationOffset()),
          // The product of scales is computed in float, as in TFLite.
          m_Multiplier(backends::QuantizeMultiplier(
              static_cast<double>(args.GetInput(0).GetQuantizationScale() * GetQuantizationY(args).m_Scale) /
              static_cast<double>(args.GetOutput(0).GetQuantizationScale())))
    {
    }

    Out operator()(int64_t sum, size_t) const
    {
        const int32_t scaled = sizeof(Out) == 1 ? backends::MultiplySumSaturating(sum, m_Multiplier)
                                                : backends::MultiplyReducedSaturating(sum, m_Multiplier);
        return static_cast<Out>(std::clamp<int32_t>(backends::SaturatingAdd(scaled, m_ZeroPoint),
                                                    std::numeric_limits<Out>::min(), std::numeric_limits<Out>::max()));
    }

private:
    int32_t m_ZeroPoint;
    backends::QuantizedMultiplier m_Multiplier;
};

/// The stored value of a sum by RequantizationMode::FloatHalfEven.
template <typename Out>
class HalfEvenScale
{
public:
    HalfEvenScale(const ReshapeArgs& args, const MatMulGeometry& g)
        : m_Output(GetTensorQuantization(args.GetOutput(0))),
          m_Range(backends::GetTypeRange(args.GetOutput(0).GetDataType()))
    {
        const std::vector<double> factors = GetSumFactors(args.GetInput(0), args.GetInput(1), args.GetOutput(0));
        m_Factors.assign(factors.begin(), factors.end());
        FillColumns(m_Factors, g);
    }

    Out operator()(int64_t sum, size_t column) const
    {
        return RescaleHalfEven<Out>(sum, m_Factors[column], m_Output.m_ZeroPoint, m_Range);
    }

private:
    TensorQuantization m_Output;
    backends::QuantizedRange m_Range;
    std::vector<float> m_Factors; ///< one per column
};

/// Scale: FixedPointScale or HalfEvenScale.
template <typename In, typename W, typename Acc, template <typename> typename Scale>
class QuantizedProduct : Base<int16_t, W, Acc>
{
public:
    QuantizedProduct(const ReshapeArgs& args, const MatMulGeometry& g, Scratch& scratch)
        : Base<int16_t, W, Acc>(g, scratch), m_ZeroX(args.GetInput(0).GetQuantizationOffset()),
          m_ZeroY(GetQuantizationY(args).m_ZeroPoint), m_Scale(args, g)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const MatMulGeometry& g = this->m_Geometry;
        const In* x = args.GetInput<In>(0);
        In* output = args.GetOutput<In>(0);
        const auto gather = [&](size_t, size_t, size_t offset, size_t stride, int16_t* patch)
        { GatherRow(x + offset, g.m_X.m_Column, g.m_Depth, m_ZeroX, stride, patch); };
        const auto emit = [&](size_t, size_t, const Acc* sums, size_t offset)
        { this->Store(sums, output + offset, m_Scale); };
        this->RunProducts(args, m_ZeroY, gather, emit);
    }

private:
    int32_t m_ZeroX;
    int32_t m_ZeroY;
    Scale<In> m_Scale;
};

/// Float x, each row of which is quantized while running.
class HybridProduct : Base<int16_t, int8_t, int64_t>
{
public:
    HybridProduct(const ReshapeArgs& args, const MatMulGeometry& g, Scratch& scratch)
        : Base(g, scratch), m_Scales(args.GetInput(1).GetQuantizationScales()),
          m_Asymmetric(args.GetDescriptor<BatchMatMulDescriptor>().m_AsymmetricQuantizeInputs),
          m_Floats(scratch.Add<float>(MaxTasks, g.m_Depth)), m_Stored(scratch.Add<int8_t>(MaxTasks, g.m_Depth)),
          m_RowScales(scratch.Add<float>(MaxTasks, Block))
    {
        FillColumns(m_Scales, g);
    }

    void operator()(const ExecuteArgs& args) const
    {
        const MatMulGeometry& g = m_Geometry;
        const float* x = args.GetInput<float>(0);
        float* output = args.GetOutput<float>(0);
        float* rowScales = Scratch::At<float>(args.m_Scratch, m_RowScales);
        const auto gather = [&](size_t task, size_t p, size_t offset, size_t stride, int16_t* patch)
        {
            float* floats = Scratch::At<float>(args.m_Scratch, m_Floats) + task * g.m_Depth;
            int8_t* stored = Scratch::At<int8_t>(args.m_Scratch, m_Stored) + task * g.m_Depth;
            GatherRow(x + offset, g.m_X.m_Column, g.m_Depth, 0, 1, floats);
            const AsymmetricScale scale = m_Asymmetric
                                              ? QuantizeAsymmetric(floats, g.m_Depth, stored)
                                              : AsymmetricScale{QuantizeSymmetric(floats, g.m_Depth, stored), 0};
            rowScales[task * Block + p] = scale.m_Scale;
            GatherRow(stored, 1, g.m_Depth, scale.m_ZeroPoint, stride, patch);
        };
        const auto emit = [&](size_t task, size_t p, const int64_t* sums, size_t offset)
        {
            const float rowScale = rowScales[task * Block + p];
            Store(sums, output + offset,
                  [&](int64_t sum, size_t column) { return rowScale * m_Scales[column] * static_cast<float>(sum); });
        };
        RunProducts(args, 0, gather, emit);
    }

private:
    std::vector<float> m_Scales; ///< scales of y, one per column
    bool m_Asymmetric;
    size_t m_Floats; ///< offsets in the scratch memory
    size_t m_Stored;
    size_t m_RowScales;
};

template <typename Executor>
Prepared Make(const ReshapeArgs& args, const MatMulGeometry& g)
{
    Scratch scratch;
    Executor executor(args, g, scratch);
    return Prepared(std::move(executor), scratch.GetBytes());
}

/// With float x, or RequantizationMode::FloatHalfEven, y may have a scale for each column, and no zero points then. For
/// integers in fixed point see GetQuantizationY.
SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<BatchMatMulDescriptor>();
    const TensorInfo& y = layer.GetInput(1);
    const auto refuse = [](const char* reason)
    { return SupportResult::No(SupportCode::UnsupportedParameters, reason); };
    if (y.HasBlockwiseQuantization())
    {
        return refuse("input 1 has a scale per block");
    }
    const bool isHalfEven =
        layer.GetOutput(0).IsQuantized() && descriptor.m_Requantization == RequantizationMode::FloatHalfEven;
    if (y.HasMultipleQuantizationScales() && (layer.GetInput(0).GetDataType() == DataType::Float32 || isHalfEven))
    {
        const Optional<unsigned int> dim = y.GetQuantizationDim();
        const unsigned int fromEnd =
            GetColumnsFromEnd(descriptor.m_DataLayoutY) + (descriptor.m_TransposeY || descriptor.m_AdjointY ? 1 : 0);
        const bool isKnown = y.GetShape().GetDimensionality() == Dimensionality::Specified;
        if (!dim.has_value() || (isKnown && dim.value() + fromEnd != y.GetShape().GetNumDimensions()))
        {
            return refuse("input 1 is quantized along a dimension other than its columns");
        }
    }
    const std::vector<int32_t> zeroPoints = y.GetQuantizationOffsets();
    if (isHalfEven && y.HasMultipleQuantizationScales() &&
        std::any_of(zeroPoints.begin(), zeroPoints.end(), [](int32_t zero) { return zero != 0; }))
    {
        return refuse("input 1 is quantized per axis with zero points other than 0");
    }
    const std::vector<float> scales = y.GetQuantizationScales();
    const auto usable = [](float scale) { return scale > 0.0f && std::isfinite(scale); };
    if (y.IsQuantized() && layer.GetOutput(0).GetDataType() != DataType::Signed32 &&
        (scales.empty() || !std::all_of(scales.begin(), scales.end(), usable)))
    {
        return refuse("a scale of input 1 is missing, not positive or not finite");
    }
    const bool hasOneScale = y.IsQuantized() && !y.HasMultipleQuantizationScales() && layer.GetOutput(0).IsQuantized();
    if (hasOneScale && layer.GetInput(0).GetDataType() == DataType::QSymmS16 && y.GetQuantizationOffset() != 0)
    {
        return refuse("input 1 has a zero point; beside 16-bit tensors it must be 0");
    }
    return backends::FirstRefusal({backends::CheckZeroPointInt16(layer.GetInput(0), "input 0"),
                                   backends::CheckZeroPointInt16(layer.GetOutput(0), "output 0"),
                                   hasOneScale ? backends::CheckPerTensor(y, "input 1") : SupportResult::Yes()});
}

template <template <typename> typename Scale>
Prepared PrepareQuantized(const ReshapeArgs& args, const MatMulGeometry& g)
{
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::QAsymmU8: return Make<QuantizedProduct<uint8_t, uint8_t, int64_t, Scale>>(args, g);
    case DataType::QSymmS16:
        return args.GetInput(1).GetDataType() == DataType::QSymmS16
                   ? Make<QuantizedProduct<int16_t, int16_t, int64_t, Scale>>(args, g)
                   : Make<QuantizedProduct<int16_t, int8_t, int64_t, Scale>>(args, g);
    default: return Make<QuantizedProduct<int8_t, int8_t, int64_t, Scale>>(args, g);
    }
}

Prepared PrepareProducts(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const MatMulGeometry g(args);
    if (g.IsEmpty())
    {
        return Prepared([](const ExecuteArgs&) {});
    }
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::Float32: return IsHybrid(args) ? Make<HybridProduct>(args, g) : Make<FloatProduct<float>>(args, g);
    case DataType::Float64: return Make<FloatProduct<double>>(args, g);
    default: break;
    }
    if (args.GetOutput(0).GetDataType() == DataType::Signed32)
    {
        return Make<PlainProduct>(args, g);
    }
    return args.GetDescriptor<BatchMatMulDescriptor>().m_Requantization == RequantizationMode::FloatHalfEven
               ? PrepareQuantized<HalfEvenScale>(args, g)
               : PrepareQuantized<FixedPointScale>(args, g);
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareProducts, packed);
}

} // namespace

extern const backends::Kernel RefBatchMatMulKernel = {.m_Name = "RefBatchMatMul",
                                                      .m_Types = BatchMatMulTypes,
                                                      .m_Prepare = Prepare,
                                                      .m_Check = Check,
                                                      .m_RoundsHalfToEven = true};

} // namespace tenon::ref
