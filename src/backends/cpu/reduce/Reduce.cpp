// SPDX-License-Identifier: Apache-2.0
// Kernel rows of Reduce and Mean: sums, means and extremes of float and quantized tensors, products of floats, any and
// all of Booleans, if the reduced dimensions are neighbours, as pixels of NHWC images or rows of matrices are. Other
// axes run on the reference kernel.
#include "backends/reference/kernels/Reduce.hpp"

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/ReduceVectors.hpp"
#include "backends/reference/Kernels.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow QuantizedTypes =
    backends::PerTensor(backends::SameType({DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16}));
constexpr backends::TypeRow ReduceTypes[] = {backends::SameType({DataType::Float32, DataType::Boolean}),
                                             QuantizedTypes};
constexpr backends::TypeRow MeanTypes[] = {backends::SameType(DataType::Float32), QuantizedTypes};

/// The input as [outer, rows, columns]; the rows are reduced.
struct Shape
{
    size_t m_Outer = 1;
    size_t m_Rows = 1;
    size_t m_Columns = 1;
};

/// None if kept and reduced dimensions alternate more than outer, reduced, inner.
std::optional<Shape> FindShape(const TensorShape& shape, const std::vector<unsigned int>& axes)
{
    std::array<bool, MaxNumOfTensorDimensions> isReduced{};
    for (unsigned int axis : axes)
    {
        isReduced[axis] = true;
    }
    Shape found;
    size_t Shape::*at = &Shape::m_Outer;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        if (shape[i] == 1)
        {
            continue;
        }
        if (isReduced[i] && at == &Shape::m_Outer)
        {
            at = &Shape::m_Rows;
        }
        else if (!isReduced[i] && at == &Shape::m_Rows)
        {
            at = &Shape::m_Columns;
        }
        else if (isReduced[i] && at == &Shape::m_Columns)
        {
            return std::nullopt;
        }
        found.*at *= shape[i];
    }
    return found;
}

/// The index of a type in ReduceFunctions.
size_t GetIndex(DataType type)
{
    switch (type)
    {
    case DataType::Float32: return 0;
    case DataType::QAsymmS8: return 1;
    case DataType::QAsymmU8:
    case DataType::Boolean: return 2;
    default: return 3;
    }
}

/// The index of an operation in ReduceFunctions.
size_t GetIndex(ReduceOperation operation)
{
    switch (operation)
    {
    case ReduceOperation::Max: return 1;
    case ReduceOperation::Min: return 2;
    case ReduceOperation::Any: return 3;
    case ReduceOperation::All: return 4;
    case ReduceOperation::Prod: return 5;
    default: return 0;
    }
}

/// The loops of a layer. Results go to `out`, which has elements of type Lane.
class Reduction
{
public:
    Reduction(const Shape& shape, size_t operation, DataType type, size_t resultBytes)
        : m_Shape(shape), m_ElementBytes(GetDataTypeSize(type)), m_ResultBytes(resultBytes),
          m_Columns(GetReduceFunctions().m_Columns[operation][GetIndex(type)]),
          m_Rows(GetReduceFunctions().m_Rows[operation][GetIndex(type)])
    {
        // If rows are few and columns many, columns are split over threads, too.
        constexpr size_t Few = 8;
        constexpr size_t TaskBytes = 256;
        m_Blocks = shape.m_Outer < Few ? std::clamp<size_t>(shape.m_Columns * m_ElementBytes / TaskBytes, 1, Few) : 1;
    }

    void Run(IParallelFor& parallel, const std::byte* in, std::byte* out) const
    {
        if (m_Shape.m_Columns == 1)
        {
            const size_t length = m_Shape.m_Rows;
            RunRanges(
                parallel, m_Shape.m_Outer, GetGrain(length * m_ElementBytes),
                [&](size_t begin, size_t end)
                { m_Rows(in + begin * length * m_ElementBytes, end - begin, length, out + begin * m_ResultBytes); });
            return;
        }
        const size_t blocks = parallel.GetNumThreads() > 1 ? m_Blocks : 1;
        const size_t grain = GetGrain(m_Shape.m_Rows * m_Shape.m_Columns * m_ElementBytes / blocks);
        RunRanges(parallel, m_Shape.m_Outer * blocks, grain,
                  [&](size_t begin, size_t end)
                  {
                      for (size_t unit = begin; unit < end; ++unit)
                      {
                          const size_t outer = unit / blocks;
                          const IndexRange part =
                              GetTaskRange(m_Shape.m_Columns, blocks, unit % blocks, LineBytes / m_ElementBytes);
                          m_Columns(in + (outer * m_Shape.m_Rows * m_Shape.m_Columns + part.m_Begin) * m_ElementBytes,
                                    m_Shape.m_Rows, m_Shape.m_Columns, part.m_End - part.m_Begin,
                                    out + (outer * m_Shape.m_Columns + part.m_Begin) * m_ResultBytes);
                      }
                  });
    }

private:
    static constexpr size_t LineBytes = 64;

