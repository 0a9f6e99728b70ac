// SPDX-License-Identifier: Apache-2.0
// Attention: out[s] = sum over t of p[s][t] * v[t], where p[s] is the softmax over t of
//   cap(scale * sum over d of q[s][d] * k[t][d]) + mask[s][t], cap(x) = softcap * tanh(x / softcap), and a query that
// sees no key gives zeros. The semantics are those of ONNX's operator Attention. Types are floats, computed in double
// precision.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/AttentionGeometry.hpp"

#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow AttentionTypes[] = {backends::SameType(backends::FloatTypes, 3)};

template <typename T>
class Attention
{
public:
    Attention(const ReshapeArgs& args, const AttentionGeometry& geometry, Scratch& scratch)
        : m_Geometry(geometry), m_Softcap(args.GetDescriptor<AttentionDescriptor>().m_Softcap),
          m_Weights(scratch.Add<double>(geometry.m_Keys)), m_Sums(scratch.Add<double>(geometry.m_ValueDepth))
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        auto* const weights = Scratch::At<double>(args.m_Scratch, m_Weights);
        auto* const sums = Scratch::At<double>(args.m_Scratch, m_Sums);
        for (size_t head = 0; head < m_Geometry.m_Heads; ++head)
        {
            const AttentionGeometry::Rows queries = m_Geometry.OfQueries(head);
            const AttentionGeometry::Rows out = m_Geometry.OfOutput(head);
            const int64_t offset = m_Geometry.GetOffset(args, head);
            for (size_t query = 0; query < m_Geometry.m_Queries; ++query)
            {
                Weigh(args, args.GetInput<T>(0) + queries.m_First + query * queries.m_Stride, m_Geometry.OfKeys(head),
                      head, query, offset, weights);
                AddUp(args, weights, m_Geometry.OfValues(head), sums,
                      args.GetOutput<T>(0) + out.m_First + query * out.m_Stride);
            }
        }
    }

private:
    static constexpr double Hidden = -std::numeric_limits<double>::infinity();

    double Masked(const ExecuteArgs& args, size_t at, double product) const
    {
        switch (m_Geometry.m_Mask)
        {
        case AttentionMask::None: return product;
        case AttentionMask::Boolean: return args.GetInput<uint8_t>(3)[at] != 0 ? product : Hidden;
        case AttentionMask::Added: break;
        }
        return product + static_cast<double>(args.GetInput<T>(3)[at]);
    }

    /// The softmax of one query's products with all keys; zeros where it sees none.
    void Weigh(const ExecuteArgs& args, const T* query, AttentionGeometry::Rows keys, size_t head, size_t place,
               int64_t offset, double* weights) const
    {
        const auto [first, end] = m_Geometry.GetVisible(place, offset);
        std::fill(weights, weights + m_Geometry.m_Keys, Hidden);
        double max = Hidden;
        for (size_t key = first; key < end; ++key)
        {
            const T* const row = args.GetInput<T>(1) + keys.m_First + key * keys.m_Stride;
            double product = 0;
            for (size_t d = 0; d < m_Geometry.m_Depth; ++d)
            {
                product += static_cast<double>(query[d]) * static_cast<double>(row[d]);
            }
            product *= m_Geometry.m_Scale;
            if (m_Softcap > 0.0)
            {
                product = m_Softcap * std::tanh(product / m_Softcap);
            }
            weights[key] = Masked(args, m_Geometry.GetMaskOffset(head, place, key), product);
            max = std::max(max, weights[key]); // std::max ignores NaN, but its exponential makes the sum NaN
        }
        double sum = 0;
        for (size_t key = 0; key < m_Geometry.m_Keys; ++key)
        {
            weights[key] = weights[key] == Hidden ? 0.0 : std::exp(weights[key] - max);
            sum += weights[key];
        }
        for (size_t key = 0; sum != 0.0 && key < m_Geometry.m_Keys; ++key)
        {
            weights[key] /= sum;
        }
    }

    void AddUp(const ExecuteArgs& args, const double* weights, AttentionGeometry::Rows values, double* sums,
               T* out) const
    {
        std::fill(sums, sums + m_Geometry.m_ValueDepth, 0.0);
        const T* row = args.GetInput<T>(2) + values.m_First;
        for (size_t key = 0; key < m_Geometry.m_Keys; ++key, row += values.m_Stride)
        {
            for (size_t i = 0; weights[key] != 0.0 && i < m_Geometry.m_ValueDepth; ++i)
            {
                sums[i] += weights[key] * static_cast<double>(row[i]);
            }
        }
        std::transform(sums, sums + m_Geometry.m_ValueDepth, out, [](double sum) { return FromAccumulator<T>(sum); });
    }

    AttentionGeometry m_Geometry;
    double m_Softcap;
    size_t m_Weights; ///< in scratch memory: one for each key
    size_t m_Sums;    ///< in scratch memory: one for each element of the output's row
};

Prepared PrepareAttention(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const AttentionGeometry geometry(args);
    return DispatchType<float, double, Half, BFloat16>(args.GetInput(0).GetDataType(),
                                                       [&](auto tag) -> Prepared
                                                       {
                                                           Scratch scratch;
                                                           Attention<typename decltype(tag)::Type> attention(
                                                               args, geometry, scratch);
                                                           return {std::move(attention), scratch.GetBytes()};
                                                       });
}

/// Conditions beyond the table of types: the mask is Boolean or has the type of the queries, the offset is an integer.
SupportResult CheckAttention(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<AttentionDescriptor>();
    size_t next = 3;
    if (descriptor.m_MaskEnabled && layer.HasInput(next))
    {
        const DataType mask = layer.GetInput(next).GetDataType();
        if (mask != DataType::Boolean && mask != layer.GetInput(0).GetDataType())
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "input 3, the mask, is neither Boolean nor of the type of input 0");
        }
        ++next;
    }
    if (descriptor.m_OffsetEnabled && layer.HasInput(next))
    {
        const DataType offset = layer.GetInput(next).GetDataType();
        if (offset != DataType::Signed32 && offset != DataType::Signed64)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "the offset, the last input, is neither Signed32 nor Signed64");
        }
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefAttentionKernel = {"RefAttention", AttentionTypes, PrepareAttention, CheckAttention};

} // namespace tenon::ref
