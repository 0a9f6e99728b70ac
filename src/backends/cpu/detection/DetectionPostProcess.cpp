// SPDX-License-Identifier: Apache-2.0
// Kernel row of DetectionPostProcess, of scores in float, int8 or uint8. Boxes are ranked by scores as they are stored.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/detection/BoxRanks.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/TopCandidates.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/Detection.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using ref::Box;
using ref::Detection;

constexpr backends::TypeSet Numbers = {DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16};
constexpr backends::TypeSet Scores = {DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8};
constexpr backends::TypeRow DetectionTypes[] = {
    backends::PerTensor(backends::Types({Numbers, Scores, Numbers}, DataType::Float32))};

/// Non-maximum suppression. Boxes come from the best rank on and stay unless a better one overlaps them. A box is
/// decoded when it is next in this order; the search stops as soon as enough boxes stay. T is the type of stored
/// scores, whose order is that of the real scores: float, int8_t or uint8_t.
template <typename T>
class BoxSelector
{
public:
    /// A selection of at most `limit` boxes (1 or more).
    BoxSelector(const ref::DetectionTensors& tensors, size_t limit, backends::Scratch& scratch)
        : m_Scan(FindTopScan<T>()), m_CandidatesAt(scratch.Add<uint64_t>(tensors.m_NumBoxes + MaxFound)),
          m_KeptAt(scratch.Add<ref::Box>(limit))
    {
        FindBound(tensors);
    }

    /// The largest stored score below the threshold, if there is one.
    std::optional<T> GetBound() const { return m_Bound; }

    /// Calls keep(i, box, its corners) for boxes that stay, the best first, at most `limit`. Only boxes whose rank is
    /// above the bound are considered. `getScore(box)` is the real score of the rank. Returns the number of boxes that
    /// stay.
    template <typename GetScore, typename Keep>
    size_t Select(const ref::DetectionTensors& tensors, const ExecuteArgs& args, const T* ranks, std::optional<T> bound,
                  size_t limit, const GetScore& getScore, const Keep& keep) const
    {
        const size_t numBoxes = tensors.m_NumBoxes;
        auto* const candidates = backends::Scratch::At<uint64_t>(args.m_Scratch, m_CandidatesAt);
        auto* const kept = backends::Scratch::At<ref::Box>(args.m_Scratch, m_KeptAt);
        size_t count = 0;
        uint64_t next = 0; // all candidates before it are done
        // If boxes suppress each other, more candidates are needed than boxes stay.
        for (size_t wanted = std::min(numBoxes, 4 * limit + 64);; wanted = std::min(numBoxes, 4 * wanted))
        {
            TopCandidates<T> top(m_Scan, numBoxes, wanted, candidates, next);
            top.Collect(ranks, bound);
            uint64_t* end = candidates + top.GetCount();
            // A heap, as perhaps not all candidates are needed.
            std::make_heap(candidates, end, std::greater<>());
            while (end != candidates && count < limit)
            {
                std::pop_heap(candidates, end--, std::greater<>());
                const uint32_t index = GetElement(*end);
                if (!(getScore(index) >= tensors.m_Rules.m_ScoreThreshold))
                {
                    continue; // NaN: such boxes are collected even if better ones are left out
                }
                next = *end + 1;
                const ref::Box box = tensors.DecodeBox(args, index);
                const auto overlaps = [&](const ref::Box& better) { return tensors.m_Rules.Overlap(better, box); };
                if (std::none_of(kept, kept + count, overlaps))
                {
                    keep(count, index, box);
                    kept[count++] = box;
                }
            }
            if (count == limit || top.HasAll())
            {
                return count;
            }
        }
    }

private:
    void FindBound(const ref::DetectionTensors& tensors)
    {
        const float threshold = tensors.m_Rules.m_ScoreThreshold;
        if constexpr (std::is_floating_point_v<T>)
        {
            constexpr float Infinity = std::numeric_limits<float>::infinity();
            if (threshold != -Infinity)
            {
                m_Bound = std::nextafter(threshold, -Infinity);
            }
        }
        else
        {
            for (int stored = std::numeric_limits<T>::lowest(); stored <= std::numeric_limits<T>::max(); ++stored)
            {
                if (tensors.m_Scores.ToReal(stored) >= threshold)
                {
                    break;
                }
                m_Bound = static_cast<T>(stored);
            }
        }
    }

    TopScan<T> m_Scan;
    size_t m_CandidatesAt;
    size_t m_KeptAt;
    std::optional<T> m_Bound; ///< boxes must have a score above it
};

