// SPDX-License-Identifier: Apache-2.0
// Shape inference of matrix products.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Products.hpp>

#include <utility>

namespace tenon::infer
{

namespace
{

// How many dimensions from the end the columns of a matrix are: 1, or 2 where channels follow them.
unsigned int ColumnsFromEnd(DataLayout layout)
{
    return layout == DataLayout::NHWC || layout == DataLayout::NDHWC ? 2 : 1;
}

// Shape with rows and columns exchanged if `isTransposed`.
TensorShape Oriented(const InferContext& context, size_t input, unsigned int columnsFromEnd, bool isTransposed)
{
    TensorShape shape = context.InputShape(input);
    const unsigned int rank = shape.GetNumDimensions();
    context.Check(rank > columnsFromEnd, "input {} of shape {} holds no matrices: it must have at least {} dimensions",
                  input, shape, columnsFromEnd + 1);
    if (isTransposed)
    {
        const unsigned int columns = shape[rank - columnsFromEnd];
        shape.SetDimensionSize(rank - columnsFromEnd, shape[rank - columnsFromEnd - 1]);
        shape.SetDimensionSize(rank - columnsFromEnd - 1, columns);
    }
    return shape;
}

} // namespace

void InferBatchMatMul(InferContext& context)
{
    const auto& descriptor = context.Descriptor<BatchMatMulDescriptor>();
    context.Check(!(descriptor.m_TransposeX && descriptor.m_AdjointX) &&
                      !(descriptor.m_TransposeY && descriptor.m_AdjointY),
                  "an input is to be transposed and adjoint at once; an adjoint is transposed already");
    const unsigned int columnsFromEnd = ColumnsFromEnd(descriptor.m_DataLayoutX);
    context.Check(columnsFromEnd == ColumnsFromEnd(descriptor.m_DataLayoutY),
                  "both inputs must have channels last, or neither");
    TensorShape x = Oriented(context, 0, columnsFromEnd, descriptor.m_TransposeX || descriptor.m_AdjointX);
    TensorShape y = Oriented(context, 1, columnsFromEnd, descriptor.m_TransposeY || descriptor.m_AdjointY);
    const unsigned int xColumns = x.GetNumDimensions() - columnsFromEnd;
    const unsigned int yColumns = y.GetNumDimensions() - columnsFromEnd;
    context.Check(x[xColumns] == y[yColumns - 1],
                  "matrices of {} columns (input 0, shape {}) cannot be multiplied by those of {} rows (input 1, shape "
                  "{})",
                  x[xColumns], context.InputShape(0), y[yColumns - 1], context.InputShape(1));

    // With rows and columns made equal, broadcasting looks at the other dimensions alone.
    x.SetDimensionSize(xColumns, y[yColumns]);
    y.SetDimensionSize(yColumns - 1, x[xColumns - 1]);
    context.SetOutputShape(0, Broadcast(context, x, y));
}

void InferFullyConnected(InferContext& context)
{
    const auto& descriptor = context.Descriptor<FullyConnectedDescriptor>();
    CheckRank(context, 1, 2);
    const TensorShape& input = context.InputShape(0);
    const TensorShape& weights = context.InputShape(1);
    const unsigned int inputs = weights[descriptor.m_TransposeWeightMatrix ? 1 : 0];
    const unsigned int outputs = weights[descriptor.m_TransposeWeightMatrix ? 0 : 1];
    CheckElements(context, 2, "bias", outputs);
    if (descriptor.m_ShuffledWeights)
    {
        context.SetOutputShape(1, input);
    }

    const unsigned int rank = input.GetNumDimensions();
    const bool isLastDimension = rank > 0 && input[rank - 1] == inputs;
    if (descriptor.m_KeepDims)
    {
        context.Check(isLastDimension,
                      "weights {} take {} inputs, but the last dimension of input 0 of shape {} has "
                      "another size",
                      weights, inputs, input);
        TensorShape output = input;
        output.SetDimensionSize(rank - 1, outputs);
        context.SetOutputShape(0, output);
        return;
    }
    int64_t batch = 1;
    if (isLastDimension)
    {
        // Not by division: with 0 inputs a row the number of rows is that of the other dimensions.
        for (unsigned int i = 0; i + 1 < rank; ++i)
        {
            batch = Multiply(context, batch, input[i]);
        }
    }
    else
    {
        const uint64_t elements = input.GetNumElements64();
        context.Check(inputs != 0 && elements % inputs == 0,
                      "the elements of input 0 of shape {} cannot be cut into rows of {}, as weights {} want them",
                      input, inputs, weights);
        batch = static_cast<int64_t>(elements / inputs);
    }
    context.SetOutputShape(0, TensorShape({ToSize(context, batch), outputs}));
}

} // namespace tenon::infer
