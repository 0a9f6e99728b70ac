// SPDX-License-Identifier: Apache-2.0
// Kernel rows of the normalizations: layer, L2, instance and batch normalization of floats, and L2 of int8 and uint8.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/norm/L2NormInt8.hpp"
#include "backends/cpu/norm/NormF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow OneInputTypes[] = {backends::SameType(DataType::Float32)};
constexpr backends::TypeRow L2Types[] = {
    backends::SameType(DataType::Float32),
    backends::PerTensor(backends::SameType(backends::TypeSet{DataType::QAsymmU8, DataType::QAsymmS8}))};
constexpr backends::TypeRow LayerTypes[] = {backends::SameType(DataType::Float32, 3)};
constexpr backends::TypeRow BatchTypes[] = {backends::SameType(DataType::Float32, 4)};

/// Calls function(input, count, output) for ranges of rows, one range a task.
template <typename T = float, typename F>
void RunRows(const ExecuteArgs& run, size_t rows, size_t depth, const F& function)
{
    constexpr size_t BytesPerElement = 16; // the cost of the arithmetic in bytes moved
    RunRanges(*run.m_Parallel, rows, GetGrain(BytesPerElement * depth),
              [&](size_t begin, size_t end)
              { function(run.GetInput<T>(0) + begin * depth, end - begin, run.GetOutput<T>(0) + begin * depth); });
}

Prepared RefineLayer(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<LayerNormalizationDescriptor>();
    const ref::AxisRows rows(args.GetInput(0).GetShape(), descriptor.m_Axis);
    const size_t depth = rows.m_Depth * rows.m_Step;
    if (depth == 0 || descriptor.m_NumAxes != 0)
    {
        return Prepared::Declined("its rows are empty, or not of the last dimensions");
    }
    const auto stepOf = [&args](size_t input) -> size_t
    { return args.HasInput(input) && args.GetInput(input).GetNumElements() != 1 ? 1 : 0; };
    return [count = rows.m_Outer, depth, subtractsMean = descriptor.m_SubtractMean, epsilon = descriptor.m_Epsilon,
            hasScale = args.HasInput(1), hasBias = args.HasInput(2), scaleStep = stepOf(1), biasStep = stepOf(2),
            function = GetNormFunctions().m_LayerRows](const ExecuteArgs& run)
    {
        const NormParameter scale{hasScale ? run.GetInput<float>(1) : nullptr, scaleStep};
        const NormParameter bias{hasBias ? run.GetInput<float>(2) : nullptr, biasStep};
        RunRows(run, count, depth,
                [&](const float* in, size_t some, float* out)
                { function(in, some, depth, subtractsMean, epsilon, scale, bias, out); });
    };
}

Prepared RefineL2(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorInfo& input = args.GetInput(0);
    const size_t channels = input.GetShape()[input.GetNumDimensions() - 1];
    if (channels == 0)
    {
        return Prepared::Declined("it has no channels");
    }
    const size_t pixels = input.GetNumElements() / channels;
    if (input.GetDataType() != DataType::Float32)
    {
        const bool isSigned = input.GetDataType() == DataType::QAsymmS8;
        const int32_t zero = input.GetQuantizationOffset() + (isSigned ? 128 : 0);
        if (zero < 0 || zero > 255)
        {
            return Prepared::Declined("its zero point is none of a byte");
        }
        return [pixels, channels, norm = L2NormInt8{isSigned, static_cast<uint8_t>(zero)}](const ExecuteArgs& run)
        {
            RunRows<uint8_t>(run, pixels, channels,
                             [&](const uint8_t* in, size_t some, uint8_t* out) { norm(in, some, channels, out); });
        };
    }
    return [pixels, channels, epsilon = args.GetDescriptor<L2NormalizationDescriptor>().m_Eps,
            function = GetNormFunctions().m_L2Rows](const ExecuteArgs& run)
    {
        RunRows(run, pixels, channels,
                [&](const float* in, size_t some, float* out) { function(in, some, channels, epsilon, out); });
    };
}

Prepared RefineInstance(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<InstanceNormalizationDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const size_t pixels = size_t{shape[1]} * shape[2];
    const size_t channels = shape[3];
    return [batches = size_t{shape[0]}, pixels, channels, gamma = descriptor.m_Gamma, beta = descriptor.m_Beta,
            epsilon = descriptor.m_Eps, function = GetNormFunctions().m_Columns](const ExecuteArgs& run)
    {
        // A unit of the loop is one cache line of channels of one image.
        constexpr size_t Line = 16;
        const size_t blocks = std::max<size_t>(1, channels / Line);
        RunRanges(*run.m_Parallel, batches * blocks, GetGrain(4 * pixels * Line * sizeof(float)),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t unit = begin; unit < end; ++unit)
                      {
                          const IndexRange part = GetTaskRange(channels, blocks, unit % blocks, Line);
                          const size_t first = unit / blocks * pixels * channels + part.m_Begin;
                          function(run.GetInput<float>(0) + first, pixels, channels, part.m_End - part.m_Begin, epsilon,
                                   gamma, beta, run.GetOutput<float>(0) + first);
                      }
                  });
    };
}

