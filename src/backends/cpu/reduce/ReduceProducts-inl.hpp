// SPDX-License-Identifier: Apache-2.0
// Products of columns and rows of floats, for ReduceVectors.cpp. Included after simd/Foreach.hpp, once for each target.
#if defined(TENON_REDUCE_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_REDUCE_PRODUCTS_INL
#undef TENON_REDUCE_PRODUCTS_INL
#else
#define TENON_REDUCE_PRODUCTS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Products of columns. Products of rows in vectors would not be in the reference kernel's order.
struct MultiplyFloats
{
    using Data = float;
    using Lane = float;
    template <class D>
    using InTag = D;
    static constexpr float First = 1.0f;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D, hn::Vec<D> values)
    {
        return values;
    }
    template <class V>
    static HWY_INLINE V Step(V product, V value)
    {
        return hn::Mul(product, value);
    }
};

/// Products of `Rows` rows side by side. The factors of a row are multiplied in the reference kernel's order, so each
/// product waits for the one before.
template <size_t Rows>
HWY_INLINE void MultiplySome(const float* in, size_t length, float* out)
{
    float products[Rows];
    std::fill_n(products, Rows, 1.0f);
    for (size_t i = 0; i < length; ++i)
    {
        for (size_t row = 0; row < Rows; ++row)
        {
            products[row] *= in[row * length + i];
        }
    }
    std::copy_n(products, Rows, out);
}

/// See ReduceRowsFunction.
inline void MultiplyRows(const void* in, size_t rows, size_t length, void* out)
{
    constexpr size_t Some = 8;
    const auto* from = static_cast<const float*>(in);
    auto* to = static_cast<float*>(out);
    size_t row = 0;
    for (; row + Some <= rows; row += Some)
    {
        MultiplySome<Some>(from + row * length, length, to + row);
    }
    for (; row < rows; ++row)
    {
        MultiplySome<1>(from + row * length, length, to + row);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
