// SPDX-License-Identifier: Apache-2.0
// AddN: the sum of any number of tensors, added up from the first to the last. Integers wrap; floats are
// added in double precision.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/BinaryOperations.hpp"
#include "backends/reference/ElementTypes.hpp"

#include <tenon/Exceptions.hpp>

#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow AddNTypes[] = {
    backends::SameType({DataType::Float16, DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::Signed8,
                        DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8,
                        DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})};

SupportResult CheckAddN(const LayerView& layer)
{
    for (size_t i = 0; i < layer.GetNumInputs(); ++i)
    {
        if (!layer.HasInput(i))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     "input " + std::to_string(i) + " is not connected");
        }
        if (layer.GetInput(i).GetDataType() != layer.GetInput(0).GetDataType())
        {
            return SupportResult::No(
                SupportCode::UnsupportedType,
                "input " + std::to_string(i) + " is " + GetDataTypeName(layer.GetInput(i).GetDataType()) +
                    " and input 0 " + GetDataTypeName(layer.GetInput(0).GetDataType()) + "; they must be of one type");
        }
    }
    return SupportResult::Yes();
}

template <typename T>
backends::Prepared MakeSum(size_t numInputs, size_t count)
{
    using C = AccumulatorType<T>;
    return [numInputs, count](const ExecuteArgs& run)
    {
        T* out = run.GetOutput<T>(0);
        for (size_t i = 0; i < count; ++i) // the output may be the memory of an input
        {
            auto sum = static_cast<C>(run.GetInput<T>(0)[i]);
            for (size_t k = 1; k < numInputs; ++k)
            {
                sum = AddOperation::Apply(sum, static_cast<C>(run.GetInput<T>(k)[i]));
            }
            out[i] = FromAccumulator<T>(sum);
        }
    };
}

backends::Prepared PrepareAddN(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& output = args.GetOutput(0).GetShape();
    for (size_t i = 0; i < args.m_Inputs.size(); ++i)
    {
        if (args.GetInput(i).GetShape() != output)
        {
            throw LayerValidationException("input " + std::to_string(i) + " has shape " +
                                           args.GetInput(i).GetShape().ToString() + " and the output " +
                                           output.ToString() + "; AddN takes tensors of one shape");
        }
    }
    return DispatchType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                        uint64_t>(
        args.GetInput(0).GetDataType(), [&](auto tag)
        { return MakeSum<typename decltype(tag)::Type>(args.m_Inputs.size(), args.GetOutput(0).GetNumElements()); });
}

} // namespace

extern const backends::Kernel RefAddNKernel = {"RefAddN", AddNTypes, PrepareAddN, CheckAddN};

} // namespace tenon::ref
