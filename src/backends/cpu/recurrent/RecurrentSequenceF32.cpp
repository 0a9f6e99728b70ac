// SPDX-License-Identifier: Apache-2.0
// RecurrentSequence of floats with constant weights. For each direction, with x [T][B][n], W [gates * H][n] and R
// [gates * H][H]:
//     sums[t][b] = W x[t][b] + biases                  one product for all steps and directions: [T][B][D][gates * H]
//     h[t][b] = cell(sums[t][b], R h[t - 1][b])        one product a step; two for a GRU that resets first
// where the cell is that of an RNN, GRU or LSTM (reference/kernels/RecurrentSequence.cpp). Directions, and ranges of
// the batch, run in parallel. Other layers run on the reference kernel.
#include "backends/common/PackedStore.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/gemm/kernels/f32/AxpyF32.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/gemm/pack/PanelsF32.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/recurrent/GateWeights.hpp"
#include "backends/cpu/recurrent/SequenceCell.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/reference/Kernels.hpp"
#include "common/OneThread.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using ref::SequenceGeometry;

constexpr backends::TypeRow FloatTypes[] = {backends::SameType(DataType::Float32, 4)};

/// The stride of weights in floats. Rows that are a multiple of a page apart would share few sets of a cache.
uint64_t FindStepStride(uint64_t columns)
{
    constexpr uint64_t Page = 1024;
    const uint64_t lanes = GetMicrokernelsF32().m_Lanes;
    const uint64_t padded = DivideUp(columns, lanes) * lanes;
    return padded % Page == 0 ? padded + lanes : padded;
}

WeightSizes FindStepSizes(size_t columns, size_t depth)
{
    const size_t lanes = GetMicrokernelsF32().m_Lanes;
    return {1, DivideUp(columns, lanes) * lanes, depth, 0, FindStepStride(columns)};
}

/// The least bytes of weights a task: reading them takes several times as long as starting a thread.
constexpr size_t StepTaskBytes = size_t{1} << 18;
constexpr size_t MinStepColumns = 64; ///< several cache lines of the output
/// Measured with AVX-512: tiles of four rows take 0.85 times as long, of one row of few units 1.2 times.
constexpr size_t MaxRowsOfSums = AxpyF32::MaxRows - 1;

/// Packed weights [depth][columns], padded to whole vectors, for any number of rows:
///     weights [depth][stride]: stride = columns in whole vectors, one vector more if it were a multiple of a page
class StepWeightsF32
{
public:
    /// `weights`: [columns][depth].
    StepWeightsF32(const float* weights, size_t columns, size_t depth, backends::PackedStore& store);

    /// The bytes of packed weights.
    static uint64_t GetPackedBytes(uint64_t columns, uint64_t depth);

    const float* GetData() const { return m_Data.As<float>(); }
    const PanelsF32& GetPanels() const { return m_Panels; }
    size_t GetDepth() const { return m_Panels.GetSizes().m_Depth; }
    size_t GetColumns() const { return m_Panels.GetSizes().m_Columns; } ///< with the padding of the last vector
    size_t GetStride() const { return m_Panels.GetSizes().m_InPlaceStride; }

private:
    PanelsF32 m_Panels;
    backends::PackedBlock m_Data;
};

/// sums[rows][columns] = states[rows][depth] * weights[depth][columns], the product of each step, of known shape. Up to
/// MaxRowsOfSums rows read the weights in place; more rows go through the tiles of GemmF32. Tasks are ranges of
/// columns. Results do not depend on the number of threads.
class StepGemmF32
{
public:
    /// The weights must outlive this object.
    StepGemmF32(const StepWeightsF32& weights, size_t rows);

    size_t GetScratchBytes() const { return m_Gemm ? m_Gemm->GetTaskBytes() * m_ColumnTasks : 0; }
    /// sums[row][column] = data[row] * weights
    void Run(const float* data, float* sums, std::byte* scratch, IParallelFor& parallel) const;

private:
    void RunTask(const float* data, float* sums, std::byte* scratch, size_t task) const;

    const StepWeightsF32* m_Weights;
    size_t m_Rows;
    size_t m_ColumnTasks;
    std::optional<GemmF32> m_Gemm; ///< for more than MaxRowsOfSums rows
};

