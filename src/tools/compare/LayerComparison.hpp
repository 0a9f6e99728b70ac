// SPDX-License-Identifier: Apache-2.0
// LayerComparison: compares the tensors between the layers of two networks that were optimized with SetDebugEnabled.
#pragma once

#include "tools/common/OutputStore.hpp"
#include "tools/compare/TensorDifference.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/NetworkPlan.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::tools
{

/// An output of a layer of one of the networks, or of both.
struct ComparedLayer
{
    std::string m_Name; ///< with the networks around it
    std::string m_Type;
    unsigned int m_Output = 0;
    std::string m_Backend;          ///< empty if the layer is in the reference alone
    std::string m_ReferenceBackend; ///< empty if it is in the tested network alone
    std::optional<TensorDifference> m_Difference;
    std::string m_WhyNot; ///< why there is no difference
    std::string m_Fusion; ///< how the layer runs as one with others otherwise; may be empty
    bool m_IsInner =
        false; ///< whether its output exists only here, because an activation runs as a part of it otherwise
};

/// The values of one output that are compared, from the first one on. Loops have more.
constexpr size_t MaxValuesOfOutput = 100;

/// A layer of one network is that of the other network which has its name; without a name, the one of its type with the
/// same place among them. Values of a loop are told apart by their number.
class LayerComparison
{
public:
    LayerComparison(const std::vector<LayerAssignment>& tested, const std::vector<LayerAssignment>& reference,
                    const Tolerance& tolerance, const Limits& limits);
    LayerComparison(const LayerComparison&) = delete; // callbacks refer to it
    LayerComparison& operator=(const LayerComparison&) = delete;

    /// Notes the layers and fusions of the tested network as it runs otherwise.
    void AddFusions(const std::vector<LayerAssignment>& assignment, const NetworkPlan& plan);

    // Debug callbacks of the two networks: first the reference runs once, then the tested one. An exception ends
    // collecting, and is thrown by Finish.
    DebugCallbackFunction KeepReference();
    DebugCallbackFunction CompareTested();

    /// The layers in the order of execution, and behind them those of the reference alone. Throws InputError if the
    /// tensors of the reference exceed the limit on all tensors.
    std::vector<ComparedLayer> Finish();

private:
    /// The path of the network around the layer, its name, and its type if it has no name.
    using LayerName = std::tuple<std::string, std::string, std::string>;
    /// The layer, its output, and how many values of it there were before.
    using Key = std::tuple<LayerName, unsigned int, size_t>;
    using Assignments = std::unordered_map<LayerGuid, LayerAssignment>;

    struct Value
    {
        OutputData m_Tensor;
        const LayerAssignment* m_Layer;
        bool m_IsCompared = false;
    };

    static LayerName NameOf(const LayerAssignment& layer);
    static ComparedLayer MakeRow(const LayerAssignment& layer, unsigned int output);
    static Key MakeKey(const LayerAssignment& layer, unsigned int output,
                       std::map<std::pair<LayerName, unsigned int>, size_t>& counts);
    void Keep(const LayerAssignment& layer, unsigned int output, const TensorView& tensor);
    void Compare(const LayerAssignment& layer, unsigned int output, const TensorView& tensor);
    DebugCallbackFunction MakeCallback(const Assignments& layers,
                                       void (LayerComparison::*take)(const LayerAssignment&, unsigned int,
                                                                     const TensorView&));

    Assignments m_TestedLayers;
    Assignments m_ReferenceLayers;
    Tolerance m_Tolerance;
    Limits m_Limits;
    std::set<LayerName> m_TestedNames;
    std::map<std::pair<LayerName, unsigned int>, size_t> m_ReferenceCounts;
    std::map<std::pair<LayerName, unsigned int>, size_t> m_TestedCounts;
    std::map<Key, Value> m_Values; ///< of the reference
    std::vector<Key> m_Order;      ///< in which they came
    uint64_t m_Bytes = 0;
    std::map<LayerName, std::string> m_Fusions;
    std::set<LayerName> m_Inner; ///< layers with an activation
    std::vector<ComparedLayer> m_Rows;
    std::exception_ptr m_Failure;
};

/// A line for each layer, with the error as a bar, and lines about the first difference and the largest growth of the
/// error.
std::string FormatLayers(const std::vector<ComparedLayer>& layers, bool hasTolerance);

/// The index of the first layer with a difference, and that of the first with elements out of the tolerance.
std::optional<size_t> FindFirstDifference(const std::vector<ComparedLayer>& layers);
std::optional<size_t> FindFirstOutOfTolerance(const std::vector<ComparedLayer>& layers);

} // namespace tenon::tools
