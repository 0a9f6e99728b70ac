// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: boxes of high scores that overlap little, hard or soft (Gaussian). Candidates wait in a heap, and
// each is compared with a selected box only once. All steps follow TFLite, down to the order of equal scores.
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet Float = DataType::Float32;
constexpr backends::TypeRow NonMaxSuppressionTypes[] = {
    backends::Types({Float, Float, IndexTypes, Float}, DataType::Signed32)};

SupportResult CheckNonMaxSuppression(const LayerView& layer)
{
    SupportResult result = CheckSameType(layer.GetInput(4), "input 4", DataType::Float32);
    if (result && layer.GetNumInputs() > 5)
    {
        if (!layer.HasInput(5))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters, "input 5, the sigma, is not connected");
        }
        result = CheckSameType(layer.GetInput(5), "input 5", DataType::Float32);
    }
    for (size_t i = 1; result && i < layer.GetNumOutputs(); ++i)
    {
        const bool isCount = i + 1 == layer.GetNumOutputs();
        result = CheckSameType(layer.GetOutput(i), isCount ? "the count" : "output 1",
                               isCount ? DataType::Signed32 : DataType::Float32);
    }
    return result;
}

/// A box by two corners in any order.
struct Box
{
    float m_Y1;
    float m_X1;
    float m_Y2;
    float m_X2;
};

float GetOverlap(const Box& a, const Box& b)
{
    const float aTop = std::min(a.m_Y1, a.m_Y2);
    const float aBottom = std::max(a.m_Y1, a.m_Y2);
    const float aLeft = std::min(a.m_X1, a.m_X2);
    const float aRight = std::max(a.m_X1, a.m_X2);
    const float bTop = std::min(b.m_Y1, b.m_Y2);
    const float bBottom = std::max(b.m_Y1, b.m_Y2);
    const float bLeft = std::min(b.m_X1, b.m_X2);
    const float bRight = std::max(b.m_X1, b.m_X2);
    const float aArea = (aBottom - aTop) * (aRight - aLeft);
    const float bArea = (bBottom - bTop) * (bRight - bLeft);
    if (aArea <= 0.0f || bArea <= 0.0f)
    {
        return 0.0f;
    }
    const float height = std::max(std::min(aBottom, bBottom) - std::max(aTop, bTop), 0.0f);
    const float width = std::max(std::min(aRight, bRight) - std::max(aLeft, bLeft), 0.0f);
    const float intersection = height * width;
    return intersection / (aArea + bArea - intersection);
}

struct Candidate
{
    uint32_t m_Box;
    float m_Score;
    uint32_t m_Compared; ///< number of selected boxes that it was compared with

    friend bool operator<(const Candidate& a, const Candidate& b) { return a.m_Score < b.m_Score; }
};

struct Thresholds
{
    float m_Overlap;
    float m_Score;
    float m_Sigma; ///< 0: no soft suppression
};

/// The selected boxes; the lists have room for all boxes.
struct Selection
{
    int32_t* m_Boxes;
    float* m_Scores;
    uint32_t m_Count = 0;
};

/// Lowers the candidate's score by its overlaps; false if it is dropped.
bool Compare(const Box* boxes, const Thresholds& thresholds, const Selection& selection, Candidate& candidate)
{
    const float factor = thresholds.m_Sigma > 0.0f ? -0.5f / thresholds.m_Sigma : 0.0f;
    for (uint32_t i = selection.m_Count; i-- > candidate.m_Compared;)
    {
        const float overlap = GetOverlap(boxes[candidate.m_Box], boxes[selection.m_Boxes[i]]);
        if (overlap >= thresholds.m_Overlap)
        {
            return false;
        }
        if (thresholds.m_Sigma > 0.0f)
        {
            candidate.m_Score *= std::exp(factor * overlap * overlap);
        }
        if (candidate.m_Score <= thresholds.m_Score)
        {
            break;
        }
    }
    candidate.m_Compared = selection.m_Count;
    return true;
}

