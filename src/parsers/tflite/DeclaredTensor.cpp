// SPDX-License-Identifier: Apache-2.0
// DeclaredTensor: see DeclaredTensor.hpp.
#include "parsers/tflite/DeclaredTensor.hpp"

#include "parsers/common/ConstantData.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

/// The shape as it is declared; a size of -1 is unknown. Whether an empty one is a scalar is the caller's question.
TensorShape ReadSizes(Span<const int32_t> sizes, unsigned int maxRank)
{
    const unsigned int limit = std::min(maxRank, MaxNumOfTensorDimensions);
    if (sizes.size() > limit)
    {
        throw ParseException(
            fmt::format("has rank {}, at most {} is possible (Limits::m_MaxRank)", sizes.size(), limit));
    }
    TensorShape shape(static_cast<unsigned int>(sizes.size()), false);
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        if (sizes[i] < -1)
        {
            throw ParseException(fmt::format("has size {} in dimension {}", sizes[i], i));
        }
        if (sizes[i] >= 0)
        {
            shape.SetDimensionSize(i, static_cast<unsigned int>(sizes[i]));
        }
    }
    return shape;
}

/// No sizes may stand for a scalar or for an unknown rank.
TensorShape ReadShape(const DeclaredTensor& tensor, bool isConstant, unsigned int maxRank)
{
    if (tensor.m_Sizes.empty())
    {
        return TensorShape(isConstant || tensor.m_HasRank ? Dimensionality::Scalar : Dimensionality::NotSpecified);
    }
    return ReadSizes(tensor.m_Sizes, maxRank);
}

/// The shape without the sizes that vary from run to run, which are -1 in the signature.
TensorShape LeaveOpen(TensorShape shape, Span<const int32_t> signature)
{
    const bool isRanked = shape.GetDimensionality() == Dimensionality::Specified;
    if (isRanked && signature.size() == shape.GetNumDimensions())
    {
        for (unsigned int i = 0; i < signature.size(); ++i)
        {
            if (signature[i] < 0)
            {
                shape.SetDimensionUnknown(i);
            }
        }
    }
    return shape;
}

} // namespace

void FillView(TensorView& view, const DeclaredTensor& tensor, bool inferShapes, const Limits& limits,
              ReadBudget& budget)
{
    if (tensor.m_Type == schema::TensorType::RESOURCE)
    {
        view.m_IsResource = true;
        return;
    }
    view.m_Data = tensor.m_Data;
    view.m_IsConstant = !view.m_Data.empty();
    view.m_IsVariable = tensor.m_IsVariable;
    if (view.m_IsConstant && view.m_IsVariable)
    {
        throw ParseException("is both variable and constant");
    }

    view.m_WrittenShape = ReadShape(tensor, view.m_IsConstant, limits.m_MaxRank);
    // An input that nobody resizes has the sizes that are written, as in TFLite; what is computed from it has sizes to
    // be inferred.
    view.m_DeclaredShape = view.m_IsConstant || tensor.m_IsInput ? view.m_WrittenShape
                                                                 : LeaveOpen(view.m_WrittenShape, tensor.m_Signature);
    if (tensor.m_Quantization.m_Blocks.has_value() && !view.m_IsConstant)
    {
        throw UnimplementedException("has BlockwiseQuantization, which is supported for constants alone");
    }
    view.m_Info = MakeInfo(tensor.m_Type, tensor.m_Quantization, view.m_DeclaredShape, budget);
    parsers::CheckTensorBytes(view.m_Info, limits);
    if (view.m_IsConstant)
    {
        view.m_Info.SetConstant();
        if (tensor.m_Sparsity.has_value())
        {
            auto dense = std::make_shared<const std::vector<uint8_t>>(
                Densify(*tensor.m_Sparsity, view.m_Info, view.m_Data, budget));
            view.m_Data = *dense;
            view.m_Owner = std::move(dense);
            view.m_IsSparse = true;
        }
        if (view.m_Info.GetNumBytes() != view.m_Data.size())
        {
            const std::string place = tensor.m_Buffer.has_value() ? fmt::format("buffer {}", *tensor.m_Buffer) : "data";
            throw ParseException(fmt::format("is {} of {} bytes, but its {} has {}", view.m_Info.ToString(),
                                             view.m_Info.GetNumBytes(), place, view.m_Data.size()));
        }
        parsers::Align(view, budget);
    }
    else if (inferShapes && !tensor.m_IsInput && !view.m_IsVariable)
    {
        view.m_Info.SetShape(TensorShape());
    }
}

} // namespace tenon::tflite