StepWeightsF32::StepWeightsF32(const float* weights, size_t columns, size_t depth, backends::PackedStore& store)
    : m_Panels(FindStepSizes(columns, depth))
{
    const size_t stride = GetStride();
    m_Data = store.GetBlock(depth * stride * sizeof(float),
                            [&](std::byte* to)
                            {
                                auto* const floats = reinterpret_cast<float*>(to);
                                std::fill_n(floats, depth * stride, 0.0f);
                                TransposeFloats(weights, depth, depth, columns, floats, stride);
                            });
}

uint64_t StepWeightsF32::GetPackedBytes(uint64_t columns, uint64_t depth)
{
    return FindStepStride(columns) * depth * sizeof(float);
}

StepGemmF32::StepGemmF32(const StepWeightsF32& weights, size_t rows)
    : m_Weights(&weights), m_Rows(rows),
      m_ColumnTasks(
          std::clamp<size_t>(std::min(weights.GetColumns() * weights.GetDepth() * sizeof(float) / StepTaskBytes,
                                      weights.GetColumns() / MinStepColumns),
                             1, GetFixedTasks()))
{
    if (rows > MaxRowsOfSums)
    {
        m_Gemm.emplace(weights.GetPanels(), MakeMatrixIm2col(rows, weights.GetDepth()), rows, 1);
        m_ColumnTasks = std::min(m_ColumnTasks, weights.GetPanels().Get().size());
    }
}

void StepGemmF32::Run(const float* data, float* sums, std::byte* scratch, IParallelFor& parallel) const
{
    RunTasks(parallel, m_ColumnTasks, [&](size_t task) { RunTask(data, sums, scratch, task); });
}

void StepGemmF32::RunTask(const float* data, float* sums, std::byte* scratch, size_t task) const
{
    if (m_Gemm)
    {
        const IndexRange panels = GetTaskRange(m_Weights->GetPanels().Get().size(), m_ColumnTasks, task);
        m_Gemm->RunRange(data, m_Weights->GetData(), nullptr, sums, {0, m_Rows, panels.m_Begin, panels.m_End},
                         scratch + task * m_Gemm->GetTaskBytes());
        return;
    }
    const size_t columns = m_Weights->GetColumns();
    const IndexRange range = GetTaskRange(columns, m_ColumnTasks, task, GetMicrokernelsF32().m_Lanes);
    RunAxpyF32({data, m_Weights->GetDepth(), 1, m_Weights->GetData() + range.m_Begin, m_Weights->GetStride(), m_Rows,
                range.m_End - range.m_Begin, m_Weights->GetDepth(), sums + range.m_Begin, columns});
}

struct Sizes
{
    explicit Sizes(const LayerView& layer)
        : m_Inputs(layer.GetInput(SequenceGeometry::Weights).GetShape()[2]),
          m_Units(layer.GetInput(SequenceGeometry::Recurrent).GetShape()[2]),
          m_Sums(layer.GetInput(SequenceGeometry::Recurrent).GetShape()[1]),
          m_Directions(layer.GetInput(SequenceGeometry::Recurrent).GetShape()[0])
    {
    }

    unsigned int m_Inputs;
    unsigned int m_Units;
    unsigned int m_Sums; ///< sums of a row of one direction, all gates
    unsigned int m_Directions;
};

bool HasElements(const TensorShape& shape)
{
    return shape.AreAllDimensionsSpecified() && shape.GetNumDimensions() == 3 && shape.GetNumElements64() != 0;
}

/// Whether the cell is a GRU that multiplies the reset state by the weights of gate h, in a product of its own.
bool ResetsBefore(const RecurrentSequenceDescriptor& descriptor)
{
    return descriptor.m_Cell == RecurrentCell::Gru && !descriptor.m_LinearBeforeReset;
}

