// SPDX-License-Identifier: Apache-2.0
// ImageSizes: which tensors have images of the same height and width, whatever these are in a run. Pass MoveStrides
// asks: operands that do not fit may fit once every second pixel is left out, and an error would be lost.
#pragma once

#include "optimizer/layout/FixedRanks.hpp"
#include "optimizer/passes/StridedConvolutions.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace tenon
{

/// Height and width of a tensor's images: those of another tensor, divided and rounded up.
struct ImageSize
{
    const OutputSlot* m_Of = nullptr; ///< null: both are 1
    uint64_t m_Y = 1;
    uint64_t m_X = 1;

    bool IsOne() const { return m_Of == nullptr; }
    friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

class ImageSizes
{
public:
    /// `order` has convolutions and elementwise layers at least.
    ImageSizes(const LayerOrder& order, const FixedRanks& ranks);

    /// A tensor of which nothing is known has a size of its own.
    ImageSize Get(const OutputSlot& slot) const;
    /// Whether the operands of an elementwise layer have images of one size, or of one pixel, in every run.
    bool HasEqualSizes(const Layer& elementwise) const { return FindCommon(elementwise).has_value(); }
    /// The images of `slot` become every so many rows and columns of those of `of`, as they were.
    void SetStrided(const OutputSlot& slot, const OutputSlot& of, Stride stride);

private:
    void Add(const Layer& layer);
    ImageSize GetOperand(const InputSlot& input) const;
    std::optional<ImageSize> FindCommon(const Layer& elementwise) const;

    const FixedRanks& m_Ranks;
    std::unordered_map<const OutputSlot*, ImageSize> m_Sizes;
};

} // namespace tenon