void Select(const Box* boxes, const float* scores, size_t count, size_t limit, const Thresholds& thresholds,
            Candidate* heap, Selection& selection)
{
    size_t waiting = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        if (scores[i] > thresholds.m_Score)
        {
            heap[waiting++] = {i, scores[i], 0};
            std::push_heap(heap, heap + waiting);
        }
    }
    const auto max = static_cast<uint32_t>(std::min(waiting, limit));
    while (selection.m_Count < max && waiting != 0)
    {
        std::pop_heap(heap, heap + waiting);
        Candidate candidate = heap[--waiting];
        const float before = candidate.m_Score;
        if (!Compare(boxes, thresholds, selection, candidate))
        {
            continue;
        }
        if (candidate.m_Score == before)
        {
            selection.m_Boxes[selection.m_Count] = static_cast<int32_t>(candidate.m_Box);
            selection.m_Scores[selection.m_Count] = candidate.m_Score;
            ++selection.m_Count;
        }
        // A box that was just selected returns to the heap, too, and is dropped because it overlaps itself.
        if (candidate.m_Score > thresholds.m_Score)
        {
            heap[waiting++] = candidate;
            std::push_heap(heap, heap + waiting);
        }
    }
}

struct SuppressionRun
{
    size_t m_Boxes;
    size_t m_Limit; ///< length of the outputs
    bool m_Soft;
    size_t m_Heap; ///< offsets in the scratch memory
    size_t m_Indices;
    size_t m_Scores;

    Thresholds ReadThresholds(const ExecuteArgs& args) const
    {
        const float sigma = m_Soft ? *args.GetInput<float>(5) : 0.0f;
        if (!(sigma >= 0.0f))
        {
            throw RuntimeException("input 5, sigma, is " + std::to_string(sigma) + "; it may not be negative");
        }
        return {*args.GetInput<float>(3), *args.GetInput<float>(4), sigma};
    }

    void operator()(const ExecuteArgs& args) const
    {
        Selection selection{backends::Scratch::At<int32_t>(args.m_Scratch, m_Indices),
                            backends::Scratch::At<float>(args.m_Scratch, m_Scores)};
        Select(args.GetInput<Box>(0), args.GetInput<float>(1), m_Boxes, m_Limit, ReadThresholds(args),
               backends::Scratch::At<Candidate>(args.m_Scratch, m_Heap), selection);
        Write(selection.m_Boxes, selection.m_Count, args.GetOutput<int32_t>(0));
        if (m_Soft)
        {
            Write(selection.m_Scores, selection.m_Count, args.GetOutput<float>(1));
        }
        *args.GetOutput<int32_t>(m_Soft ? 2 : 1) = static_cast<int32_t>(selection.m_Count);
    }

    template <typename T>
    void Write(const T* values, size_t count, T* out) const
    {
        std::copy_n(values, count, out);
        std::fill_n(out + count, m_Limit - count, T(0));
    }
};

backends::Prepared PrepareNonMaxSuppression(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const size_t boxes = args.GetInput(1).GetNumElements();
    RequireElements(args.GetInput(0), "input 0", uint64_t{boxes} * 4);
    for (size_t i = 2; i < args.m_Inputs.size(); ++i)
    {
        RequireElements(args.GetInput(i), "a parameter", 1);
    }
    const size_t limit = args.GetOutput(0).GetNumElements();
    for (size_t i = 1; i < args.m_Outputs.size(); ++i)
    {
        RequireElements(args.GetOutput(i), "an output", i + 1 < args.m_Outputs.size() ? limit : 1);
    }
    backends::Scratch scratch;
    const size_t heap = scratch.Add<Candidate>(boxes);
    const size_t indices = scratch.Add<int32_t>(boxes);
    const size_t scores = scratch.Add<float>(boxes);
    const bool soft = args.GetDescriptor<NonMaxSuppressionDescriptor>().m_Soft;
    return backends::Prepared(SuppressionRun{boxes, limit, soft, heap, indices, scores}, scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefNonMaxSuppressionKernel = {"RefNonMaxSuppression", NonMaxSuppressionTypes,
                                                            PrepareNonMaxSuppression, CheckNonMaxSuppression};

} // namespace tenon::ref
