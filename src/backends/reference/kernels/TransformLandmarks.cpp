// SPDX-License-Identifier: Apache-2.0
// TransformLandmarks: an affine matrix applied to the first two coordinates of points, as MediaPipe's operator of
// version 2.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/Exceptions.hpp>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow TransformLandmarksTypes[] = {backends::SameType({DataType::Float32}, 2)};

backends::Prepared PrepareTransformLandmarks(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const bool fits =
        args.GetOutput(0).GetShape() == shape && rank >= 1 && shape[rank - 1] >= 2 && shape[rank - 1] <= 3;
    if (!fits)
    {
        throw LayerValidationException("TransformLandmarks of " + shape.ToString() + " to " +
                                       args.GetOutput(0).GetShape().ToString() +
                                       ": both must be of one shape whose last size is 2 or 3");
    }
    RequireElements(args.GetInput(1), "input 1, the matrix,", 16);
    return [elements = shape.GetNumElements(), size = size_t{shape[rank - 1]}](const ExecuteArgs& run)
    {
        const float* const in = run.GetInput<float>(0);
        const float* const matrix = run.GetInput<float>(1);
        float* const out = run.GetOutput<float>(0);
        for (size_t i = 0; i < elements; i += size)
        {
            const float x = in[i];
            const float y = in[i + 1];
            out[i] = matrix[0] * x + matrix[1] * y + matrix[3];
            out[i + 1] = matrix[4] * x + matrix[5] * y + matrix[7];
            if (size == 3)
            {
                out[i + 2] = in[i + 2];
            }
        }
    };
}

} // namespace

extern const backends::Kernel RefTransformLandmarksKernel = {"RefTransformLandmarks", TransformLandmarksTypes,
                                                             PrepareTransformLandmarks};

} // namespace tenon::ref
