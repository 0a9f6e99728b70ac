// SPDX-License-Identifier: Apache-2.0
// Convolution2d and FullyConnected: one executor per combination of types.
#include "backends/reference/kernels/WeightedSum.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/HybridInput.hpp"
#include "backends/reference/kernels/RowProducts.hpp"
#include "backends/reference/kernels/SumRequantizer.hpp"

#include <functional>
#include <utility>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

/// The part that all combinations share. Patch: element of a gathered window; Acc: type of a sum; BiasType: type of a
/// loaded bias.
template <typename Patch, typename Acc, typename BiasType>
class Base
{
protected:
    Base(const ReshapeArgs& args, const ConvolutionGeometry& g, const void* weights, Scratch& scratch)
        : m_Geometry(g), m_Bias(args), m_Weights(weights), m_Patches(scratch.Add<Patch>(PatchBlock<Patch>, g.Depth())),
          m_Sums(scratch.Add<Acc>(PatchBlock<Patch>, g.m_GroupOutputs)),
          m_BiasRow(scratch.Add<BiasType>(g.m_OutputChannels))
    {
    }

    const BiasType* LoadBias(const ExecuteArgs& args) const
    {
        BiasType* row = Scratch::At<BiasType>(args.m_Scratch, m_BiasRow);
        m_Bias.Load(args, m_Geometry.m_OutputChannels, row);
        return row;
    }

    template <typename W, typename In, typename ZeroPointOf, typename Emit>
    void RunConvolution(const ExecuteArgs& args, const In* data, ZeroPointOf zeroPointOf, int32_t weightsZeroPoint,
                        Emit emit) const
    {
        const void* weights = m_Weights != nullptr ? m_Weights : args.m_Inputs[1];
        Convolve(m_Geometry, data, zeroPointOf, static_cast<const W*>(weights), weightsZeroPoint,
                 Scratch::At<Patch>(args.m_Scratch, m_Patches), Scratch::At<Acc>(args.m_Scratch, m_Sums), emit);
    }

    /// The index in an output of a pixel's channels from `first` on.
    size_t OutputIndex(size_t pixel, size_t first) const { return pixel * m_Geometry.m_OutputChannels + first; }

    ConvolutionGeometry m_Geometry;

private:
    Bias m_Bias;
    const void* m_Weights; ///< null: input 1
    size_t m_Patches;      ///< offsets in the scratch memory
    size_t m_Sums;
    size_t m_BiasRow;
};

/// T: float or double.
template <typename T>
class FloatSum : Base<T, T, T>
{
public:
    FloatSum(const ReshapeArgs& args, const ConvolutionGeometry& g, const void* weights, Scratch& scratch)
        : Base<T, T, T>(args, g, weights, scratch), m_Clamp(args.m_FusedActivation)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const T* bias = this->LoadBias(args);
        T* output = args.GetOutput<T>(0);
        const size_t count = this->m_Geometry.m_GroupOutputs;
        const auto emit = [&](size_t pixel, size_t, size_t first, const T* sums)
        {
            T* out = output + this->OutputIndex(pixel, first);
            std::transform(sums, sums + count, bias + first, out, std::plus<>());
            m_Clamp.Run(out, count);
        };
        this->template RunConvolution<T>(
            args, args.GetInput<T>(0), [](size_t) { return 0; }, 0, emit);
    }

private:
    backends::FloatClamp m_Clamp;
};

template <typename In, typename W, typename Acc, typename Out>
class QuantizedSum : Base<int16_t, Acc, Acc>
{
public:
    QuantizedSum(const ReshapeArgs& args, const ConvolutionGeometry& g, const void* weights, Scratch& scratch,
                 SumRequantizer::Method method, bool sumsOf32Bits)
        : Base<int16_t, Acc, Acc>(args, g, weights, scratch),
          m_Requantizer(args, g.m_OutputChannels, method, sumsOf32Bits),
          m_ZeroPoint(args.GetInput(0).GetQuantizationOffset()),
          m_WeightsZeroPoint(GetWeightsZeroPoint(args.GetInput(1)))
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const Acc* bias = this->LoadBias(args);
        Out* output = args.GetOutput<Out>(0);
        const auto emit = [&](size_t pixel, size_t, size_t first, const Acc* sums) {
            m_Requantizer.Run(sums, bias, first, this->m_Geometry.m_GroupOutputs,
                              output + this->OutputIndex(pixel, first));
        };
        this->template RunConvolution<W>(
            args, args.GetInput<In>(0), [this](size_t) { return m_ZeroPoint; }, m_WeightsZeroPoint, emit);
    }

