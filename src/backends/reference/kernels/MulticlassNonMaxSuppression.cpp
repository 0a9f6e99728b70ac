// SPDX-License-Identifier: Apache-2.0
// MulticlassNonMaxSuppression: ONNX's NonMaxSuppression. For each class of each batch, boxes whose score exceeds the
// threshold are visited from the best on, the lower index first if scores are equal. A box that overlaps an earlier
// selected box by more than the overlap threshold is dropped. The number of selected boxes is known only then, so the
// output is allocated while running.
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet Float = DataType::Float32;
constexpr backends::TypeRow MulticlassNonMaxSuppressionTypes[] = {
    backends::Types({Float, Float, IndexTypes, Float}, DataType::Signed64)};

SupportResult CheckMulticlassNonMaxSuppression(const LayerView& layer)
{
    return layer.HasInput(4) ? CheckSameType(layer.GetInput(4), "input 4", DataType::Float32) : SupportResult::Yes();
}

struct Corners
{
    float m_Top;
    float m_Left;
    float m_Bottom;
    float m_Right;
    float m_Area;
};

Corners ReadBox(const float* box, bool isCentered)
{
    Corners corners{};
    if (isCentered)
    {
        const float halfWidth = box[2] / 2.0f;
        const float halfHeight = box[3] / 2.0f;
        corners = {box[1] - halfHeight, box[0] - halfWidth, box[1] + halfHeight, box[0] + halfWidth, 0.0f};
    }
    else
    {
        corners = {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]),
                   std::max(box[1], box[3]), 0.0f};
    }
    corners.m_Area = (corners.m_Bottom - corners.m_Top) * (corners.m_Right - corners.m_Left);
    return corners;
}

/// Whether intersection over union exceeds the threshold. Boxes without area overlap nothing.
bool Overlaps(const Corners& a, const Corners& b, float threshold)
{
    const float height = std::min(a.m_Bottom, b.m_Bottom) - std::max(a.m_Top, b.m_Top);
    const float width = std::min(a.m_Right, b.m_Right) - std::max(a.m_Left, b.m_Left);
    if (!(height > 0.0f) || !(width > 0.0f) || !(a.m_Area > 0.0f) || !(b.m_Area > 0.0f))
    {
        return false;
    }
    const float intersection = height * width;
    const float joined = a.m_Area + b.m_Area - intersection;
    return joined > 0.0f && intersection / joined > threshold;
}

struct Candidate
{
    float m_Score;
    uint32_t m_Box;

    /// Whether b is visited before a.
    friend bool operator<(const Candidate& a, const Candidate& b)
    {
        return a.m_Score != b.m_Score ? a.m_Score < b.m_Score : a.m_Box > b.m_Box;
    }
};

struct Limits
{
    size_t m_Max = 0; ///< maximum number of boxes of a class
    float m_Overlap = 0.0f;
    float m_Score = -std::numeric_limits<float>::infinity();
    bool m_TakesAll = true; ///< boxes of all scores are candidates
};

struct SuppressionRun
{
    size_t m_Batches;
    size_t m_Classes;
    size_t m_Boxes;
    bool m_IsCentered;
    bool m_HasMaxInput;
    bool m_HasOverlap;
    bool m_HasScore;
    IndexInput m_MaxInput;
    size_t m_Corners; ///< offsets in the scratch memory
    size_t m_Candidates;
    size_t m_Counts;

    Limits ReadLimits(const ExecuteArgs& run) const
    {
        Limits limits;
        if (m_HasMaxInput)
        {
            limits.m_Max =
                static_cast<size_t>(std::clamp<int64_t>(m_MaxInput.ReadAny(run, 0), 0, static_cast<int64_t>(m_Boxes)));
        }
        limits.m_Overlap = m_HasOverlap ? *run.GetInput<float>(3) : 0.0f;
        if (m_HasScore)
        {
            limits.m_Score = *run.GetInput<float>(4);
            limits.m_TakesAll = false;
        }
        return limits;
    }

