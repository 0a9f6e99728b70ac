// SPDX-License-Identifier: Apache-2.0
// The normalizations of CpuAcc, of floats: layer, L2, instance and batch; L2 of bytes, too.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/L2NormBytes.hpp"
#include "backends/cpu/kernels/NormVectors.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/Descriptors.hpp>

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

template <LayerType Type>
SupportResult Check(const LayerView& layer)
{
    return ref::FindKernel(Type)->m_Check(layer);
}

template <LayerType Type>
Prepared PrepareReference(const ReshapeArgs& args)
{
    return ref::FindKernel(Type)->Prepare(args, nullptr);
}

/// Calls function(input, count, output) for parts of the rows.
template <typename T = float, typename F>
void RunRows(const ExecuteArgs& run, size_t rows, size_t depth, const F& function)
{
    constexpr size_t BytesPerElement = 16; // what the arithmetic costs, in bytes moved
    RunRanges(*run.m_Parallel, rows, GetGrain(BytesPerElement * depth),
              [&](size_t begin, size_t end)
              { function(run.GetInput<T>(0) + begin * depth, end - begin, run.GetOutput<T>(0) + begin * depth); });
}

Prepared PrepareLayer(const ReshapeArgs& args, const backends::PackedWeights*)
{
    Prepared reference = PrepareReference<LayerType::LayerNormalization>(args); // checks shapes
    const auto& descriptor = args.GetDescriptor<LayerNormalizationDescriptor>();
    const ref::AxisRows rows(args.GetInput(0).GetShape(), descriptor.m_Axis);
    const size_t depth = rows.m_Depth * rows.m_Step;
    if (depth == 0 || descriptor.m_NumAxes != 0)
    {
        return reference;
    }
    const auto stepOf = [&args](size_t input) -> size_t
    { return args.HasInput(input) && args.GetInput(input).GetNumElements() != 1 ? 1 : 0; };
    return [count = rows.m_Outer, depth, epsilon = descriptor.m_Epsilon, hasScale = args.HasInput(1),
            hasBias = args.HasInput(2), scaleStep = stepOf(1), biasStep = stepOf(2),
            function = GetNormFunctions().m_LayerRows](const ExecuteArgs& run)
    {
        const NormParameter scale{hasScale ? run.GetInput<float>(1) : nullptr, scaleStep};
        const NormParameter bias{hasBias ? run.GetInput<float>(2) : nullptr, biasStep};
        RunRows(run, count, depth,
                [&](const float* in, size_t some, float* out)
                { function(in, some, depth, epsilon, scale, bias, out); });
    };
}

Prepared PrepareL2(const ReshapeArgs& args, const backends::PackedWeights*)
{
    Prepared reference = PrepareReference<LayerType::L2Normalization>(args); // checks shapes
    const TensorInfo& input = args.GetInput(0);
    const size_t channels = input.GetShape()[input.GetNumDimensions() - 1];
    if (channels == 0)
    {
        return reference;
    }
    const size_t pixels = input.GetNumElements() / channels;
    if (input.GetDataType() != DataType::Float32)
    {
        const bool isSigned = input.GetDataType() == DataType::QAsymmS8;
        const int32_t zero = input.GetQuantizationOffset() + (isSigned ? 128 : 0);
        if (zero < 0 || zero > 255)
        {
            return reference;
        }
        return [pixels, channels, norm = L2NormBytes{isSigned, static_cast<uint8_t>(zero)}](const ExecuteArgs& run)
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

Prepared PrepareInstance(const ReshapeArgs& args, const backends::PackedWeights*)
{
    PrepareReference<LayerType::InstanceNormalization>(args); // checks shapes
    const auto& descriptor = args.GetDescriptor<InstanceNormalizationDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const size_t pixels = size_t{shape[1]} * shape[2];
    const size_t channels = shape[3];
    return [batches = size_t{shape[0]}, pixels, channels, gamma = descriptor.m_Gamma, beta = descriptor.m_Beta,
            epsilon = descriptor.m_Eps, function = GetNormFunctions().m_Columns](const ExecuteArgs& run)
    {
        // A unit is a cache line of channels of an image.
        constexpr size_t Line = 16;
        const size_t blocks = std::max<size_t>(1, channels / Line);
        RunRanges(*run.m_Parallel, batches * blocks, GetGrain(4 * pixels * Line * sizeof(float)),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t unit = begin; unit < end; ++unit)
                      {
                          const Part part = GetPart(channels, blocks, unit % blocks, Line);
                          const size_t first = unit / blocks * pixels * channels + part.m_Begin;
                          function(run.GetInput<float>(0) + first, pixels, channels, part.m_End - part.m_Begin, epsilon,
                                   gamma, beta, run.GetOutput<float>(0) + first);
                      }
                  });
    };
}

/// Batch normalization: the parameters of a few pixels lie in scratch memory one after the other, so that vectors are
/// full where channels are few.
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
                      if (whole < end) // the last pixels, fewer than a group
                      {
                          affine(in + whole * group, 1, m_Pixels * m_Channels - whole * group, mean, factor, beta,
                                 out + whole * group);
                      }
                  });
    }

private:
    static constexpr size_t Lanes = 16; ///< of the widest vector

    size_t m_Pixels;
    size_t m_Channels;
    size_t m_Repeats;
    float m_Epsilon;
    size_t m_Mean; ///< offsets in the scratch memory
    size_t m_Factor;
    size_t m_Beta;
};

Prepared PrepareBatch(const ReshapeArgs& args, const backends::PackedWeights*)
{
    Prepared reference = PrepareReference<LayerType::BatchNormalization>(args); // checks shapes
    const TensorInfo& data = args.GetInput(0);
    const size_t channels = data.GetShape()[data.GetNumDimensions() - 1];
    if (data.GetNumElements() == 0)
    {
        return reference;
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
    return Check<LayerType::BatchNormalization>(layer);
}

} // namespace

extern const backends::Kernel CpuLayerNormalizationKernel = {"CpuLayerNormalization", LayerTypes, PrepareLayer};
extern const backends::Kernel CpuL2NormalizationKernel = {"CpuL2Normalization", L2Types, PrepareL2,
                                                          Check<LayerType::L2Normalization>};
extern const backends::Kernel CpuInstanceNormalizationKernel = {
    "CpuInstanceNormalization", OneInputTypes, PrepareInstance, Check<LayerType::InstanceNormalization>};
extern const backends::Kernel CpuBatchNormalizationKernel = {"CpuBatchNormalization", BatchTypes, PrepareBatch,
                                                             CheckBatch};

} // namespace tenon::cpu
