// SPDX-License-Identifier: Apache-2.0
// InferContext: the data that a shape-inference function (infer/*.cpp, one per row of ops.def) reads and writes. It is
// called when the shapes of all inputs are fully known, and the values of those inputs that its row lists: by the
// optimizer, by the runtime for each new set of input shapes, and in the middle of a run for shapes that follow from
// values.
#pragma once

#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class InferContext
{
public:
    InferContext(LayerType type, const BaseDescriptor& descriptor, Span<const TensorInfo* const> inputs,
                 Span<const void* const> values, Span<const TensorInfo> declaredOutputs, Span<TensorShape> outputs)
        : m_Type(type), m_Descriptor(&descriptor), m_Inputs(inputs), m_Values(values), m_Declared(declaredOutputs),
          m_Outputs(outputs)
    {
    }

    /// The parameters as the layer has them.
    template <typename D>
    const D& Descriptor() const
    {
        return static_cast<const D&>(*m_Descriptor);
    }
    /// A copy to write resolved parameters into: axes and shapes that arrived as tensors, SAME paddings. Kernels see
    /// this copy in place of the layer's own descriptor; in it m_ParametersAsInputs is false.
    template <typename D>
    D& Edit()
    {
        if (m_Edited == nullptr)
        {
            auto copy = std::make_unique<D>(Descriptor<D>());
            m_Descriptor = copy.get();
            m_Edited = std::move(copy);
        }
        return static_cast<D&>(*m_Edited);
    }
    std::unique_ptr<BaseDescriptor> TakeEdited() { return std::move(m_Edited); }

    size_t NumInputs() const { return m_Inputs.size(); }
    size_t NumOutputs() const { return m_Outputs.size(); }
    bool HasInput(size_t i) const { return i < m_Inputs.size() && m_Inputs[i] != nullptr; }
    const TensorInfo& Input(size_t i) const { return *m_Inputs[i]; }
    const TensorShape& InputShape(size_t i) const { return m_Inputs[i]->GetShape(); }
    /// All inputs, null where not connected, and their values, null where not known.
    Span<const TensorInfo* const> Inputs() const { return m_Inputs; }
    Span<const void* const> InputValues() const { return m_Values; }
    /// The info that the layer's maker declared for output i; its shape may be unknown.
    const TensorInfo& DeclaredOutput(size_t i) const { return m_Declared[i]; }

    /// The elements of input i as integers, which its row in ops.def must list. Throws LayerValidationException when it
    /// is no integer tensor or has more than `maxElements`.
    std::vector<int64_t> Values(size_t i, size_t maxElements = MaxNumOfTensorDimensions) const;

    void SetOutputShape(size_t i, const TensorShape& shape) { m_Outputs[i] = shape; }
    /// Sets the shape from 64-bit sizes; throws LayerValidationException when one is negative or above 32 bits or the
    /// rank above 8.
    void SetOutputShape(size_t i, const std::vector<int64_t>& sizes);

    /// `axis` counted from the start. Throws LayerValidationException when it is not in [-rank, rank).
    unsigned int CanonicalAxis(int64_t axis, unsigned int rank) const;

    /// Throws LayerValidationException unless the condition holds. The text names the input and its fault;
    /// layer name and type are added by the caller.
    template <typename... Args>
    void Check(bool condition, fmt::format_string<Args...> text, Args&&... args) const
    {
        if (!condition)
        {
            Fail(fmt::format(text, std::forward<Args>(args)...));
        }
    }
    [[noreturn]] void Fail(const std::string& message) const;

    LayerType Type() const { return m_Type; }

private:
    LayerType m_Type;
    const BaseDescriptor* m_Descriptor;
    std::unique_ptr<BaseDescriptor> m_Edited;
    Span<const TensorInfo* const> m_Inputs;
    Span<const void* const> m_Values;
    Span<const TensorInfo> m_Declared;
    Span<TensorShape> m_Outputs;
};

using InferFunction = void (*)(InferContext& context);

} // namespace tenon