    void operator()(const ExecuteArgs& run) const
    {
        const Limits limits = ReadLimits(run);
        auto* const corners = backends::Scratch::At<Corners>(run.m_Scratch, m_Corners);
        auto* const candidates = backends::Scratch::At<Candidate>(run.m_Scratch, m_Candidates);
        auto* const counts = backends::Scratch::At<uint32_t>(run.m_Scratch, m_Counts);
        const float* const boxes = run.GetInput<float>(0);
        for (size_t i = 0; i < m_Batches * m_Boxes; ++i)
        {
            corners[i] = ReadBox(boxes + i * 4, m_IsCentered);
        }
        const auto part = [&](size_t begin, size_t end)
        {
            for (size_t i = begin; i < end; ++i)
            {
                counts[i] = Select(run.GetInput<float>(1) + i * m_Boxes, corners + i / m_Classes * m_Boxes, limits,
                                   candidates + i * m_Boxes);
            }
        };
        run.m_Parallel->Run(m_Batches * m_Classes, 1, std::ref(part));
        Write(run, candidates, counts);
    }

    /// Moves the selected boxes to the front of `candidates`, and returns their number. The best candidate is removed
    /// from the heap as long as more boxes are needed; a selected one moves to the end, after the heap.
    uint32_t Select(const float* scores, const Corners* corners, const Limits& limits, Candidate* candidates) const
    {
        size_t waiting = 0;
        for (uint32_t i = 0; i < m_Boxes; ++i)
        {
            if (limits.m_TakesAll ? scores[i] >= limits.m_Score : scores[i] > limits.m_Score) // false for NaN
            {
                candidates[waiting++] = {scores[i], i};
            }
        }
        std::make_heap(candidates, candidates + waiting);
        Candidate* const end = candidates + waiting;
        uint32_t selected = 0;
        while (waiting != 0 && selected < limits.m_Max)
        {
            std::pop_heap(candidates, candidates + waiting);
            const Candidate best = candidates[--waiting];
            const Corners& box = corners[best.m_Box];
            const bool isFree = std::none_of(end - selected, end,
                                             [&](const Candidate& other)
                                             { return Overlaps(box, corners[other.m_Box], limits.m_Overlap); });
            if (isFree)
            {
                ++selected;
                *(end - selected) = best;
            }
        }
        std::reverse(end - selected, end);
        std::move(end - selected, end, candidates);
        return selected;
    }

    void Write(const ExecuteArgs& run, const Candidate* candidates, const uint32_t* counts) const
    {
        uint64_t total = 0;
        for (size_t i = 0; i < m_Batches * m_Classes; ++i)
        {
            total += counts[i];
        }
        if (total > std::numeric_limits<unsigned int>::max())
        {
            throw RuntimeException("more than 32 bits of boxes are selected: lower the limit of a class");
        }
        auto* out =
            static_cast<int64_t*>(run.m_LateOutputs->Allocate(0, TensorShape({static_cast<unsigned int>(total), 3})));
        for (size_t i = 0; i < m_Batches * m_Classes; ++i)
        {
            for (uint32_t k = 0; k < counts[i]; ++k)
            {
                *out++ = static_cast<int64_t>(i / m_Classes);
                *out++ = static_cast<int64_t>(i % m_Classes);
                *out++ = candidates[i * m_Boxes + k].m_Box;
            }
        }
    }
};

backends::Prepared PrepareMulticlassNonMaxSuppression(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& scores = args.GetInput(1).GetShape();
    RequireRank(args.GetInput(1), "input 1", 3);
    RequireElements(args.GetInput(0), "input 0", uint64_t{scores[0]} * scores[2] * 4);
    const auto has = [&](size_t i) { return i < args.m_Inputs.size() && args.m_Inputs[i] != nullptr; };
    for (size_t i = 2; i < 5; ++i)
    {
        if (has(i))
        {
            RequireElements(args.GetInput(i), "a parameter", 1);
        }
    }
    backends::Scratch scratch;
    const size_t corners = scratch.Add<Corners>(size_t{scores[0]} * scores[2]);
    const size_t candidates = scratch.Add<Candidate>(scores.GetNumElements());
    const size_t counts = scratch.Add<uint32_t>(size_t{scores[0]} * scores[1]);
    return backends::Prepared(
        SuppressionRun{scores[0], scores[1], scores[2],
                       args.GetDescriptor<MulticlassNonMaxSuppressionDescriptor>().m_CenterPointBox, has(2), has(3),
                       has(4), IndexInput(args, has(2) ? 2 : 0), corners, candidates, counts},
        scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefMulticlassNonMaxSuppressionKernel = {
    "RefMulticlassNonMaxSuppression", MulticlassNonMaxSuppressionTypes, PrepareMulticlassNonMaxSuppression,
    CheckMulticlassNonMaxSuppression};

} // namespace tenon::ref
