// SPDX-License-Identifier: Apache-2.0
// How layers with weights are cut into the row blocks of RowBlocksF16.hpp, by layer type. Used by
// WeightedLayersF16.cpp.
#pragma once

#include "backends/cpu/half/RowBlocksF16.hpp"

#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::cpu
{

/// The shape [1, ..., 1, rows, elements] of this rank.
inline TensorShape MakeRowsShape(unsigned int rank, size_t rows, size_t elements)
{
    std::vector<unsigned int> sizes(std::max(rank, 2U), 1);
    sizes[sizes.size() - 2] = static_cast<unsigned int>(rows);
    sizes.back() = static_cast<unsigned int>(elements);
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

/// The rows of a matrix, which are independent of each other.
inline LayerRows MakeLayerRows(const ReshapeArgs& args, size_t depth, size_t columns)
{
    LayerRows shape;
    if (depth == 0 || columns == 0 || args.GetInput(0).GetNumElements() % depth != 0 ||
        args.GetInput(0).GetNumElements() / depth * columns != args.GetOutput(0).GetNumElements())
    {
        return shape;
    }
    shape.m_Rows = shape.m_InputRows = args.GetInput(0).GetNumElements() / depth;
    shape.m_RowElements = columns;
    shape.m_InputRowElements = depth;
    return shape;
}

/// How layers of a type are cut. Each class has
///   GetShape(args): the rows to cut; no rows where shapes do not fit together (the kernel reports it);
///   IsMatrix(args): whether these are rows of a matrix, and not of an image;
///   GetDescriptor(args, block): the descriptor of a block of an image.
/// This class: layers that are not cut.
struct WholeLayer
{
    static LayerRows GetShape(const ReshapeArgs&) { return {}; }
    static bool IsMatrix(const ReshapeArgs&) { return false; }
    static std::shared_ptr<const BaseDescriptor> GetDescriptor(const ReshapeArgs&, const RowBlock&) { return nullptr; }
};

/// Rows of images; of 1x1 convolutions the pixels, which are rows of a matrix.
template <typename Descriptor>
struct ImageLayer
{
    static bool IsMatrix(const ReshapeArgs& args)
    {
        const auto& d = args.GetDescriptor<Descriptor>();
        const TensorShape& weights = args.GetInput(1).GetShape();
        return weights[1] == 1 && weights[2] == 1 && d.m_StrideX == 1 && d.m_StrideY == 1 && d.m_PadTop == 0 &&
               d.m_PadBottom == 0 && d.m_PadLeft == 0 && d.m_PadRight == 0;
    }

    static LayerRows GetShape(const ReshapeArgs& args)
    {
        const TensorShape& input = args.GetInput(0).GetShape();
        const TensorShape& output = args.GetOutput(0).GetShape();
        const TensorShape& weights = args.GetInput(1).GetShape();
        if (input.GetNumDimensions() != 4 || output.GetNumDimensions() != 4 || output.GetNumElements() == 0 ||
            input[0] != output[0])
        {
            return {};
        }
        if (IsMatrix(args))
        {
            const bool isSameSize = input[1] == output[1] && input[2] == output[2];
            return !isSameSize ? LayerRows() : MakeLayerRows(args, input[3], output[3]);
        }
        const auto& d = args.GetDescriptor<Descriptor>();
        const uint64_t padded = uint64_t{input[1]} + d.m_PadTop + d.m_PadBottom;
        const uint64_t height = uint64_t{weights[1] - 1} * d.m_DilationY + 1;
        if (padded < height || (padded - height) / d.m_StrideY + 1 != output[1])
        {
            return {};
        }
        LayerRows shape;
        shape.m_Images = output[0];
        shape.m_Rows = output[1];
        shape.m_InputRows = input[1];
        shape.m_RowElements = size_t{output[2]} * output[3];
        shape.m_InputRowElements = size_t{input[2]} * input[3];
        shape.m_Windows = {weights[1], d.m_StrideY, d.m_DilationY, d.m_PadTop};
        return shape;
    }

    static std::shared_ptr<const BaseDescriptor> GetDescriptor(const ReshapeArgs& args, const RowBlock& block)
    {
        auto descriptor = std::make_shared<Descriptor>(args.GetDescriptor<Descriptor>());
        descriptor->m_PadTop = static_cast<uint32_t>(block.m_PadTop);
        descriptor->m_PadBottom = static_cast<uint32_t>(block.m_PadBottom);
        return descriptor;
    }
};

struct ConnectedLayer : WholeLayer
{
    static bool IsMatrix(const ReshapeArgs&) { return true; }
    static LayerRows GetShape(const ReshapeArgs& args)
    {
        const bool isTransposed = args.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
        const TensorShape& weights = args.GetInput(1).GetShape();
        return MakeLayerRows(args, weights[isTransposed ? 1 : 0], weights[isTransposed ? 0 : 1]);
    }
};

/// BatchMatMul by one constant matrix: rows of x.
struct MatMulLayer : WholeLayer
{
    static bool IsMatrix(const ReshapeArgs&) { return true; }
    static LayerRows GetShape(const ReshapeArgs& args)
    {
        const auto last = [](const TensorShape& shape) { return shape[shape.GetNumDimensions() - 1]; };
        return args.GetOutput(0).GetNumElements() == 0
                   ? LayerRows()
                   : MakeLayerRows(args, last(args.GetInput(0).GetShape()), last(args.GetOutput(0).GetShape()));
    }
};

} // namespace tenon::cpu