/// T is the type of stored scores, whose order is that of the real scores.
template <typename T>
class Detector
{
public:
    explicit Detector(const ReshapeArgs& args)
        : m_Tensors(args), m_Limit(std::min<size_t>(m_Tensors.m_NumBoxes, GetMaxDetections())),
          m_Selector(m_Tensors, m_Limit, m_Scratch)
    {
        const size_t numBoxes = m_Tensors.m_NumBoxes;
        const size_t numClasses = m_Tensors.m_Descriptor.m_NumClasses;
        m_RanksAt = IsOneColumn() ? 0 : m_Scratch.Add<T>(numBoxes, IsRegular() ? numClasses : 1);
        if (IsRegular())
        {
            m_AddedAt = m_Scratch.Add<Detection>(m_Limit);
            m_BestAt = m_Scratch.Add<Detection>(GetMaxDetections());
            m_MergedAt = m_Scratch.Add<Detection>(GetMaxDetections());
        }
        else
        {
            m_Rank = IsOneColumn() ? nullptr : FindRankBoxes<T>(m_Tensors.m_ScoreColumns);
            m_OwnAt = m_Scratch.Add<float>(numClasses);
            m_ClassesAt = m_Scratch.Add<uint32_t>(numClasses);
        }
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    bool HasNegativeSizes(const void* anchors) const { return m_Tensors.HasNegativeSizes(anchors); }

    void Run(const ExecuteArgs& args) const
    {
        m_Tensors.SetToZero(args);
        const size_t count = IsRegular() ? RunRegular(args) : RunFast(args);
        args.GetOutput<float>(3)[0] = static_cast<float>(count);
    }

private:
    bool IsRegular() const { return m_Tensors.m_Descriptor.m_UseRegularNms; }
    bool IsOneColumn() const { return m_Tensors.m_ScoreColumns == 1; }
    size_t GetMaxDetections() const { return m_Tensors.m_Descriptor.m_MaxDetections; }

    BoxScores<T> GetScores(const ExecuteArgs& args) const
    {
        return {args.GetInput<T>(1), m_Tensors.m_ScoreColumns, m_Tensors.GetFirstScore(0)};
    }

    /// Calls f(begin, end) for ranges of boxes, on several threads.
    template <typename F>
    void ForBoxes(const ExecuteArgs& args, const F& f) const
    {
        RunRanges(*args.m_Parallel, m_Tensors.m_NumBoxes, GetGrain(m_Tensors.m_ScoreColumns * sizeof(T)), f);
    }

    /// The dequantized scores of a box's classes.
    const float* LoadOwnScores(const ExecuteArgs& args, size_t box) const
    {
        const T* stored = args.GetInput<T>(1) + m_Tensors.GetFirstScore(box);
        if constexpr (std::is_floating_point_v<T>)
        {
            return stored;
        }
        else
        {
            float* own = Scratch::At<float>(args.m_Scratch, m_OwnAt);
            for (size_t c = 0; c < m_Tensors.m_Descriptor.m_NumClasses; ++c)
            {
                own[c] = m_Tensors.m_Scores.ToReal(stored[c]);
            }
            return own;
        }
    }

    const T* RankAll(const ExecuteArgs& args) const
    {
        if (IsOneColumn())
        {
            return args.GetInput<T>(1);
        }
        T* ranks = Scratch::At<T>(args.m_Scratch, m_RanksAt);
        ForBoxes(args, [&](size_t begin, size_t end) { m_Rank(GetScores(args), begin, end, ranks); });
        return ranks;
    }

    /// Fast suppression, as the reference kernel's: one selection for all classes, by the best score of each box. Boxes
    /// that reach the threshold stay, from the best on, unless a box that stays overlaps them.
    size_t RunFast(const ExecuteArgs& args) const
    {
        const T* ranks = RankAll(args);
        const auto getScore = [&](size_t box)
        {
            const float score = m_Tensors.m_Scores.ToReal(ranks[box]);
            // Boxes whose scores are all NaN have this rank, too.
            return score == -std::numeric_limits<float>::infinity() ? *m_Tensors.FindBestScore(LoadOwnScores(args, box))
                                                                    : score;
        };
        const auto keep = [&](size_t i, size_t index, const Box& box)
        {
            m_Tensors.WriteBestClasses(args, i, box, LoadOwnScores(args, index),
                                       Scratch::At<uint32_t>(args.m_Scratch, m_ClassesAt));
        };
        return m_Selector.Select(m_Tensors, args, ranks, m_Selector.GetBound(), m_Limit, getScore, keep);
    }

    /// The scores by class: [classes][boxes].
    const T* SplitAll(const ExecuteArgs& args) const
    {
        if (IsOneColumn())
        {
            return args.GetInput<T>(1);
        }
        T* ranks = Scratch::At<T>(args.m_Scratch, m_RanksAt);
        ForBoxes(args,
                 [&](size_t begin, size_t end)
                 {
                     SplitClasses(GetScores(args), m_Tensors.m_Descriptor.m_NumClasses, begin, end, ranks + begin,
                                  m_Tensors.m_NumBoxes);
                 });
        return ranks;
    }

    /// Regular suppression, as the reference kernel's: one selection a class. When all output rows are taken, a box
    /// must be better than the one in the last row, and replaces it.
    size_t RunRegular(const ExecuteArgs& args) const
    {
        const T* ranks = SplitAll(args);
        const size_t maxDetections = GetMaxDetections();
        const size_t maxOfClass = std::min<size_t>(m_Limit, m_Tensors.m_Descriptor.m_DetectionsPerClass);
        auto* added = Scratch::At<Detection>(args.m_Scratch, m_AddedAt);
        auto* best = Scratch::At<Detection>(args.m_Scratch, m_BestAt);
        auto* merged = Scratch::At<Detection>(args.m_Scratch, m_MergedAt);
        size_t count = 0;
        for (uint32_t c = 0; c < m_Tensors.m_Descriptor.m_NumClasses; ++c)
        {
            const T* own = ranks + c * m_Tensors.m_NumBoxes;
            const auto getScore = [&](size_t box) { return m_Tensors.m_Scores.ToReal(own[box]); };
            const auto keep = [&](size_t i, uint32_t box, const Box&) { added[i] = {box, c, getScore(box)}; };
            std::optional<T> bound = m_Selector.GetBound();
            if (count == maxDetections)
            {
                const Detection& last = best[maxDetections - 1];
                bound = ranks[last.m_Class * m_Tensors.m_NumBoxes + last.m_Box];
            }
            const size_t numAdded = m_Selector.Select(m_Tensors, args, own, bound, maxOfClass, getScore, keep);
            if (numAdded != 0)
            {
                count = ref::MergeDetections(
                    best, count, numAdded, [added](size_t i) { return added[i]; }, maxDetections, merged);
                std::swap(best, merged);
            }
        }
        for (size_t i = 0; i < count; ++i)
        {
            m_Tensors.WriteRow(args, i, m_Tensors.DecodeBox(args, best[i].m_Box), best[i].m_Class, best[i].m_Score);
        }
        return count;
    }

    ref::DetectionTensors m_Tensors;
    size_t m_Limit; ///< boxes that may stay in one selection, which is for one class if suppression is regular
    Scratch m_Scratch;
    BoxSelector<T> m_Selector;
    RankBoxes<T> m_Rank = nullptr;
    size_t m_RanksAt = 0; ///< offset in scratch memory: ranks of boxes, or scores by class
    size_t m_OwnAt = 0;
    size_t m_ClassesAt = 0;
    size_t m_AddedAt = 0;
    size_t m_BestAt = 0;
    size_t m_MergedAt = 0;
};

/// Layers with boxes of negative size run on the reference kernel, which reports the first such box.
template <typename T>
Prepared MakeDetection(const ReshapeArgs& args, Prepared& reference)
{
    const Detector<T> detector(args);
    const void* anchors = args.m_ConstantData[2];
    if (anchors == nullptr)
    {
        const size_t bytes = std::max(detector.GetScratchBytes(), reference.m_ScratchBytes);
        return Prepared(
            [detector, run = std::move(reference.m_Run)](const ExecuteArgs& execute)
            {
                if (detector.HasNegativeSizes(execute.m_Inputs[2]))
                {
                    run(execute);
                    return;
                }
                detector.Run(execute);
            },
            bytes);
    }
    if (detector.HasNegativeSizes(anchors))
    {
        return Prepared::Declined("an anchor has a negative size");
    }
    return Prepared([detector](const ExecuteArgs& execute) { detector.Run(execute); }, detector.GetScratchBytes());
}

/// Whether stored scores have the order of the dequantized ones. They do not if some become infinite.
bool OrdersAsStored(const ReshapeArgs& args)
{
    const ref::RealInput scores(args, 1);
    return scores.m_Type == DataType::Float32 ||
           (std::isfinite(scores.ToReal(int32_t{-128})) && std::isfinite(scores.ToReal(int32_t{255})));
}

Prepared RefineDetection(const ReshapeArgs& args, const backends::PackedWeights*, Prepared& reference)
{
    const auto& descriptor = args.GetDescriptor<DetectionPostProcessDescriptor>();
    const bool isEmpty = args.GetInput(1).GetNumElements() == 0 || descriptor.m_MaxDetections == 0;
    if (isEmpty || std::isnan(descriptor.m_NmsScoreThreshold))
    {
        return Prepared::Declined("there is nothing to detect");
    }
    if (!OrdersAsStored(args))
    {
        return Prepared::Declined("scores become infinite where they are dequantized");
    }
    switch (args.GetInput(1).GetDataType())
    {
    case DataType::Float32: return MakeDetection<float>(args, reference);
    case DataType::QAsymmU8: return MakeDetection<uint8_t>(args, reference);
    default: return MakeDetection<int8_t>(args, reference);
    }
}

} // namespace

extern const backends::Kernel CpuDetectionPostProcessKernel = {.m_Name = "CpuDetectionPostProcess",
                                                               .m_Types = DetectionTypes,
                                                               .m_Reference = &ref::RefDetectionPostProcessKernel,
                                                               .m_Refine = RefineDetection};

} // namespace tenon::cpu
