// SPDX-License-Identifier: Apache-2.0
// Rows of the operators on images that have no weights: pools, normalizations, resizing.
#include "parsers/tflite/operators/Rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace tenon::tflite
{

namespace
{

/// TFLite's lower bound of the norm in L2_NORMALIZATION.
constexpr float L2NormalizationEpsilon = 1e-6f;

void AddPool(const OperatorView& op, NetworkBuilder& builder, PoolingAlgorithm algorithm)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = algorithm;
    descriptor.m_PaddingScheme = GetPadding(op);
    descriptor.m_PoolWidth = op.Unsigned("filter_width", 0, 1);
    descriptor.m_PoolHeight = op.Unsigned("filter_height", 0, 1);
    descriptor.m_StrideX = op.Unsigned("stride_w", 0, 1);
    descriptor.m_StrideY = op.Unsigned("stride_h", 0, 1);
    descriptor.m_PaddingMethod = PaddingMethod::Exclude;
    descriptor.m_OutputShapeRounding = OutputShapeRounding::Floor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    builder.WireStored(op, builder.Network().AddPooling2dLayer(descriptor, op.LayerName().c_str()), {0},
                       GetActivation(op));
}

void AddResize(const OperatorView& op, NetworkBuilder& builder, ResizeMethod method)
{
    ResizeDescriptor descriptor;
    descriptor.m_Method = method;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_AlignCorners = op.Bool("align_corners", false);
    descriptor.m_HalfPixelCenters = op.Bool("half_pixel_centers", false);
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddResizeLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

/// Custom operators AveragePool3D and MaxPool3D. Sizes and strides have one entry for each dimension, those of batch
/// and channels being 1.
void AddPool3d(const OperatorView& op, NetworkBuilder& builder, PoolingAlgorithm algorithm)
{
    constexpr size_t Depth = 1;
    constexpr size_t Height = 2;
    constexpr size_t Width = 3;
    constexpr size_t Rank = 5;
    const std::string format = op.Text("data_format");
    if (!format.empty() && format != "NDHWC")
    {
        op.Fail(fmt::format("option data_format is '{}'; only NDHWC is known", format));
    }
    const std::string padding = op.Text("padding");
    if (padding != "SAME" && padding != "VALID")
    {
        op.Fail(fmt::format("option padding is '{}', should be SAME or VALID", padding));
    }
    const auto read = [&](const char* option)
    {
        const std::vector<int32_t> sizes = op.Ints(option);
        if (sizes.size() != Rank || sizes.front() != 1 || sizes.back() != 1 ||
            std::any_of(sizes.begin(), sizes.end(), [](int32_t size) { return size < 1; }))
        {
            op.Fail(fmt::format("option {} is [{}], should be 5 positive numbers, the first and the last of them 1",
                                option, fmt::join(sizes, ",")));
        }
        return std::vector<uint32_t>(sizes.begin(), sizes.end());
    };
    const std::vector<uint32_t> sizes = read("ksize");
    const std::vector<uint32_t> strides = read("strides");
    Pooling3dDescriptor descriptor;
    descriptor.m_PoolType = algorithm;
    descriptor.m_PaddingScheme = padding == "SAME" ? PaddingScheme::Same : PaddingScheme::Valid;
    descriptor.m_PoolDepth = sizes[Depth];
    descriptor.m_PoolHeight = sizes[Height];
    descriptor.m_PoolWidth = sizes[Width];
    descriptor.m_StrideZ = strides[Depth];
    descriptor.m_StrideY = strides[Height];
    descriptor.m_StrideX = strides[Width];
    descriptor.m_PaddingMethod = PaddingMethod::Exclude;
    descriptor.m_OutputShapeRounding = OutputShapeRounding::Floor;
    descriptor.m_DataLayout = DataLayout::NDHWC;
    builder.Wire(op, builder.Network().AddPooling3dLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddAveragePool2d(const OperatorView& op, NetworkBuilder& builder)
{
    AddPool(op, builder, PoolingAlgorithm::Average);
}

void AddMaxPool2d(const OperatorView& op, NetworkBuilder& builder)
{
    AddPool(op, builder, PoolingAlgorithm::Max);
}

void AddL2Pool2d(const OperatorView& op, NetworkBuilder& builder)
{
    AddPool(op, builder, PoolingAlgorithm::L2);
}

void AddAveragePool3d(const OperatorView& op, NetworkBuilder& builder)
{
    AddPool3d(op, builder, PoolingAlgorithm::Average);
}

void AddMaxPool3d(const OperatorView& op, NetworkBuilder& builder)
{
    AddPool3d(op, builder, PoolingAlgorithm::Max);
}

void AddL2Normalization(const OperatorView& op, NetworkBuilder& builder)
{
    L2NormalizationDescriptor descriptor;
    descriptor.m_Eps = L2NormalizationEpsilon;
    descriptor.m_DataLayout = DataLayout::NHWC;
    builder.Wire(op, builder.Network().AddL2NormalizationLayer(descriptor, op.LayerName().c_str()), {0},
                 GetActivation(op));
}

/// TFLite's radius is of both sides; alpha is not divided by the size of the window.
void AddLocalResponseNormalization(const OperatorView& op, NetworkBuilder& builder)
{
    NormalizationDescriptor descriptor;
    descriptor.m_NormChannelType = NormalizationAlgorithmChannel::Across;
    descriptor.m_NormMethodType = NormalizationAlgorithmMethod::LocalBrightness;
    descriptor.m_NormSize = 2 * op.Unsigned("radius", 0, 0) + 1;
    descriptor.m_Alpha = op.Float("alpha", 0.0f);
    descriptor.m_Beta = op.Float("beta", 0.0f);
    descriptor.m_K = op.Float("bias", 0.0f);
    descriptor.m_DataLayout = DataLayout::NHWC;
    builder.Wire(op, builder.Network().AddNormalizationLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddResizeBilinear(const OperatorView& op, NetworkBuilder& builder)
{
    AddResize(op, builder, ResizeMethod::Bilinear);
}

void AddResizeNearestNeighbor(const OperatorView& op, NetworkBuilder& builder)
{
    AddResize(op, builder, ResizeMethod::NearestNeighbor);
}

} // namespace

Span<const OperatorRow> GetPoolingRows()
{
    static constexpr OperatorRow rows[] = {
        {"AVERAGE_POOL_2D", AddAveragePool2d, 1, 1, 1, 1},
        {"L2_NORMALIZATION", AddL2Normalization, 1, 1, 1, 1},
        {"L2_POOL_2D", AddL2Pool2d, 1, 1, 1, 1},
        {"LOCAL_RESPONSE_NORMALIZATION", AddLocalResponseNormalization, 1, 1, 1, 1},
        {"MAX_POOL_2D", AddMaxPool2d, 1, 1, 1, 1},
        {"RESIZE_BILINEAR", AddResizeBilinear, 2, 2, 1, 1},
        {"RESIZE_NEAREST_NEIGHBOR", AddResizeNearestNeighbor, 2, 2, 1, 1},
        {"AveragePool3D", AddAveragePool3d, 1, 1, 1, 1, IsCustom},
        {"MaxPool3D", AddMaxPool3d, 1, 1, 1, 1, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