    Shape m_Shape;
    size_t m_ElementBytes;
    size_t m_ResultBytes;
    ReduceFunction m_Columns;
    ReduceRowsFunction m_Rows;
    size_t m_Blocks = 1;
};

/// The loops of sums that may exceed 32 bits: blocks of rows are summed in int32, and the blocks in int64.
class LongSum
{
public:
    LongSum(const Shape& shape, DataType type)
        : m_Shape(shape), m_ElementBytes(GetDataTypeSize(type)), m_MaxRows(MaxRowsOfSum(type)),
          m_Columns(GetReduceFunctions().m_Columns[0][GetIndex(type)]),
          m_Rows(GetReduceFunctions().m_Rows[0][GetIndex(type)])
    {
        constexpr size_t TaskColumns = 256;
        m_Tasks = std::clamp<size_t>(shape.m_Columns / TaskColumns, 1, MaxTasks);
    }

    /// `sums` and `blockSums`: [outer][columns].
    void Run(IParallelFor& parallel, const std::byte* in, int64_t* sums, int32_t* blockSums) const
    {
        RunRanges(parallel, m_Shape.m_Outer * m_Tasks, 1,
                  [&](size_t begin, size_t end)
                  {
                      for (size_t unit = begin; unit < end; ++unit)
                      {
                          const IndexRange columns = GetTaskRange(m_Shape.m_Columns, m_Tasks, unit % m_Tasks);
                          Sum(in, unit / m_Tasks, columns, sums, blockSums);
                      }
                  });
    }

private:
    void Sum(const std::byte* in, size_t outer, const IndexRange& columns, int64_t* sums, int32_t* blockSums) const
    {
        const size_t width = columns.m_End - columns.m_Begin;
        const size_t at = outer * m_Shape.m_Columns + columns.m_Begin;
        std::fill_n(sums + at, width, int64_t{0});
        for (size_t row = 0; row < m_Shape.m_Rows; row += m_MaxRows)
        {
            const size_t rows = std::min(m_MaxRows, m_Shape.m_Rows - row);
            const size_t first = (outer * m_Shape.m_Rows + row) * m_Shape.m_Columns + columns.m_Begin;
            const std::byte* from = in + first * m_ElementBytes;
            m_Shape.m_Columns == 1 ? m_Rows(from, 1, rows, blockSums + at)
                                   : m_Columns(from, rows, m_Shape.m_Columns, width, blockSums + at);
            std::transform(sums + at, sums + at + width, blockSums + at, sums + at,
                           [](int64_t sum, int32_t block) { return sum + block; });
        }
    }

    static constexpr size_t MaxTasks = 8;

    Shape m_Shape;
    size_t m_ElementBytes;
    size_t m_MaxRows;
    ReduceFunction m_Columns;
    ReduceRowsFunction m_Rows;
    size_t m_Tasks; ///< ranges of columns, each a task
};

template <typename T, typename Rescale>
void RescaleLongSums(const Rescale& rescale, const int64_t* sums, size_t count, void* out)
{
    std::transform(sums, sums + count, static_cast<T*>(out),
                   [&](int64_t sum) { return rescale.template Apply<T>(sum); });
}

template <typename Rescale>
auto ChooseRescaleLongSums(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmS8: return RescaleLongSums<int8_t, Rescale>;
    case DataType::QAsymmU8: return RescaleLongSums<uint8_t, Rescale>;
    default: return RescaleLongSums<int16_t, Rescale>;
    }
}

template <typename Rescale>
Prepared MakeLongQuantizedSum(const Rescale& rescale, const Shape& shape, DataType type)
{
    const size_t count = shape.m_Outer * shape.m_Columns;
    backends::Scratch scratch;
    const size_t sumsOffset = scratch.Add<int64_t>(count);
    const size_t blockOffset = scratch.Add<int32_t>(count);
    return {[=, sum = LongSum(shape, type), apply = ChooseRescaleLongSums<Rescale>(type)](const ExecuteArgs& run)
            {
                auto* const sums = backends::Scratch::At<int64_t>(run.m_Scratch, sumsOffset);
                sum.Run(*run.m_Parallel, run.GetInput<std::byte>(0), sums,
                        backends::Scratch::At<int32_t>(run.m_Scratch, blockOffset));
                apply(rescale, sums, count, run.GetOutput<std::byte>(0));
            },
            scratch.GetBytes()};
}

