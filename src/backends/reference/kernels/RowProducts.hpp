// SPDX-License-Identifier: Apache-2.0
// The inner loops of Convolution2d and FullyConnected: windows of the data are gathered as rows ("patches"), a block of
// them at a time, and each row of weights is multiplied with the whole block. Integer patches hold stored value less
// zero point in 16 bits, which compilers turn into multiply-add instructions; their sums have 64 bits where they may
// need them. Products of floats are added in the order of the weights: 128 of them in float, and these partial sums in
// double precision. Products of doubles are added likewise, all in double precision.
#pragma once

#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tenon::ref
{

/// The number of patches that share a pass over the weights: their sums stay in registers. Patches of doubles are
/// multiplied one by one.
template <typename Patch>
constexpr size_t PatchBlock = std::is_same_v<Patch, float>    ? 8
                              : std::is_same_v<Patch, double> ? 1
                                                              : 4;

/// Distance of a patch's elements in a full block. Integer patches lie one after the other. Float patches are
/// interleaved, so that neighbouring lanes are different sums: spreading one sum over lanes would change its order.
template <typename Patch>
constexpr size_t BlockStride = std::is_same_v<Patch, float> ? PatchBlock<Patch> : 1;

/// Four floats that are added and multiplied lane by lane; an extension of GCC and clang.
using FloatLanes __attribute__((vector_size(16))) = float;

/// The number of products in a partial sum. 8-bit data in 32-bit accumulators: |product| <= 255 * 255, so that 2^15 of
/// them fit 32 bits. 16-bit data, which have 64-bit accumulators: |product| <= 2^15 * 255, so that 2^8 fit 32 bits.
/// Products by 16-bit weights are added in the accumulator's type. Floats: the rounding error of a partial sum grows
/// with its length, to 128 * 2^-24 of the sum of magnitudes.
template <typename Acc, typename W>
constexpr size_t PartialLength = std::is_floating_point_v<Acc> ? 128
                                 : sizeof(W) == 2              ? SIZE_MAX
                                 : sizeof(Acc) == 4            ? 32768
                                                               : 256;
template <typename Acc, typename W>
using PartialSum = std::conditional_t<std::is_floating_point_v<Acc> || sizeof(W) == 2, Acc, int32_t>;

template <typename Patch, typename W>
Patch CenterWeight(W weight, [[maybe_unused]] int32_t zeroPoint)
{
    if constexpr (std::is_floating_point_v<W>)
    {
        return weight;
    }
    else
    {
        return static_cast<Patch>(weight - zeroPoint);
    }
}

/// sums[p * stride] = the product of a row of weights with patch p, for a block of integer patches.
template <typename Acc, typename W>
void MultiplyBlock(const int16_t* patches, const W* weights, int32_t zeroPoint, size_t depth, Acc* sums, size_t stride)
{
    const int16_t* p0 = patches;
    const int16_t* p1 = p0 + depth;
    const int16_t* p2 = p1 + depth;
    const int16_t* p3 = p2 + depth;
    Acc total[PatchBlock<int16_t>] = {};
    for (size_t begin = 0; begin < depth;)
    {
        const size_t end = begin + std::min(depth - begin, (PartialLength<Acc, W>));
        PartialSum<Acc, W> s0 = 0;
        PartialSum<Acc, W> s1 = 0;
        PartialSum<Acc, W> s2 = 0;
        PartialSum<Acc, W> s3 = 0;
        for (size_t i = begin; i < end; ++i)
        {
            const auto w = CenterWeight<int16_t>(weights[i], zeroPoint);
            s0 += w * p0[i];
            s1 += w * p1[i];
            s2 += w * p2[i];
            s3 += w * p3[i];
        }
        total[0] = WrapAdd<Acc>(total[0], s0);
        total[1] = WrapAdd<Acc>(total[1], s1);
        total[2] = WrapAdd<Acc>(total[2], s2);
        total[3] = WrapAdd<Acc>(total[3], s3);
        begin = end;
    }
    for (size_t p = 0; p < PatchBlock<int16_t>; ++p)
    {
        sums[p * stride] = total[p];
    }
}

/// sums[p * stride + r] = the product of row r of weights with patch p, for a block of interleaved float patches.
template <size_t Rows>
void MultiplyBlock(const float* patches, const float* weights, size_t depth, float* sums, size_t stride)
{
    double totals[Rows][PatchBlock<float>] = {};
    for (size_t begin = 0; begin < depth;)
    {
        const size_t end = begin + std::min(depth - begin, (PartialLength<float, float>));
        // Loops over rows are unrolled, or else GCC keeps the sums in memory.
        FloatLanes low[Rows] = {};
        FloatLanes high[Rows] = {};
        for (size_t i = begin; i < end; ++i)
        {
            FloatLanes values[2];
            std::memcpy(values, patches + i * BlockStride<float>, sizeof(values));
#pragma GCC unroll 4
            for (size_t r = 0; r < Rows; ++r)
            {
                const float w = weights[r * depth + i];
                low[r] += values[0] * w;
                high[r] += values[1] * w;
            }
        }
#pragma GCC unroll 4
        for (size_t r = 0; r < Rows; ++r)
        {
            float lanes[PatchBlock<float>];
            std::memcpy(lanes, &low[r], sizeof(low[r]));
            std::memcpy(lanes + 4, &high[r], sizeof(high[r]));
            for (size_t p = 0; p < PatchBlock<float>; ++p)
            {
                totals[r][p] += double{lanes[p]};
            }
        }
        begin = end;
    }
    for (size_t r = 0; r < Rows; ++r)
    {
        for (size_t p = 0; p < PatchBlock<float>; ++p)
        {
            sums[p * stride + r] = static_cast<float>(totals[r][p]);
        }
    }
}

/// sums[r] = the product of one patch with row r of `weights`, for Rows rows.
template <size_t Rows, typename Acc, typename Patch, typename W>
void MultiplyRows(const Patch* patch, const W* weights, int32_t zeroPoint, size_t depth, Acc* sums)
{
    using Partial = PartialSum<Acc, W>;
    std::conditional_t<std::is_integral_v<Acc>, Acc, double> total[Rows] = {};
    for (size_t begin = 0; begin < depth;)
    {
        const size_t end = begin + std::min(depth - begin, (PartialLength<Acc, W>));
        Partial partial[Rows] = {};
        for (size_t i = begin; i < end; ++i)
        {
#pragma GCC unroll 4
            for (size_t r = 0; r < Rows; ++r)
            {
                partial[r] += static_cast<Partial>(CenterWeight<Patch>(weights[r * depth + i], zeroPoint)) *
                              static_cast<Partial>(patch[i]);
            }
        }
        for (size_t r = 0; r < Rows; ++r)
        {
            total[r] = WrapAdd<std::remove_reference_t<decltype(total[r])>>(total[r], partial[r]);
        }
        begin = end;
    }
    std::transform(total, total + Rows, sums, [](auto sum) { return static_cast<Acc>(sum); });
}

/// Calls block(row) for as many groups of Block rows as there are, then single(row) for the rest.
template <size_t Block, typename ForBlock, typename ForOne>
void ForRows(size_t rows, ForBlock block, ForOne single)
{
    size_t row = 0;
    for (; row + Block <= rows; row += Block)
    {
        block(row);
    }
    for (; row < rows; ++row)
    {
        single(row);
    }
}

/// Multiplies all rows of weights with `count` patches; sums of patch p start at sums[p * rows].
template <typename Acc, typename Patch, typename W>
void MultiplyPatches(const Patch* patches, size_t count, const W* weights, int32_t zeroPoint, size_t rows, size_t depth,
                     Acc* sums)
{
    if (count == PatchBlock<Patch> && count != 1)
    {
        if constexpr (std::is_same_v<Patch, float>)
        {
            ForRows<4>(
                rows, [&](size_t row) { MultiplyBlock<4>(patches, weights + row * depth, depth, sums + row, rows); },
                [&](size_t row) { MultiplyBlock<1>(patches, weights + row * depth, depth, sums + row, rows); });
        }
        else if constexpr (std::is_integral_v<Patch>)
        {
            for (size_t row = 0; row < rows; ++row)
            {
                MultiplyBlock(patches, weights + row * depth, zeroPoint, depth, sums + row, rows);
            }
        }
        return;
    }
    for (size_t p = 0; p < count; ++p, patches += depth, sums += rows)
    {
        ForRows<4>(
            rows, [&](size_t row) { MultiplyRows<4>(patches, weights + row * depth, zeroPoint, depth, sums + row); },
            [&](size_t row) { MultiplyRows<1>(patches, weights + row * depth, zeroPoint, depth, sums + row); });
    }
}

/// Gathers the window of one output pixel and one group, element i to patch[i * Stride]. Taps outside the image are
/// zero.
template <size_t Stride, typename In, typename Patch>
void GatherPatch(const ConvolutionGeometry& g, const In* image, size_t outY, size_t outX, size_t group,
                 int32_t zeroPoint, Patch* patch)
{
    const int64_t originY = g.m_Y.Origin(outY);
    const int64_t originX = g.m_X.Origin(outX);
    const size_t beginY = g.m_Y.FirstTap(originY);
    const size_t endY = g.m_Y.EndTap(originY);
    const size_t beginX = g.m_X.FirstTap(originX);
    const size_t endX = g.m_X.EndTap(originX);
    const size_t tapsX = g.m_X.m_Kernel;
    const size_t inputs = g.m_GroupInputs;
    if (beginY != 0 || endY != g.m_Y.m_Kernel || beginX != 0 || endX != tapsX)
    {
        for (size_t i = 0; i < g.Depth(); ++i)
        {
            patch[i * Stride] = Patch{0};
        }
    }
    if (beginX == endX)
    {
        return;
    }
    // Neighbouring taps are neighbours in memory too, when nothing lies between them.
    const bool contiguous = g.m_Groups == 1 && g.m_X.m_Dilation == 1;
    for (size_t tapY = beginY; tapY < endY; ++tapY)
    {
        const auto y = static_cast<size_t>(originY + static_cast<int64_t>(tapY) * g.m_Y.m_Dilation);
        for (size_t tapX = beginX; tapX < endX;)
        {
            const auto x = static_cast<size_t>(originX + static_cast<int64_t>(tapX) * g.m_X.m_Dilation);
            const size_t taps = contiguous ? endX - tapX : 1;
            const In* from = image + (y * g.m_X.m_Input + x) * g.m_InputChannels + group * inputs;
            Patch* to = patch + (tapY * tapsX + tapX) * inputs * Stride;
            for (size_t i = 0; i < taps * inputs; ++i)
            {
                to[i * Stride] = CenterWeight<Patch>(from[i], zeroPoint);
            }
            tapX += taps;
        }
    }
}

/// Runs a convolution: calls emit(pixel, batch, firstChannel, sums) with GroupOutputs sums for each pixel and group.
/// zeroPointOf(batch) gives the data's zero point. patches: PatchBlock * Depth(); sums: PatchBlock * GroupOutputs.
template <typename Acc, typename Patch, typename In, typename W, typename ZeroPointOf, typename Emit>
void Convolve(const ConvolutionGeometry& g, const In* data, ZeroPointOf zeroPointOf, const W* weights,
              int32_t weightsZeroPoint, Patch* patches, Acc* sums, Emit emit)
{
    constexpr size_t Block = PatchBlock<Patch>;
    const size_t depth = g.Depth();
    const size_t image = g.m_Y.m_Output * g.m_X.m_Output;
    const size_t pixels = g.NumPixels();
    for (size_t first = 0; first < pixels; first += Block)
    {
        const size_t count = std::min(Block, pixels - first);
        for (size_t group = 0; group < g.m_Groups; ++group)
        {
            for (size_t p = 0; p < count; ++p)
            {
                const size_t batch = (first + p) / image;
                const In* from = data + batch * g.NumImageElements();
                const size_t y = (first + p) % image / g.m_X.m_Output;
                const size_t x = (first + p) % g.m_X.m_Output;
                if (BlockStride<Patch> != 1 && count == Block)
                {
                    GatherPatch<BlockStride<Patch>>(g, from, y, x, group, zeroPointOf(batch), patches + p);
                }
                else
                {
                    GatherPatch<1>(g, from, y, x, group, zeroPointOf(batch), patches + p * depth);
                }
            }
            const size_t firstChannel = group * g.m_GroupOutputs;
            MultiplyPatches(patches, count, weights + firstChannel * depth, weightsZeroPoint, g.m_GroupOutputs, depth,
                            sums);
            for (size_t p = 0; p < count; ++p)
            {
                emit(first + p, (first + p) / image, firstChannel, sums + p * g.m_GroupOutputs);
            }
        }
    }
}

} // namespace tenon::ref
