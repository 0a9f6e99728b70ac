// SPDX-License-Identifier: Apache-2.0
// DetectionPostProcess, of scores in float, int8 or uint8: the kernel row and the loops over boxes. Boxes are ranked by
// scores as they are stored: [boxes][columns] -> [boxes], few classes by loads that deinterleave columns, more classes
// by transposed blocks; or scores are split by class: [boxes][columns] -> [classes][boxes].
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/ReduceVectors.hpp"
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

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_DETECTION_TYPES
#define TENON_DETECTION_TYPES
namespace tenon::cpu
{

namespace
{

/// The scores of boxes, [boxes][columns]: the background's if there is one, then those of the classes.
template <typename T>
struct BoxScores
{
    const T* m_Scores = nullptr;
    size_t m_Columns = 0; ///< columns of a box
    size_t m_First = 0;   ///< columns before the classes: 0, or 1 for the background
};

/// ranks[i] = the largest score of a class of box i, for boxes [begin, end). NaN counts as the lowest value.
template <typename T>
using RankBoxes = void (*)(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks);

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/detection/DetectionPostProcess.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename T>
constexpr T Lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

/// Ranks one box after the other.
template <typename T>
void RankEach(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks)
{
    for (size_t i = begin; i < end; ++i)
    {
        T best = Lowest<T>;
        for (size_t c = scores.m_First; c < scores.m_Columns; ++c)
        {
            best = std::max(best, scores.m_Scores[i * scores.m_Columns + c]);
        }
        ranks[i] = best;
    }
}

/// The largest score of each box of a vector. NaN is passed over.
template <size_t Columns, class D, typename T>
HWY_INLINE hn::Vec<D> RankVector(D d, const T* from, size_t first)
{
    hn::Vec<D> v[Columns];
    if constexpr (Columns == 2)
    {
        hn::LoadInterleaved2(d, from, v[0], v[1]);
    }
    else if constexpr (Columns == 3)
    {
        hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
    }
    else
    {
        hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
    }
    hn::Vec<D> best = hn::Set(d, Lowest<T>);
    best = first == 0 ? GreaterOf(v[0], best) : best;
    HWY_UNROLL(3)
    for (size_t c = 1; c < Columns; ++c)
    {
        best = GreaterOf(v[c], best);
    }
    return best;
}

template <size_t Columns, typename T>
void RankOfFew(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks)
{
    constexpr size_t Lanes = HWY_LANES(T);
    const hn::CappedTag<T, Lanes> d;
    if (end - begin < Lanes)
    {
        RankEach(scores, begin, end, ranks);
        return;
    }
    for (size_t i = begin; i < end; i += Lanes)
    {
        const size_t box = std::min(i, end - Lanes);
        hn::StoreU(RankVector<Columns>(d, scores.m_Scores + box * Columns, scores.m_First), d, ranks + box);
    }
}

/// The function for few columns; null: there are too many.
template <typename T>
RankBoxes<T> FindRankOfFew(size_t columns)
{
    if (std::is_floating_point_v<T> && HWY_ARCH_ARM_V7)
    {
        return RankEach<T>; // these vectors flush subnormal numbers to zero
    }
    switch (columns)
    {
    case 2: return RankOfFew<2, T>;
    case 3: return RankOfFew<3, T>;
    case 4: return RankOfFew<4, T>;
    default: return nullptr;
    }
}

RankBoxes<float> RankOfFewF32(size_t columns)
{
    return FindRankOfFew<float>(columns);
}

RankBoxes<int8_t> RankOfFewInt8(size_t columns)
{
    return FindRankOfFew<int8_t>(columns);
}

RankBoxes<uint8_t> RankOfFewUint8(size_t columns)
{
    return FindRankOfFew<uint8_t>(columns);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
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

template <typename T>
constexpr size_t TypeIndex = std::is_floating_point_v<T> ? 0
                             : std::is_signed_v<T>       ? 1
                                                         : 2; // index of the type in ReduceFunctions

/// to[c * stride + i] = the score of class c of box begin + i, for boxes [begin, end) and `classes` classes.
template <typename T>
void SplitClasses(const BoxScores<T>& scores, size_t classes, size_t begin, size_t end, T* to, size_t stride)
{
    const T* from = scores.m_Scores + begin * scores.m_Columns + scores.m_First;
    TransposeElements<sizeof(T)>(reinterpret_cast<const std::byte*>(from), scores.m_Columns * sizeof(T), classes,
                                 end - begin, reinterpret_cast<std::byte*>(to), stride * sizeof(T));
}

/// Transposes blocks of boxes and classes, so that each class is a row of boxes. The maximum of earlier blocks is one
/// more row.
template <typename T>
void RankOfMany(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks)
{
    constexpr size_t Boxes = 256 / sizeof(T); // boxes: a few vectors on any processor
    constexpr size_t Classes = 32;
    const ReduceFunction findLargest = GetReduceFunctions().m_Columns[1][TypeIndex<T>];
    alignas(64) T block[(Classes + 1) * Boxes];
    for (size_t i = begin; i < end; i += Boxes)
    {
        const size_t boxes = std::min(Boxes, end - i);
        for (size_t c = scores.m_First; c < scores.m_Columns; c += Classes)
        {
            const size_t classes = std::min(Classes, scores.m_Columns - c);
            const bool isFirst = c == scores.m_First;
            SplitClasses({scores.m_Scores, scores.m_Columns, c}, classes, i, i + boxes, block + Boxes, Boxes);
            std::copy_n(ranks + i, isFirst ? 0 : boxes, block);
            findLargest(isFirst ? block + Boxes : block, classes + (isFirst ? 0 : 1), Boxes, boxes, ranks + i);
        }
    }
}

/// The function for this number of columns, 2 or more, and the processor at hand. Precondition: it has vectors, see
/// CpuFeatures.
template <typename T>
RankBoxes<T> FindRankBoxes(size_t columns)
{
    RankBoxes<T> few = nullptr;
    if constexpr (std::is_floating_point_v<T>)
    {
        few = TENON_CHOOSE(RankOfFewF32)(columns);
    }
    else if constexpr (std::is_signed_v<T>)
    {
        few = TENON_CHOOSE(RankOfFewInt8)(columns);
    }
    else
    {
        few = TENON_CHOOSE(RankOfFewUint8)(columns);
    }
    return few != nullptr ? few : RankOfMany<T>;
}

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
#endif