SupportResult Check(const LayerView& layer)
{
    const auto refuse = [](const char* reason)
    { return SupportResult::No(SupportCode::UnsupportedParameters, reason); };
    if (!HasElements(layer.GetInput(SequenceGeometry::Weights).GetShape()) ||
        !HasElements(layer.GetInput(SequenceGeometry::Recurrent).GetShape()))
    {
        return refuse("the weights have no three known dimensions with elements");
    }
    const Sizes s(layer);
    const auto& descriptor = layer.GetDescriptor<RecurrentSequenceDescriptor>();
    const unsigned int gates = descriptor.m_Cell == RecurrentCell::Lstm  ? 4
                               : descriptor.m_Cell == RecurrentCell::Gru ? 3
                                                                         : 1;
    const auto isConstant = [&](size_t input, const TensorShape& shape)
    { return !layer.HasInput(input) || IsConstantOf(layer, input, shape); };
    if (s.m_Directions != descriptor.GetNumDirections() || uint64_t{s.m_Units} * gates != s.m_Sums ||
        !isConstant(SequenceGeometry::Weights, {s.m_Directions, s.m_Sums, s.m_Inputs}) ||
        !isConstant(SequenceGeometry::Recurrent, {s.m_Directions, s.m_Sums, s.m_Units}) ||
        !isConstant(SequenceGeometry::Bias, {s.m_Directions, 2 * s.m_Sums}) ||
        !isConstant(SequenceGeometry::Peepholes, {s.m_Directions, 3 * s.m_Units}))
    {
        return refuse("its weights, biases and peephole weights are not all constant");
    }
    const SupportResult ofData =
        CheckPackedSize(PackedWeightsF32::GetPackedBytes({1, size_t{s.m_Directions} * s.m_Sums, s.m_Inputs}),
                        layer.GetInput(SequenceGeometry::Weights).GetNumBytes());
    return ofData ? CheckPackedSize(s.m_Directions * StepWeightsF32::GetPackedBytes(s.m_Sums, s.m_Units),
                                    layer.GetInput(SequenceGeometry::Recurrent).GetNumBytes())
                  : ofData;
}

class PackedSequence final : public backends::PackedWeights
{
public:
    PackedSequence(const LayerView& layer, backends::PackedStore& store)
        : PackedSequence(layer, Sizes(layer), layer.GetDescriptor<RecurrentSequenceDescriptor>(), store)
    {
    }

    const PackedWeightsF32& GetData() const { return m_Data; }
    /// The biases of the sums; null: zeros.
    const float* GetBias() const { return m_Bias.empty() ? nullptr : m_Bias.data(); }
    /// The recurrent weights of all gates, or of z and r alone if the cell resets its state before the product.
    const StepWeightsF32& GetState(size_t direction) const { return m_State[direction]; }
    /// The recurrent weights of gate h of such a cell.
    const StepWeightsF32& GetReset(size_t direction) const { return m_Reset[direction]; }
    const float* GetHiddenBias(size_t direction) const { return m_HiddenBias.data() + direction * m_Units; }
    const float* GetPeepholes(size_t direction) const
    {
        return m_Peepholes.empty() ? nullptr : m_Peepholes.data() + direction * 3 * m_Units;
    }

private:
    PackedSequence(const LayerView& layer, const Sizes& s, const RecurrentSequenceDescriptor& descriptor,
                   backends::PackedStore& store)
        : m_Units(s.m_Units), m_Data(FloatWeights(layer, SequenceGeometry::Weights),
                                     {1, size_t{s.m_Directions} * s.m_Sums, s.m_Inputs}, WeightOrder::Columns, store),
          m_HiddenBias(size_t{s.m_Directions} * s.m_Units)
    {
        const size_t units = s.m_Units;
        const size_t sums = s.m_Sums;
        const size_t first = ResetsBefore(descriptor) ? 2 * units : sums;
        const auto* const recurrent = static_cast<const float*>(layer.GetConstantData(SequenceGeometry::Recurrent));
        m_State.reserve(s.m_Directions);
        m_Reset.reserve(s.m_Directions);
        for (size_t direction = 0; direction < s.m_Directions; ++direction)
        {
            const float* const of = recurrent + direction * sums * units;
            m_State.emplace_back(of, first, units, store);
            if (first != sums)
            {
                m_Reset.emplace_back(of + first * units, sums - first, units, store);
            }
        }
        if (layer.HasInput(SequenceGeometry::Bias))
        {
            JoinBiases(static_cast<const float*>(layer.GetConstantData(SequenceGeometry::Bias)), s,
                       descriptor.m_Cell == RecurrentCell::Gru && descriptor.m_LinearBeforeReset);
        }
        if (layer.HasInput(SequenceGeometry::Peepholes))
        {
            m_Peepholes = JoinConstants<float>(layer, {SequenceGeometry::Peepholes});
        }
    }

