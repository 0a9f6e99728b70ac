// SPDX-License-Identifier: Apache-2.0
// ScatterElements: out = data; then out[..., indices[..., i, ...], ...] = updates[..., i, ...] along an axis, or the
// sum, product, maximum or minimum of both, as ONNX defines it. See ScatterUpdates.hpp.
#include "backends/reference/kernels/AxisIndices.hpp"
#include "backends/reference/kernels/MovedElement.hpp"
#include "backends/reference/kernels/ScatterUpdates.hpp"

#include <tenon/descriptors/Indexing.hpp>

namespace tenon::ref
{

namespace
{

using backends::WholeByteType;

constexpr backends::TypeRow ScatterElementsTypes[] = {
    backends::Types({WholeByteType, IndexTypes, WholeByteType}, WholeByteType)};

backends::Prepared PrepareScatterElements(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ScatterElementsDescriptor>();
    const TensorInfo& output = args.GetOutput(0);
    const AxisIndices places(args, descriptor.m_Axis);
    RequireElements(args.GetInput(2), "input 2", places.GetCount());
    RequireElements(output, "output 0", args.GetInput(0).GetShape().GetNumElements64());
    if (descriptor.m_Function != ScatterNdFunction::Update || output.GetNumElements() == 0)
    {
        return PrepareScatter(output, places, 1, descriptor.m_Function, true);
    }
    return DispatchMoved(output.GetDataType(),
                         [&](auto tag) -> backends::Prepared
                         {
                             using T = typename decltype(tag)::Type;
                             return [places, bytes = output.GetNumBytes()](const ExecuteArgs& run)
                             {
                                 CopyBlock(run.m_Outputs[0], run.m_Inputs[0], bytes);
                                 const T* from = run.GetInput<T>(2);
                                 T* out = run.GetOutput<T>(0);
                                 places.ForEach(run, [&](size_t i, size_t place) { out[place] = from[i]; });
                             };
                         });
}

SupportResult CheckScatterElements(const LayerView& layer)
{
    return CheckScatter(layer, layer.GetDescriptor<ScatterElementsDescriptor>().m_Function, true);
}

} // namespace

extern const backends::Kernel RefScatterElementsKernel = {"RefScatterElements", ScatterElementsTypes,
                                                          PrepareScatterElements, CheckScatterElements};

} // namespace tenon::ref