/// Sums of quantized values to quantized sums or means, as the reference kernel computes them. `functions`: by type.
template <typename Rescale>
Prepared MakeRescaledSum(const Rescale& sumRescale, const RescaleSums<Rescale> (&functions)[4], const Shape& shape,
                         DataType type)
{
    if (shape.m_Rows > MaxRowsOfSum(type))
    {
        return MakeLongQuantizedSum(sumRescale, shape, type);
    }
    const size_t count = shape.m_Outer * shape.m_Columns;
    return {[rescale = sumRescale, apply = functions[GetIndex(type)],
             reduction = Reduction(shape, 0, type, sizeof(int32_t)), count](const ExecuteArgs& run)
            {
                reduction.Run(*run.m_Parallel, run.GetInput<std::byte>(0), static_cast<std::byte*>(run.m_Scratch));
                apply(rescale, static_cast<const int32_t*>(run.m_Scratch), count, run.GetOutput<std::byte>(0));
            },
            backends::CheckedCount(count, sizeof(int32_t))};
}

Prepared MakeQuantizedSum(const ReshapeArgs& args, const Shape& shape, bool isMean, RequantizationMode mode)
{
    const DataType type = args.GetInput(0).GetDataType();
    const ref::TensorQuantization input = ref::GetTensorQuantization(args.GetInput(0));
    const ref::TensorQuantization output = ref::GetTensorQuantization(args.GetOutput(0));
    const ReduceFunctions& functions = GetReduceFunctions();
    return mode == RequantizationMode::FloatHalfEven
               ? MakeRescaledSum(ref::HalfEvenMean(input, output, shape.m_Rows), functions.m_RescaleHalfEven, shape,
                                 type)
               : MakeRescaledSum(ref::SumRescale(input, output, shape.m_Rows, isMean), functions.m_Rescale, shape,
                                 type);
}

Prepared MakeFloatMean(const Shape& shape)
{
    const Reduction reduction(shape, 0, DataType::Float32, sizeof(float));
    const size_t count = shape.m_Outer * shape.m_Columns;
    return [reduction, count, divisor = static_cast<float>(shape.m_Rows)](const ExecuteArgs& run)
    {
        reduction.Run(*run.m_Parallel, run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0));
        float* out = run.GetOutput<float>(0);
        for (size_t i = 0; i < count; ++i)
        {
            out[i] /= divisor;
        }
    };
}

Prepared MakePlain(const Shape& shape, size_t operation, DataType type)
{
    return [reduction = Reduction(shape, operation, type, GetDataTypeSize(type))](const ExecuteArgs& run)
    { reduction.Run(*run.m_Parallel, run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0)); };
}

/// Prepares a layer whose axes and shapes the reference kernel has checked. `mode`: of quantized means.
Prepared PrepareOperation(const ReshapeArgs& args, ReduceOperation operation, const std::vector<unsigned int>& axes,
                          RequantizationMode mode = RequantizationMode::FixedPoint)
{
    const DataType type = args.GetInput(0).GetDataType();
    if (args.GetInput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("the input is empty");
    }
    if (operation == ReduceOperation::Prod && type != DataType::Float32)
    {
        return Prepared::Declined("it has no products of other numbers than floats");
    }
    const std::optional<Shape> shape = FindShape(args.GetInput(0).GetShape(), axes);
    if (!shape)
    {
        return Prepared::Declined("kept and reduced dimensions take turns more than once");
    }
    const bool isSum = operation == ReduceOperation::Sum || operation == ReduceOperation::Mean;
    if (!isSum)
    {
        Prepared plain = MakePlain(*shape, GetIndex(operation), type);
        const bool comparesFloats =
            (operation == ReduceOperation::Max || operation == ReduceOperation::Min) && type == DataType::Float32;
        return comparesFloats && ref::ReducesEveryAxis(args, axes) ? ref::KeepFirstNaN<float>(std::move(plain))
                                                                   : std::move(plain);
    }
    const bool isMean = operation == ReduceOperation::Mean;
    if (type != DataType::Float32)
    {
        return MakeQuantizedSum(args, *shape, isMean, mode);
    }
    return isMean ? MakeFloatMean(*shape) : MakePlain(*shape, 0, type);
}

Prepared RefineReduce(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<ReduceDescriptor>();
    return PrepareOperation(args, descriptor.m_ReduceOperation, descriptor.m_vAxis);
}

Prepared RefineMean(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<MeanDescriptor>();
    return PrepareOperation(args, ReduceOperation::Mean, descriptor.m_Axis, descriptor.m_Requantization);
}

} // namespace

extern const backends::Kernel CpuReduceKernel = {
    .m_Name = "CpuReduce", .m_Types = ReduceTypes, .m_Reference = &ref::RefReduceKernel, .m_Refine = RefineReduce};
extern const backends::Kernel CpuMeanKernel = {.m_Name = "CpuMean",
                                               .m_Types = MeanTypes,
                                               .m_RoundsHalfToEven = true,
                                               .m_Reference = &ref::RefMeanKernel,
                                               .m_Refine = RefineMean};

} // namespace tenon::cpu