    /// Adds the biases of data and state. `isLastApart`: the recurrent bias of the last gate is left out and goes to
    /// m_HiddenBias, as it is multiplied first.
    void JoinBiases(const float* biases, const Sizes& s, bool isLastApart)
    {
        for (size_t direction = 0; direction < s.m_Directions; ++direction, biases += size_t{2} * s.m_Sums)
        {
            const float* const recurrent = biases + s.m_Sums;
            const size_t joined = s.m_Sums - (isLastApart ? s.m_Units : 0);
            m_Bias.insert(m_Bias.end(), biases, biases + s.m_Sums);
            float* const to = m_Bias.data() + direction * s.m_Sums;
            std::transform(to, to + joined, recurrent, to, std::plus<>());
            std::copy(recurrent + joined, recurrent + s.m_Sums, m_HiddenBias.data() + direction * s.m_Units);
        }
    }

    size_t m_Units;
    PackedWeightsF32 m_Data;
    std::vector<StepWeightsF32> m_State; ///< one a direction
    std::vector<StepWeightsF32> m_Reset; ///< one a direction, or none
    std::vector<float> m_Bias;
    std::vector<float> m_HiddenBias;
    std::vector<float> m_Peepholes;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedSequence>(layer, store);
}

/// One direction of some sequences of the batch; one thread runs all their steps.
class SequenceTask
{
public:
    /// Reserves its buffers in `scratch`.
    SequenceTask(const RecurrentSequenceDescriptor& descriptor, const SequenceGeometry& geometry,
                 const PackedSequence& packed, size_t direction, const IndexRange& batches, Scratch& scratch)
        : m_Direction(direction), m_Batches(batches),
          m_Cell(descriptor, geometry, direction, packed.GetHiddenBias(direction), packed.GetPeepholes(direction)),
          m_FromState(packed.GetState(direction), CountRows()), m_StateColumns(packed.GetState(direction).GetColumns()),
          m_State(scratch.Add<float>(CountRows(), geometry.m_Units)),
          m_CellState(scratch.Add<float>(CountRows(), geometry.m_Units)),
          m_StateSums(scratch.Add<float>(CountRows(), m_StateColumns))
    {
        size_t product = m_FromState.GetScratchBytes();
        if (m_Cell.ResetsBefore())
        {
            m_FromReset.emplace(packed.GetReset(direction), CountRows());
            m_ResetColumns = packed.GetReset(direction).GetColumns();
            m_ResetState = scratch.Add<float>(CountRows(), geometry.m_Units);
            m_ResetSums = scratch.Add<float>(CountRows(), m_ResetColumns);
            product = std::max(product, m_FromReset->GetScratchBytes());
        }
        m_ProductScratch = scratch.Add<std::byte>(product);
    }

    /// `dataSums`: the sums of all steps, sequences and directions.
    void Run(const ExecuteArgs& args, const SequenceGeometry& g, const float* dataSums, IParallelFor& parallel) const
    {
        LoadState(args, g, SequenceGeometry::State, m_State);
        LoadState(args, g, SequenceGeometry::CellState, m_CellState);
        size_t steps = 0;
        for (size_t batch = m_Batches.m_Begin; batch < m_Batches.m_End; ++batch)
        {
            steps = std::max(steps, g.GetLength(args, batch));
        }
        for (size_t step = 0; step < steps; ++step)
        {
            Step(args, g, dataSums, step, parallel);
        }
        for (size_t step = steps; step < g.m_Steps; ++step)
        {
            for (size_t batch = m_Batches.m_Begin; batch < m_Batches.m_End; ++batch)
            {
                std::fill_n(GetOutput(args, g, step, batch), g.m_Units, 0.0f);
            }
        }
        StoreState(args, g, m_State, 1);
        if (args.m_Outputs.size() > 2)
        {
            StoreState(args, g, m_CellState, 2);
        }
    }

private:
    size_t CountRows() const { return m_Batches.m_End - m_Batches.m_Begin; }
    float* GetOutput(const ExecuteArgs& args, const SequenceGeometry& g, size_t time, size_t batch) const
    {
        return args.GetOutput<float>(0) + g.GetOutput(time, m_Direction, batch);
    }