/// Batch normalization. The parameters are repeated for a few pixels in scratch memory, so that vectors are full even
/// if channels are few.
class Batch
{
public:
    Batch(size_t pixels, size_t channels, float epsilon, backends::Scratch& scratch)
        : m_Pixels(pixels), m_Channels(channels), m_Repeats(channels < 2 * Lanes ? Lanes : 1), m_Epsilon(epsilon),
          m_Mean(scratch.Add<float>(channels * m_Repeats)), m_Factor(scratch.Add<float>(channels * m_Repeats)),
          m_Beta(scratch.Add<float>(channels * m_Repeats))
    {
    }

    void operator()(const ExecuteArgs& run) const
    {
        float* mean = backends::Scratch::At<float>(run.m_Scratch, m_Mean);
        float* factor = backends::Scratch::At<float>(run.m_Scratch, m_Factor);
        float* beta = backends::Scratch::At<float>(run.m_Scratch, m_Beta);
        for (size_t i = 0; i < m_Channels * m_Repeats; ++i)
        {
            const size_t c = i % m_Channels;
            mean[i] = run.GetInput<float>(1)[c];
            factor[i] = run.GetInput<float>(4)[c] / std::sqrt(run.GetInput<float>(2)[c] + m_Epsilon);
            beta[i] = run.GetInput<float>(3)[c];
        }
        const size_t group = m_Channels * m_Repeats;
        const auto affine = GetNormFunctions().m_Affine;
        RunRanges(*run.m_Parallel, (m_Pixels + m_Repeats - 1) / m_Repeats, GetGrain(2 * group * sizeof(float)),
                  [&](size_t begin, size_t end)
                  {
                      const size_t whole = std::min(end, m_Pixels / m_Repeats);
                      const float* in = run.GetInput<float>(0);
                      float* out = run.GetOutput<float>(0);
                      affine(in + begin * group, std::max(whole, begin) - begin, group, mean, factor, beta,
                             out + begin * group);
                      if (whole < end) // the last pixels, less than a group
                      {
                          affine(in + whole * group, 1, m_Pixels * m_Channels - whole * group, mean, factor, beta,
                                 out + whole * group);
                      }
                  });
    }

private:
    static constexpr size_t Lanes = 16; ///< lanes of the widest vector

    size_t m_Pixels;
    size_t m_Channels;
    size_t m_Repeats;
    float m_Epsilon;
    size_t m_Mean; ///< offset in scratch memory, as the next members
    size_t m_Factor;
    size_t m_Beta;
};

Prepared RefineBatch(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorInfo& data = args.GetInput(0);
    const size_t channels = data.GetShape()[data.GetNumDimensions() - 1];
    if (data.GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    backends::Scratch scratch;
    const Batch batch(data.GetNumElements() / channels, channels,
                      args.GetDescriptor<BatchNormalizationDescriptor>().m_Eps, scratch);
    return {batch, scratch.GetBytes()};
}

SupportResult CheckBatch(const LayerView& layer)
{
    if (layer.GetInput(4).GetDataType() != DataType::Float32)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "input 4 is not Float32");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuLayerNormalizationKernel = {.m_Name = "CpuLayerNormalization",
                                                             .m_Types = LayerTypes,
                                                             .m_Reference = &ref::RefLayerNormalizationKernel,
                                                             .m_Refine = RefineLayer};
extern const backends::Kernel CpuL2NormalizationKernel = {.m_Name = "CpuL2Normalization",
                                                          .m_Types = L2Types,
                                                          .m_Reference = &ref::RefL2NormalizationKernel,
                                                          .m_Refine = RefineL2};
extern const backends::Kernel CpuInstanceNormalizationKernel = {.m_Name = "CpuInstanceNormalization",
                                                                .m_Types = OneInputTypes,
                                                                .m_Reference = &ref::RefInstanceNormalizationKernel,
                                                                .m_Refine = RefineInstance};
extern const backends::Kernel CpuBatchNormalizationKernel = {.m_Name = "CpuBatchNormalization",
                                                             .m_Types = BatchTypes,
                                                             .m_Check = CheckBatch,
                                                             .m_Reference = &ref::RefBatchNormalizationKernel,
                                                             .m_Refine = RefineBatch};

} // namespace tenon::cpu
