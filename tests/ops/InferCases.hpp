// SPDX-License-Identifier: Apache-2.0
// How shape inference is tested: tables of (layer, descriptor, inputs) -> output shapes and resolved descriptor, or a
// refusal. They are in the operator's own test here, or in the Infer...Test.cpp of its family; InferTest.cpp runs all.
#pragma once

#include "graph/OpSchema.hpp"

#include <tenon/Tensor.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test
{

/// One input slot of a case.
struct CaseInput
{
    bool m_IsConnected = false;
    TensorInfo m_Info;
    std::vector<uint8_t> m_Values; ///< empty: only the shape is known
};

/// A Float32 tensor of this shape; T({}) is a scalar.
inline CaseInput T(std::initializer_list<unsigned int> sizes)
{
    const TensorShape shape(static_cast<unsigned int>(sizes.size()), sizes.begin());
    return {true, TensorInfo(shape, DataType::Float32), {}};
}

/// A parameter tensor with these values, of any shape.
template <typename Element = int32_t>
CaseInput Shaped(std::initializer_list<unsigned int> sizes, const std::vector<Element>& values,
                 DataType type = DataType::Signed32)
{
    CaseInput input = T(sizes);
    input.m_Info.SetDataType(type);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
    input.m_Values.assign(bytes, bytes + values.size() * sizeof(Element));
    return input;
}

/// A flat Signed32 parameter tensor.
inline CaseInput P(const std::vector<int32_t>& values)
{
    return Shaped({static_cast<unsigned int>(values.size())}, values);
}

/// A flat Signed64 parameter tensor.
inline CaseInput P64(const std::vector<int64_t>& values)
{
    return Shaped({static_cast<unsigned int>(values.size())}, values, DataType::Signed64);
}

/// An optional input that is not connected.
inline CaseInput Absent()
{
    return {};
}

struct InferCase
{
    LayerType m_Type;
    std::string m_Name;
    std::shared_ptr<const BaseDescriptor> m_Descriptor;
    std::vector<CaseInput> m_Inputs;

    std::vector<std::string> m_Shapes;                ///< as TensorShape::ToString writes them
    std::string m_Message;                            ///< not empty: must be refused with a text that holds this
    std::shared_ptr<const BaseDescriptor> m_Resolved; ///< null: the descriptor is left as it is
    std::vector<TensorShape> m_Declared;              ///< shapes that the layer's maker gave its outputs

    InferCase Gives(std::vector<std::string> shapes) const
    {
        InferCase result = *this;
        result.m_Shapes = std::move(shapes);
        return result;
    }
    template <typename D>
    InferCase Resolves(const D& descriptor) const
    {
        InferCase result = *this;
        result.m_Resolved = std::make_shared<D>(descriptor);
        return result;
    }
    InferCase Rejects(const char* message) const
    {
        InferCase result = *this;
        result.m_Message = message;
        return result;
    }
    InferCase Declares(std::vector<TensorShape> shapes) const
    {
        InferCase result = *this;
        result.m_Declared = std::move(shapes);
        return result;
    }
};
using InferCases = std::vector<InferCase>;

template <typename D>
InferCase Case(LayerType type, const char* name, const D& descriptor, std::vector<CaseInput> inputs)
{
    return {type, name, std::make_shared<D>(descriptor), std::move(inputs), {}, {}, nullptr, {}};
}

/// Sets fields of a descriptor: Made<PadDescriptor>([](auto& d) { d.m_PadValue = 1; }).
template <typename D, typename Setter>
D Made(Setter&& set, D descriptor = {})
{
    set(descriptor);
    return descriptor;
}

/// Has the cases that `make` gives run by InferTest.cpp: one object of static life in each file that has some.
class InferTable
{
public:
    using Maker = InferCases (*)();
    explicit InferTable(Maker make) { Makers().push_back(make); }
    static std::vector<Maker>& Makers();
};

} // namespace tenon::test
