// SPDX-License-Identifier: Apache-2.0
// Shape: the sizes of the input's dimensions, which are known before it runs.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>

#include <limits>
#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow ShapeTypes[] = {
    backends::Types({backends::AnyType}, {DataType::Signed32, DataType::Signed64})};

template <typename T>
backends::Prepared MakeShape(const TensorShape& shape)
{
    const unsigned int rank = shape.GetNumDimensions();
    const Extents sizes = GetExtents(shape);
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (sizes[i] > static_cast<int64_t>(std::numeric_limits<T>::max()))
        {
            throw LayerValidationException("dimension " + std::to_string(i) + " of " + shape.ToString() +
                                           " is above what Signed32 holds; declare the output as Signed64");
        }
    }
    return [rank, sizes](const ExecuteArgs& run)
    {
        T* output = run.GetOutput<T>(0);
        for (unsigned int i = 0; i < rank; ++i)
        {
            output[i] = static_cast<T>(sizes[i]);
        }
    };
}

backends::Prepared PrepareShape(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    CheckOutputShape(args, "Shape", {shape.GetNumDimensions()});
    return args.GetOutput(0).GetDataType() == DataType::Signed64 ? MakeShape<int64_t>(shape)
                                                                 : MakeShape<int32_t>(shape);
}

} // namespace

extern const backends::Kernel RefShapeKernel = {"RefShape", ShapeTypes, PrepareShape};

} // namespace tenon::ref
