// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: conditions of tensors, by which an ILayerSupport decides and says why not.
#pragma once

#include <algorithm>
#include <armnn/Exceptions.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/TypesUtils.hpp>
#include <string>
#include <type_traits>

namespace tenon
{

/// The type of biases that belongs to weights of a type; empty for empty. Throws InvalidArgumentException for a type of
/// weights that no layer with biases has.
inline Optional<DataType> GetBiasTypeFromWeightsType(Optional<DataType> weightsType)
{
    if (!weightsType)
    {
        return weightsType;
    }
    switch (weightsType.value())
    {
    case DataType::Float16:
    case DataType::Float32: return weightsType;
    case DataType::QAsymmS8:
    case DataType::QAsymmU8:
    case DataType::QSymmS8:
    case DataType::QSymmS16: return Optional<DataType>(DataType::Signed32);
    default:
        throw InvalidArgumentException(std::string("no type of biases belongs to weights of type ") +
                                       GetDataTypeName(weightsType.value()));
    }
}

/// Whether the rule holds. Where it does not, a line with the reason is added to reasonIfUnsupported, if that is there.
template <typename F>
bool CheckSupportRule(F rule, Optional<std::string&> reasonIfUnsupported, const char* reason)
{
    const bool holds = rule();
    if (!holds && reason != nullptr && reasonIfUnsupported)
    {
        reasonIfUnsupported.value() += std::string(reason) + "\n";
    }
    return holds;
}

/// A condition, decided when it is made.
struct Rule
{
    bool operator()() const { return m_Res; }

    bool m_Res = true;
};

/// Whether all infos have one data type.
template <typename T>
bool AllTypesAreEqualImpl(T)
{
    return true;
}

template <typename T, typename... Rest>
bool AllTypesAreEqualImpl(T t1, T t2, Rest... rest)
{
    static_assert(std::is_same<T, TensorInfo>::value, "the infos of tensors are compared");
    return t1.GetDataType() == t2.GetDataType() && AllTypesAreEqualImpl(t2, rest...);
}

struct TypesAreEqual : public Rule
{
    template <typename... Ts>
    TypesAreEqual(const Ts&... infos)
    {
        m_Res = AllTypesAreEqualImpl(infos...);
    }
};

/// Compares quantization per tensor.
struct QuantizationParametersAreEqual : public Rule
{
    QuantizationParametersAreEqual(const TensorInfo& info0, const TensorInfo& info1)
    {
        m_Res = info0.GetQuantizationScale() == info1.GetQuantizationScale() &&
                info0.GetQuantizationOffset() == info1.GetQuantizationOffset();
    }
};

/// `types` is a container of DataType.
struct TypeAnyOf : public Rule
{
    template <typename Container>
    TypeAnyOf(const TensorInfo& info, const Container& types)
    {
        m_Res = std::find(types.begin(), types.end(), info.GetDataType()) != types.end();
    }
};

struct TypeIs : public Rule
{
    TypeIs(const TensorInfo& info, DataType type) { m_Res = info.GetDataType() == type; }
};

struct TypeNotPerAxisQuantized : public Rule
{
    TypeNotPerAxisQuantized(const TensorInfo& info) { m_Res = !info.IsQuantized() || !info.HasPerAxisQuantization(); }
};

struct BiasAndWeightsTypesMatch : public Rule
{
    BiasAndWeightsTypesMatch(const TensorInfo& biases, const TensorInfo& weights)
    {
        m_Res = biases.GetDataType() == GetBiasTypeFromWeightsType(Optional<DataType>(weights.GetDataType())).value();
    }
};

/// Whether `types` has the type of biases that belongs to these weights.
struct BiasAndWeightsTypesCompatible : public Rule
{
    template <typename Container>
    BiasAndWeightsTypesCompatible(const TensorInfo& weights, const Container& types)
    {
        const DataType type = GetBiasTypeFromWeightsType(Optional<DataType>(weights.GetDataType())).value();
        m_Res = std::find(types.begin(), types.end(), type) != types.end();
    }
};

struct ShapesAreSameRank : public Rule
{
    ShapesAreSameRank(const TensorInfo& info0, const TensorInfo& info1)
    {
        m_Res = info0.GetNumDimensions() == info1.GetNumDimensions();
    }
};

struct ShapesAreSameTotalSize : public Rule
{
    ShapesAreSameTotalSize(const TensorInfo& info0, const TensorInfo& info1)
    {
        m_Res = info0.GetNumElements() == info1.GetNumElements();
    }
};

/// Whether each size of both inputs, counted from the last dimension, is 1 or that of the output.
struct ShapesAreBroadcastCompatible : public Rule
{
    ShapesAreBroadcastCompatible(const TensorInfo& in0, const TensorInfo& in1, const TensorInfo& out)
    {
        m_Res = Fits(in0.GetShape(), out.GetShape()) && Fits(in1.GetShape(), out.GetShape());
    }

    /// The size of an input along dimension `idx` of the output: 1 where the input has no such dimension.
    unsigned int CalcInputSize(const TensorShape& in, const TensorShape& out, unsigned int idx)
    {
        const unsigned int missing = out.GetNumDimensions() - in.GetNumDimensions();
        return idx < missing ? 1 : in[idx - missing];
    }

private:
    bool Fits(const TensorShape& in, const TensorShape& out)
    {
        bool fits = in.GetNumDimensions() <= out.GetNumDimensions();
        for (unsigned int i = 0; fits && i < out.GetNumDimensions(); ++i)
        {
            const unsigned int size = CalcInputSize(in, out, i);
            fits = size == 1 || size == out[i];
        }
        return fits;
    }
};

struct TensorNumDimensionsAreCorrect : public Rule
{
    TensorNumDimensionsAreCorrect(const TensorInfo& info, unsigned int expectedNumDimensions)
    {
        m_Res = info.GetNumDimensions() == expectedNumDimensions;
    }
};

struct TensorNumDimensionsAreGreaterOrEqualTo : public Rule
{
    TensorNumDimensionsAreGreaterOrEqualTo(const TensorInfo& info, unsigned int numDimensionsToCompare)
    {
        m_Res = info.GetNumDimensions() >= numDimensionsToCompare;
    }
};

} // namespace tenon