private:
    SumRequantizer m_Requantizer;
    int32_t m_ZeroPoint;
    int32_t m_WeightsZeroPoint;
};

class HybridSum : Base<int16_t, int64_t, float>
{
public:
    HybridSum(const ReshapeArgs& args, const ConvolutionGeometry& g, const void* weights, Scratch& scratch,
              bool asymmetric)
        : Base(args, g, weights, scratch),
          m_Input(args, g.m_Batches, g.NumImageElements(), g.m_OutputChannels, asymmetric, scratch),
          m_Clamp(args.m_FusedActivation)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        void* const scratch = args.m_Scratch;
        const float* bias = LoadBias(args);
        m_Input.Quantize(args);
        float* output = args.GetOutput<float>(0);
        const auto emit = [&](size_t pixel, size_t batch, size_t first, const int64_t* sums)
        {
            float* out = output + OutputIndex(pixel, first);
            m_Input.Run(scratch, batch, sums, bias, first, m_Geometry.m_GroupOutputs, out);
            m_Clamp.Run(out, m_Geometry.m_GroupOutputs);
        };
        // TFLite reads uint8 weights of float data as int8 bit patterns without a zero point.
        RunConvolution<int8_t>(
            args, m_Input.GetValues(scratch), [&](size_t batch) { return m_Input.GetZeroPoint(scratch, batch); }, 0,
            emit);
    }

private:
    HybridInput m_Input;
    backends::FloatClamp m_Clamp;
};

template <typename Executor, typename... More>
Prepared Make(const ReshapeArgs& args, const ConvolutionGeometry& g, const void* weights, More... more)
{
    Scratch scratch;
    Executor executor(args, g, weights, scratch, more...);
    return Prepared(std::move(executor), scratch.GetBytes());
}

} // namespace

Prepared PrepareWeightedSum(const ReshapeArgs& args, const ConvolutionGeometry& g, SumRequantizer::Method method,
                            bool asymmetric, const void* weights, bool sumsOf32Bits)
{
    if (g.IsEmpty())
    {
        return Prepared([](const ExecuteArgs&) {});
    }
    if (IsHybrid(args))
    {
        return Make<HybridSum>(args, g, weights, asymmetric);
    }
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::QAsymmU8:
        if (args.GetInput(1).GetDataType() != DataType::QAsymmU8)
        {
            return Make<QuantizedSum<uint8_t, int8_t, int64_t, uint8_t>>(args, g, weights, method, sumsOf32Bits);
        }
        return args.GetOutput(0).GetDataType() == DataType::QSymmS16
                   ? Make<QuantizedSum<uint8_t, uint8_t, int64_t, int16_t>>(args, g, weights, method, sumsOf32Bits)
                   : Make<QuantizedSum<uint8_t, uint8_t, int64_t, uint8_t>>(args, g, weights, method, sumsOf32Bits);
    case DataType::QAsymmS8:
        return Make<QuantizedSum<int8_t, int8_t, int64_t, int8_t>>(args, g, weights, method, sumsOf32Bits);
    case DataType::QSymmS16:
        return args.GetInput(1).GetDataType() == DataType::QSymmS16
                   ? Make<QuantizedSum<int16_t, int16_t, int64_t, int16_t>>(args, g, weights, method, sumsOf32Bits)
                   : Make<QuantizedSum<int16_t, int8_t, int64_t, int16_t>>(args, g, weights, method, sumsOf32Bits);
    case DataType::Float64: return Make<FloatSum<double>>(args, g, weights);
    default: return Make<FloatSum<float>>(args, g, weights);
    }
}

} // namespace tenon::ref
