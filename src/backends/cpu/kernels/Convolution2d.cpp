// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc: NHWC float data, constant weights, as matrix products of pixels by output channels.
//   1x1 with stride 1: the data are the matrix.
//   else: strips of output pixels, whose windows are laid out as the rows of a matrix that stays in the cache.
#include "backends/cpu/gemm/Gemm.hpp"
#include "backends/cpu/gemm/OpenBlas.hpp"
#include "backends/cpu/kernels/Windows.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow ConvolutionTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32)};

/// Bytes of a strip, where its rows allow it: half a second-level cache of 1 MiB, as the product reads weights besides.
constexpr size_t StripBytes = 512 * 1024;
/// With fewer rows OpenBLAS spends too much on rearranging the weights, which it does for each strip anew. A 3x3 layer
/// of 512 channels runs at 60 GFLOP/s with 28 rows, at 95 with 100 (Zen 5, Haswell kernels).
constexpr size_t LeastStripRows = 96;
/// What those rows may take.
constexpr size_t MostStripBytes = 4 * 1024 * 1024;

SupportResult CheckConvolution(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<Convolution2dDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the data layout is not NHWC");
    }
    if (descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 || descriptor.m_DilationX == 0 ||
        descriptor.m_DilationY == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "a stride or dilation is 0");
    }
    if (!layer.HasInput(1) || !layer.IsConstant(1))
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "the weights are not constant");
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (!weights.AreAllDimensionsSpecified() || weights.GetNumDimensions() != 4)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the weights are " + weights.ToString() + "; they must have four dimensions");
    }
    if (!FitsBlas(weights[0]) || weights.GetNumElements64() > std::numeric_limits<int>::max())
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the weights are too large for its matrix product");
    }
    return CheckOpenBlas(); // last: what CpuAcc refuses anyway must not load it
}

std::unique_ptr<backends::PackedWeights> PackConvolution(const LayerView& layer)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const size_t depth = size_t{shape[1]} * shape[2] * shape[3];
    return WeightMatrix::Transpose(static_cast<const float*>(layer.m_ConstantData[1]), depth, shape[0]);
}

/// A convolution of known shapes.
struct Convolution
{
    Windows m_Windows;
    Product m_Product; ///< of one group: all pixels by the group's output channels
    size_t m_Groups = 1;
    bool m_HasBias = false;
    size_t m_StripRows = 0; ///< 0: the input is the matrix
    size_t m_Parts = 1;     ///< each has a strip of its own

    size_t GetStripElements() const { return m_StripRows * m_Product.m_Depth; }

    Product GetGroup(size_t group) const
    {
        Product product = m_Product;
        product.m_Weights += group * m_Product.m_Columns;
        return product;
    }

    const float* GetBias(const ExecuteArgs& args, size_t group) const
    {
        return m_HasBias ? args.GetInput<float>(2) + group * m_Product.m_Columns : nullptr;
    }

    void RunPixels(const ExecuteArgs& args) const
    {
        for (size_t group = 0; group < m_Groups; ++group)
        {
            GetGroup(group).Run(args.GetInput<float>(0) + group * m_Product.m_Depth, GetBias(args, group),
                                args.GetOutput<float>(0) + group * m_Product.m_Columns, *args.m_Parallel);
        }
    }

    void RunStrips(const ExecuteArgs& args) const
    {
        const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
        RunParts(*args.m_Parallel, parts,
                 [&](size_t index)
                 {
                     float* strip = static_cast<float*>(args.m_Scratch) + index * GetStripElements();
                     const Part part = GetPart(m_Product.m_Rows, parts, index);
                     const size_t rows = part.m_End - part.m_Begin;
                     const size_t strips = rows / m_StripRows + (rows % m_StripRows != 0 ? 1 : 0);
                     for (size_t i = 0; i < strips; ++i)
                     {
                         const Part pixels = GetPart(rows, strips, i); // equal ones: a short strip makes a slow product
                         RunStrip(args, part.m_Begin + pixels.m_Begin, part.m_Begin + pixels.m_End, strip);
                     }
                 });
    }

private:
    void RunStrip(const ExecuteArgs& args, size_t first, size_t last, float* strip) const
    {
        const auto groupChannels = static_cast<size_t>(m_Windows.m_GroupChannels);
        for (size_t group = 0; group < m_Groups; ++group)
        {
            m_Windows.Copy(args.GetInput<float>(0) + group * groupChannels, first, last, 0.0f, m_Product.m_Depth,
                           strip);
            float* out = args.GetOutput<float>(0) + first * m_Product.m_OutStride + group * m_Product.m_Columns;
            GetGroup(group).RunTile(strip, GetBias(args, group), out, 0, last - first, 0, m_Product.m_Columns);
        }
    }
};

backends::Prepared PrepareConvolution(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const Windows windows = MakeConvolutionWindows(args);
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }

    const auto& weights = static_cast<const WeightMatrix&>(*packed);
    Convolution convolution;
    convolution.m_Windows = windows;
    convolution.m_HasBias = args.HasInput(2);
    convolution.m_Groups =
        windows.m_GroupChannels != 0 ? static_cast<size_t>(windows.m_Channels / windows.m_GroupChannels) : 1;
    Product& product = convolution.m_Product;
    product.m_Rows = size_t{output[0]} * output[1] * output[2];
    product.m_Columns = weights.GetColumns() / convolution.m_Groups;
    product.m_Depth = weights.GetDepth();
    product.m_DataStride = windows.ArePixels() ? input[3] : product.m_Depth;
    product.m_WeightStride = weights.GetColumns();
    product.m_OutStride = weights.GetColumns();
    product.m_Weights = weights.GetData();
    product.m_Clamp = backends::FloatClamp(args.m_FusedActivation);
    product.Prepare();
    if (windows.ArePixels() || product.m_Depth == 0)
    {
        return [convolution](const ExecuteArgs& run) { convolution.RunPixels(run); };
    }

    const size_t rowBytes = product.m_Depth * sizeof(float);
    const size_t wantedRows = std::max(StripBytes / rowBytes, std::min(LeastStripRows, MostStripBytes / rowBytes));
    convolution.m_StripRows = std::clamp<size_t>(wantedRows, 1, product.m_Rows);
    const double multiplications = static_cast<double>(product.m_Rows) * static_cast<double>(product.m_OutStride) *
                                   static_cast<double>(product.m_Depth);
    convolution.m_Parts = std::min({GetMostParts(), GetWorthwhileParts(multiplications), product.m_Rows});
    return {[convolution](const ExecuteArgs& run) { convolution.RunStrips(run); },
            convolution.m_Parts * convolution.GetStripElements() * sizeof(float)};
}

} // namespace

extern const backends::Kernel CpuConvolution2dKernel = {"CpuConvolution2d", ConvolutionTypes, PrepareConvolution,
                                                        CheckConvolution,   PackConvolution,  backends::FuseClamp};

} // namespace tenon::cpu