    void LoadState(const ExecuteArgs& args, const SequenceGeometry& g, size_t input, size_t offset) const
    {
        float* to = Scratch::At<float>(args.m_Scratch, offset);
        for (size_t batch = m_Batches.m_Begin; batch < m_Batches.m_End; ++batch, to += g.m_Units)
        {
            if (g.m_HasInput[input] && g.GetLength(args, batch) != 0)
            {
                std::copy_n(args.GetInput<float>(input) + g.GetState(m_Direction, batch), g.m_Units, to);
            }
            else
            {
                std::fill_n(to, g.m_Units, 0.0f);
            }
        }
    }

    void StoreState(const ExecuteArgs& args, const SequenceGeometry& g, size_t offset, size_t output) const
    {
        const float* from = Scratch::At<float>(args.m_Scratch, offset);
        for (size_t batch = m_Batches.m_Begin; batch < m_Batches.m_End; ++batch, from += g.m_Units)
        {
            std::copy_n(from, g.m_Units, args.GetOutput<float>(output) + g.GetState(m_Direction, batch));
        }
    }

    /// Calls f(row, data sums, time) for each sequence that has this step.
    template <typename F>
    void ForEachRow(const ExecuteArgs& args, const SequenceGeometry& g, const float* dataSums, size_t step,
                    const F& f) const
    {
        for (size_t row = 0; row < CountRows(); ++row)
        {
            const size_t batch = m_Batches.m_Begin + row;
            const size_t length = g.GetLength(args, batch);
            if (step < length)
            {
                const size_t time = g.IsReverse(m_Direction) ? length - 1 - step : step;
                f(row, dataSums + (g.GetDataRow(time, batch) * g.m_Directions + m_Direction) * g.Sums(), time);
            }
        }
    }

    void Step(const ExecuteArgs& args, const SequenceGeometry& g, const float* dataSums, size_t step,
              IParallelFor& parallel) const
    {
        auto* const state = Scratch::At<float>(args.m_Scratch, m_State);
        auto* const stateSums = Scratch::At<float>(args.m_Scratch, m_StateSums);
        auto* const product = Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch);
        m_FromState.Run(state, stateSums, product, parallel);
        if (m_Cell.ResetsBefore())
        {
            auto* const resetState = Scratch::At<float>(args.m_Scratch, m_ResetState);
            auto* const resetSums = Scratch::At<float>(args.m_Scratch, m_ResetSums);
            ForEachRow(args, g, dataSums, step,
                       [&](size_t row, const float* ofData, size_t) {
                           m_Cell.RunGates(ofData, stateSums + row * m_StateColumns, state + row * g.m_Units,
                                           resetState + row * g.m_Units);
                       });
            m_FromReset->Run(resetState, resetSums, product, parallel);
            ForEachRow(args, g, dataSums, step,
                       [&](size_t row, const float* ofData, size_t)
                       {
                           m_Cell.RunHidden(ofData, resetSums + row * m_ResetColumns, stateSums + row * m_StateColumns,
                                            state + row * g.m_Units);
                       });
        }
        auto* const cellState = Scratch::At<float>(args.m_Scratch, m_CellState);
        for (size_t batch = m_Batches.m_Begin; batch < m_Batches.m_End; ++batch)
        {
            if (step >= g.GetLength(args, batch))
            {
                std::fill_n(GetOutput(args, g, step, batch), g.m_Units, 0.0f);
            }
        }
        ForEachRow(args, g, dataSums, step,
                   [&](size_t row, const float* ofData, size_t time)
                   {
                       float* const ofRow = state + row * g.m_Units;
                       if (!m_Cell.ResetsBefore())
                       {
                           m_Cell.Run(ofData, stateSums + row * m_StateColumns, cellState + row * g.m_Units, ofRow);
                       }
                       std::copy_n(ofRow, g.m_Units, GetOutput(args, g, time, m_Batches.m_Begin + row));
                   });
    }

    size_t m_Direction;
    IndexRange m_Batches;
    SequenceCell m_Cell;
    StepGemmF32 m_FromState;
    size_t m_StateColumns;
    std::optional<StepGemmF32> m_FromReset;
    size_t m_ResetColumns = 0;
    size_t m_State; ///< offset in scratch memory, as the next members
    size_t m_CellState;
    size_t m_StateSums;
    size_t m_ResetState = 0;
    size_t m_ResetSums = 0;
    size_t m_ProductScratch = 0;
};

