// SPDX-License-Identifier: Apache-2.0
// Layers of Float16 or BFloat16 with constant weights, by a kernel of Float32, in bands that stay in the second-level
// cache as floats: some rows of a matrix, or rows of an image with those of the input that their windows see.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "common/FunctionRef.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace tenon::cpu
{

/// How the rows of windows follow each other.
struct BandWindows
{
    size_t m_Kernel = 1;
    size_t m_Stride = 1;
    size_t m_Dilation = 1;
    size_t m_PadTop = 0;
};

/// What is cut into bands. `m_Rows` of 0: nothing, the layer is run as a whole.
struct BandShape
{
    size_t m_Images = 1;
    size_t m_Rows = 0;      ///< of the output, of each image
    size_t m_InputRows = 0; ///< likewise
    size_t m_RowElements = 0;
    size_t m_InputRowElements = 0;
    BandWindows m_Windows;
    double m_Multiplications = 0; ///< of the whole layer
};

/// Rows of an image.
struct Band
{
    size_t m_Rows = 0;
    size_t m_InputRows = 0;
    size_t m_PadTop = 0;
    size_t m_PadBottom = 0;

    friend bool operator==(const Band&, const Band&) = default;
};

class HalfBands
{
public:
    /// `prepare` gives what runs a band in Float32 on one thread, or the whole layer for a null band. `bias`: as
    /// floats; null: input 2, if there is one.
    HalfBands(const ReshapeArgs& args, const BandShape& shape, const float* bias,
              FunctionRef<backends::Prepared(const Band*)> prepare);

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    /// Why the kernel of Float32 declined the layer or a band; then there is nothing to run. Null: it did not.
    const char* GetDeclined() const { return m_Declined; }

    /// `added`: null, or of the output's shape and type, to be added to the output, as a layer of its own would add it.
    void Run(const ExecuteArgs& args, const void* added, const backends::FloatClamp& clamp) const;

private:
    /// A band of one image, in elements of its tensors.
    struct Place
    {
        size_t m_Variant = 0;
        size_t m_Input = 0;
        size_t m_InputCount = 0;
        size_t m_Output = 0;
        size_t m_OutputCount = 0;
    };
    struct Sum
    {
        const void* m_Added = nullptr;
        const backends::FloatClamp* m_Clamp = nullptr;
    };

    bool FindPlaces(const BandShape& shape, size_t rows, std::vector<Band>& variants);
    const float* FindBias(const ExecuteArgs& args) const;
    void RunBand(const ExecuteArgs& args, const Place& band, const float* bias, const Sum& sum, IParallelFor& parallel,
                 std::byte* scratch) const;
    void Narrow(IParallelFor& parallel, const float* floats, size_t count, std::byte* halves) const;
    void NarrowSum(float* floats, size_t count, const std::byte* added, const backends::FloatClamp& clamp,
                   std::byte* halves) const;

    DataType m_Type;
    std::vector<Place> m_Places;
    std::vector<backends::Executor> m_Runs; ///< by variant
    const char* m_Declined = nullptr;
    const float* m_Bias = nullptr;
    size_t m_BiasCount = 0; ///< of halves that come at run time
    size_t m_BiasOffset = 0;
    size_t m_InputOffset = 0; ///< in a part's scratch memory
    size_t m_OutputOffset = 0;
    size_t m_InnerOffset = 0;
    size_t m_PartsOffset = 0;
    size_t m_PartBytes = 0;
    size_t m_Parts = 1;
    backends::Scratch m_Scratch;
};

/// What runs the bands, also with a tensor that is added.
backends::Prepared PrepareBands(std::shared_ptr<const HalfBands> bands, const ReshapeArgs& args);

} // namespace tenon::cpu
