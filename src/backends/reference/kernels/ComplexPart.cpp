// SPDX-License-Identifier: Apache-2.0
// ComplexPart: the real part, imaginary part or magnitude of complex numbers.
#include "backends/common/KernelTable.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Signal.hpp>

#include <complex>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow ComplexPartTypes[] = {backends::Types({DataType::Complex64}, DataType::Float32),
                                                  backends::Types({DataType::Complex128}, DataType::Float64)};

/// out[i] = f(in[i])
template <typename T, typename F>
Prepared MakePart(size_t count, F f)
{
    return [count, f](const ExecuteArgs& args)
    {
        const auto* in = args.GetInput<std::complex<T>>(0);
        T* out = args.GetOutput<T>(0);
        for (size_t i = 0; i < count; ++i)
        {
            out[i] = f(in[i]);
        }
    };
}

template <typename T>
Prepared MakePart(size_t count, ComplexComponent component)
{
    switch (component)
    {
    case ComplexComponent::Real: return MakePart<T>(count, [](const std::complex<T>& x) { return x.real(); });
    case ComplexComponent::Imaginary: return MakePart<T>(count, [](const std::complex<T>& x) { return x.imag(); });
    case ComplexComponent::Magnitude: return MakePart<T>(count, [](const std::complex<T>& x) { return std::abs(x); });
    }
    throw LayerValidationException("there is no such part of a complex number");
}

Prepared PrepareComplexPart(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    if (args.GetOutput(0).GetShape() != input.GetShape())
    {
        throw LayerValidationException("input " + input.GetShape().ToString() + " and output " +
                                       args.GetOutput(0).GetShape().ToString() + " must have the same shape");
    }
    const size_t count = input.GetNumElements();
    const ComplexComponent component = args.GetDescriptor<ComplexPartDescriptor>().m_Component;
    return input.GetDataType() == DataType::Complex64 ? MakePart<float>(count, component)
                                                      : MakePart<double>(count, component);
}

} // namespace

extern const backends::Kernel RefComplexPartKernel = {"RefComplexPart", ComplexPartTypes, PrepareComplexPart};

} // namespace tenon::ref