/// A layer of known shapes.
class Sequence
{
public:
    Sequence(const ReshapeArgs& args, const SequenceGeometry& geometry, const PackedSequence& packed)
        : m_Geometry(geometry), m_Bias(packed.GetBias()),
          m_FromData(packed.GetData(), MakeMatrixIm2col(CountDataRows(), geometry.m_Inputs), CountDataRows(),
                     backends::FloatClamp(), args.m_MaxThreads)
    {
        Scratch scratch;
        m_DataSums = scratch.Add<float>(CountDataRows(), geometry.m_Directions, geometry.Sums());
        m_ProductScratch = scratch.Add<std::byte>(m_FromData.GetScratchBytes());
        const size_t batchTasks = CountBatchTasks();
        for (size_t direction = 0; direction < geometry.m_Directions; ++direction)
        {
            for (size_t part = 0; part < batchTasks; ++part)
            {
                m_Tasks.emplace_back(args.GetDescriptor<RecurrentSequenceDescriptor>(), geometry, packed, direction,
                                     GetTaskRange(geometry.m_Batches, batchTasks, part), scratch);
            }
        }
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        m_Geometry.CheckLengths(args);
        auto* const dataSums = Scratch::At<float>(args.m_Scratch, m_DataSums);
        m_FromData.Run(args.GetInput<float>(SequenceGeometry::Data), m_Bias, dataSums,
                       Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch), *args.m_Parallel);
        if (m_Tasks.size() == 1 || !IsWorthThreads())
        {
            // StepGemmF32 splits the product of each step over threads if it is large enough.
            for (const SequenceTask& part : m_Tasks)
            {
                part.Run(args, m_Geometry, dataSums, *args.m_Parallel);
            }
            return;
        }
        RunTasks(*args.m_Parallel, m_Tasks.size(),
                 [&](size_t part)
                 {
                     OneThread alone;
                     m_Tasks[part].Run(args, m_Geometry, dataSums, alone);
                 });
    }

private:
    size_t CountDataRows() const { return backends::CheckedCount(m_Geometry.m_Steps, m_Geometry.m_Batches); }
    double CountMultiplications() const
    {
        return static_cast<double>(CountDataRows()) * static_cast<double>(m_Geometry.m_Directions) *
               static_cast<double>(m_Geometry.Sums()) * static_cast<double>(m_Geometry.m_Units);
    }
    bool IsWorthThreads() const { return GetWorthwhileTasks(CountMultiplications()) > 1; }

    /// Tasks along the batch. The sequences of a task share each read of the weights.
    size_t CountBatchTasks() const
    {
        constexpr size_t MinRows = 4;
        const size_t parts = std::min(GetFixedTasks(), GetWorthwhileTasks(CountMultiplications()));
        return std::clamp<size_t>(m_Geometry.m_Batches / MinRows, 1, DivideUp(parts, m_Geometry.m_Directions));
    }

    SequenceGeometry m_Geometry;
    const float* m_Bias;
    GemmF32 m_FromData;
    std::vector<SequenceTask> m_Tasks;
    size_t m_DataSums = 0; ///< offset in scratch memory, as the next members
    size_t m_ProductScratch = 0;
    size_t m_ScratchBytes = 0;
};

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const SequenceGeometry geometry(args);
    if (args.GetInput(SequenceGeometry::Data).GetNumElements() == 0)
    {
        return Prepared::Declined("the data are empty");
    }
    const auto sequence = std::make_shared<const Sequence>(args, geometry, static_cast<const PackedSequence&>(*packed));
    return {[sequence](const ExecuteArgs& run) { (*sequence)(run); }, sequence->GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuRecurrentSequenceF32Kernel = {.m_Name = "CpuRecurrentSequenceF32",
                                                               .m_Types = FloatTypes,
                                                               .m_Prepare = Prepare,
                                                               .m_Check = Check,
                                                               .m_Pack = Pack,
                                                               .m_Reference = &ref::RefRecurrentSequenceKernel};

} // namespace tenon::cpu
