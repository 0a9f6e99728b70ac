// SPDX-License-Identifier: Apache-2.0
// Convolution3d: NDHWC data, weights [D, H, W, I, O]. Float types.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "backends/reference/kernels/VolumeGeometry.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>

#include <functional>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::SameType;
using backends::Scratch;

constexpr backends::TypeRow Convolution3dTypes[] = {
    SameType({DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16}, 3)};

VolumeGeometry MakeGeometry(const ReshapeArgs& args)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const bool fits = data.GetNumDimensions() == 5 && weights.GetNumDimensions() == 5 &&
                      output.GetNumDimensions() == 5 && data[0] == output[0] && weights[3] == data[4] &&
                      weights[4] == output[4] && (!args.HasInput(2) || args.GetInput(2).GetNumElements() == output[4]);
    if (!fits)
    {
        throw LayerValidationException("data " + data.ToString() + ", weights " + weights.ToString() + " and output " +
                                       output.ToString() +
                                       " do not fit together: weights are [D, H, W, I, O], a bias has O elements");
    }
    VolumeGeometry g;
    SetVolumeAxes(args.GetDescriptor<Convolution3dDescriptor>(), data, weights, output, g);
    return g;
}

/// T: float or double; sums are doubles.
template <typename T>
class FloatConvolution
{
public:
    FloatConvolution(const ReshapeArgs& args, const VolumeGeometry& g, Scratch& scratch)
        : m_Geometry(g), m_Bias(args), m_Sums(scratch.Add<double>(MaxTasks, g.m_OutputChannels)),
          m_BiasRow(scratch.Add<T>(g.m_OutputChannels))
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        T* bias = Scratch::At<T>(args.m_Scratch, m_BiasRow);
        m_Bias.Load(args, channels, bias);
        const T* data = args.GetInput<T>(0);
        const T* weights = args.GetInput<T>(1);
        T* output = args.GetOutput<T>(0);
        const auto sum = [&](const VolumePosition& position, double* sums) { SumTaps(data, weights, position, sums); };
        const auto emit = [&](size_t pixel, size_t, const double* sums)
        {
            std::transform(sums, sums + channels, bias, output + pixel * channels,
                           [](double total, T b) { return static_cast<T>(total + double{b}); });
        };
        ForEachVolumePixel(m_Geometry, *args.m_Parallel, Scratch::At<double>(args.m_Scratch, m_Sums), sum, emit);
    }

private:
    /// The sums over the taps inside the volume.
    void SumTaps(const T* data, const T* weights, const VolumePosition& position, double* __restrict sums) const
    {
        const VolumeGeometry& g = m_Geometry;
        const int64_t originZ = g.m_Z.Origin(position.m_Z);
        const int64_t originY = g.m_Y.Origin(position.m_Y);
        const int64_t originX = g.m_X.Origin(position.m_X);
        const T* volume = data + position.m_Batch * g.NumVolumeElements();
        std::fill_n(sums, g.m_OutputChannels, 0.0);
        for (size_t tapZ = g.m_Z.FirstTap(originZ); tapZ < g.m_Z.EndTap(originZ); ++tapZ)
        {
            const auto z = static_cast<size_t>(originZ + static_cast<int64_t>(tapZ) * g.m_Z.m_Dilation);
            for (size_t tapY = g.m_Y.FirstTap(originY); tapY < g.m_Y.EndTap(originY); ++tapY)
            {
                const auto y = static_cast<size_t>(originY + static_cast<int64_t>(tapY) * g.m_Y.m_Dilation);
                for (size_t tapX = g.m_X.FirstTap(originX); tapX < g.m_X.EndTap(originX); ++tapX)
                {
                    const auto x = static_cast<size_t>(originX + static_cast<int64_t>(tapX) * g.m_X.m_Dilation);
                    const T* values = volume + ((z * g.m_Y.m_Input + y) * g.m_X.m_Input + x) * g.m_InputChannels;
                    const T* tap = weights + ((tapZ * g.m_Y.m_Kernel + tapY) * g.m_X.m_Kernel + tapX) *
                                                 g.m_InputChannels * g.m_OutputChannels;
                    for (size_t i = 0; i < g.m_InputChannels; ++i, tap += g.m_OutputChannels)
                    {
                        for (size_t o = 0; o < g.m_OutputChannels; ++o)
                        {
                            sums[o] += double{values[i]} * double{tap[o]};
                        }
                    }
                }
            }
        }
    }

    VolumeGeometry m_Geometry;
    Bias m_Bias;
    size_t m_Sums; ///< offsets in the scratch memory
    size_t m_BiasRow;
};

SupportResult Check(const LayerView& layer)
{
    return CheckVolume(layer.GetDescriptor<Convolution3dDescriptor>());
}

template <typename T>
Prepared Make(const ReshapeArgs& args, const VolumeGeometry& g)
{
    Scratch scratch;
    FloatConvolution<T> run(args, g, scratch);
    return Prepared(std::move(run), scratch.GetBytes());
}

Prepared PrepareFloat(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const VolumeGeometry g = MakeGeometry(args);
    if (g.IsEmpty())
    {
        return Prepared([](const ExecuteArgs&) {});
    }
    return args.GetInput(0).GetDataType() == DataType::Float64 ? Make<double>(args, g) : Make<float>(args, g);
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareFloat, packed);
}

} // namespace

extern const backends::Kernel RefConvolution3dKernel = {"RefConvolution3d", Convolution3dTypes, Prepare, Check};

} // namespace tenon::ref
