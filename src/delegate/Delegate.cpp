// SPDX-License-Identifier: Apache-2.0
// Delegate: see Delegate.hpp.
//
// Which nodes are taken:
//   1. those for whose operators the .tflite parser has rows, but for what only the interpreter can run;
//   2. the interpreter says which partitions these nodes make; limits drop some of them;
//   3. the network of each partition is made by the rows, optimized for the backends and loaded. Where that fails, the
//      rows are asked about each of its nodes, and where they find nothing, optimizer and backends. Nodes that are
//      refused are left, and step 2 begins anew;
//   4. the nodes of all partitions that are loaded are replaced.
#include "delegate/Delegate.hpp"

#include "common/Log.hpp"
#include "delegate/NodeReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace tenon
{

TfLiteDelegate* CreateTfLiteDelegate(const TfLiteDelegateOptions& options)
{
    if (options.m_LoggingSeverity.has_value())
    {
        SetLogFilter(options.m_LoggingSeverity.value());
    }
    return (new delegate::Delegate(options))->Get();
}

void DeleteTfLiteDelegate(TfLiteDelegate* delegate)
{
    if (delegate != nullptr)
    {
        delete &delegate::Delegate::From(*delegate);
    }
}

} // namespace tenon

namespace tenon::delegate
{

namespace
{

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate)
{
    return Guard(context, kTfLiteDelegateError, [&] { Delegate::From(*delegate).Prepare(*context); });
}

} // namespace

/// The nodes of one graph, with the reason of each that is left.
class Delegate::Selection
{
public:
    Selection(const PartitionLoader& loader, const GraphView& graph) : m_Loader(loader), m_Graph(graph)
    {
        for (const Node& node : graph.Nodes())
        {
            const char* reason = ReasonToLeave(*node.m_Registration);
            m_Reasons.emplace_back(reason != nullptr                          ? reason
                                   : FindRow(*node.m_Registration) == nullptr ? "Tenon has no layer for it"
                                                                              : "");
            m_Places.emplace(node.m_Index, m_Places.size());
        }
    }

    using Loaded = std::map<std::vector<int32_t>, LoadedPartitionPtr>; ///< by the nodes of a partition

    /// Steps 2 and 3.
    void LoadPartitions()
    {
        if (!m_Graph.IsInOrder())
        {
            LeaveAll("a node reads what it or a later one computes");
            return;
        }
        for (bool isDone = false; !isDone;)
        {
            m_Partitions = ChoosePartitions();
            isDone = std::all_of(m_Partitions.begin(), m_Partitions.end(),
                                 [this](const Partition& partition) { return Load(partition); });
        }
    }

    const std::vector<Partition>& Partitions() const { return m_Partitions; }
    LoadedPartitionPtr Find(const Partition& partition) const { return m_Loaded.at(partition.m_Nodes); }
    std::vector<int32_t> Nodes() const
    {
        std::vector<int32_t> nodes;
        for (const Partition& partition : m_Partitions)
        {
            nodes.insert(nodes.end(), partition.m_Nodes.begin(), partition.m_Nodes.end());
        }
        std::sort(nodes.begin(), nodes.end(), [this](int32_t a, int32_t b) { return m_Places.at(a) < m_Places.at(b); });
        return nodes;
    }
    /// The table of what is taken and what is left.
    std::string Describe() const;
    /// The nodes that are left with their reasons, one a line.
    std::string DescribeLeft() const;

private:
    /// Of nodes without a reason to leave them. None where the runtime does not tell.
    std::optional<std::vector<Partition>> Preview(const std::vector<std::string>& reasons) const
    {
        std::vector<int32_t> nodes;
        for (size_t i = 0; i < reasons.size(); ++i)
        {
            if (reasons[i].empty())
            {
                nodes.push_back(m_Graph.Nodes()[i].m_Index);
            }
        }
        TfLiteDelegateParams* partitions = nullptr;
        int32_t count = 0;
        TfLiteContext& context = m_Graph.Context();
        if (nodes.empty())
        {
            return std::vector<Partition>();
        }
        if (context.PreviewDelegatePartitioning == nullptr ||
            context.PreviewDelegatePartitioning(&context, IntArray(nodes).Get(), &partitions, &count) != kTfLiteOk)
        {
            return std::nullopt;
        }
        std::vector<Partition> copies;
        for (int32_t i = 0; i < count; ++i)
        {
            copies.emplace_back(partitions[i]);
        }
        return copies;
    }

    /// Partitions within the options' limits. Nodes of others get these as their reasons.
    std::vector<Partition> ChoosePartitions()
    {
        m_Limits.assign(m_Reasons.size(), {});
        std::vector<std::string> reasons = m_Reasons;
        for (;;)
        {
            std::optional<std::vector<Partition>> preview = Preview(reasons);
            if (!preview.has_value())
            {
                LeaveAll("the runtime does not tell partitions of this graph");
                return {};
            }
            std::vector<Partition>& partitions = preview.value();
            const size_t before = partitions.size();
            for (const Partition& dropped : DropPartitions(partitions))
            {
                for (const int32_t node : dropped.m_Nodes)
                {
                    const size_t place = m_Places.at(node);
                    reasons[place] = m_Limits[place] = DescribeLimit(dropped);
                }
            }
            if (partitions.size() == before)
            {
                return std::move(partitions);
            }
            // Without the nodes of those, the others may be cut in another way.
        }
    }

    void LeaveAll(const char* reason)
    {
        LogWarning("TenonDelegate: all nodes are left to TensorFlow Lite: {}", reason);
        for (std::string& each : m_Reasons)
        {
            each = each.empty() ? reason : each;
        }
    }

    std::string DescribeLimit(const Partition& dropped) const
    {
        const TfLiteDelegateOptions& options = m_Loader.Options();
        return dropped.m_Nodes.size() < options.m_MinNodesPerPartition
                   ? fmt::format("its partition has {} of min_nodes_per_partition {}", dropped.m_Nodes.size(),
                                 options.m_MinNodesPerPartition)
                   : fmt::format("its partition is not one of the largest, max_delegated_partitions {}",
                                 options.m_MaxDelegatedPartitions);
    }

    /// Takes those that are too small or too many out of the list, and returns them.
    std::vector<Partition> DropPartitions(std::vector<Partition>& partitions) const
    {
        const TfLiteDelegateOptions& options = m_Loader.Options();
        std::vector<size_t> bySize(partitions.size());
        std::iota(bySize.begin(), bySize.end(), size_t{0});
        std::stable_sort(bySize.begin(), bySize.end(),
                         [&](size_t a, size_t b)
                         { return partitions[a].m_Nodes.size() > partitions[b].m_Nodes.size(); });
        std::vector<bool> isDropped(partitions.size());
        for (size_t rank = 0; rank < bySize.size(); ++rank)
        {
            isDropped[bySize[rank]] =
                partitions[bySize[rank]].m_Nodes.size() < options.m_MinNodesPerPartition ||
                (options.m_MaxDelegatedPartitions != 0 && rank >= options.m_MaxDelegatedPartitions);
        }
        std::vector<Partition> dropped;
        std::vector<Partition> kept;
        for (size_t i = 0; i < partitions.size(); ++i)
        {
            (isDropped[i] ? dropped : kept).push_back(std::move(partitions[i]));
        }
        partitions = std::move(kept);
        return dropped;
    }

    /// False where it cannot be loaded: some of its nodes have reasons to be left then.
    bool Load(const Partition& partition)
    {
        if (m_Loaded.count(partition.m_Nodes) != 0)
        {
            return true;
        }
        std::string error;
        try
        {
            m_Loaded.emplace(partition.m_Nodes, m_Loader.Load(m_Graph, partition));
            return true;
        }
        catch (const std::exception& exception)
        {
            error = exception.what();
        }
        // By themselves its nodes may be fine.
        if (!Ask(partition, &PartitionLoader::FindObstacle) && !Ask(partition, &PartitionLoader::FindRefusal))
        {
            LogWarning("TenonDelegate: a partition of {} nodes is left to TensorFlow Lite: {}",
                       partition.m_Nodes.size(), error);
            for (const int32_t index : partition.m_Nodes)
            {
                m_Reasons[m_Places.at(index)] = fmt::format("its partition cannot be loaded: {}", error);
            }
        }
        return false;
    }

    /// Asks about each node by itself. Returns whether there are reasons to leave some.
    bool Ask(const Partition& partition,
             std::string (PartitionLoader::*question)(const GraphView& graph, const Node& node) const)
    {
        bool isAnyLeft = false;
        for (const int32_t index : partition.m_Nodes)
        {
            const size_t place = m_Places.at(index);
            m_Reasons[place] = (m_Loader.*question)(m_Graph, m_Graph.Nodes()[place]);
            isAnyLeft = isAnyLeft || !m_Reasons[place].empty();
        }
        return isAnyLeft;
    }

    const PartitionLoader& m_Loader;
    const GraphView& m_Graph;
    std::map<int32_t, size_t> m_Places; ///< in m_Graph.Nodes(), by index
    std::vector<std::string> m_Reasons; ///< by place: why the node cannot be taken; empty: it can
    std::vector<std::string> m_Limits;  ///< by place: why it is not taken all the same
    std::vector<Partition> m_Partitions;
    Loaded m_Loaded;
};

std::string Delegate::Selection::Describe() const
{
    const size_t numTaken = Nodes().size();
    std::string text =
        fmt::format("TenonDelegate: {} of {} nodes run on {}, in {} partition{}", numTaken, m_Graph.Nodes().size(),
                    m_Loader.DescribeBackends(), m_Partitions.size(), m_Partitions.size() == 1 ? "" : "s");
    for (size_t i = 0; i < m_Partitions.size(); ++i)
    {
        std::map<std::string, size_t> counts;
        for (const int32_t node : m_Partitions[i].m_Nodes)
        {
            ++counts[NameOfOperator(*m_Graph.Nodes()[m_Places.at(node)].m_Registration)];
        }
        std::vector<std::string> names;
        for (const auto& [name, count] : counts)
        {
            names.push_back(count == 1 ? name : fmt::format("{} x{}", name, count));
        }
        text += fmt::format("\n  partition {:3}  {:5} nodes  {}", i, m_Partitions[i].m_Nodes.size(),
                            fmt::join(names, ", "));
    }
    const std::string left = DescribeLeft();
    return left.empty() ? text : text + "\n  left to TensorFlow Lite:" + left;
}

std::string Delegate::Selection::DescribeLeft() const
{
    // One line for all nodes of an operator that are left for one reason.
    std::map<std::pair<std::string, std::string>, std::vector<int32_t>> left;
    for (size_t i = 0; i < m_Reasons.size(); ++i)
    {
        const std::string& reason = m_Reasons[i].empty() ? m_Limits[i] : m_Reasons[i];
        if (!reason.empty())
        {
            const Node& node = m_Graph.Nodes()[i];
            left[{NameOfOperator(*node.m_Registration), reason}].push_back(node.m_Index);
        }
    }
    std::string text;
    for (const auto& [what, nodes] : left)
    {
        text += fmt::format("\n  {:5} x {}: {} (node{} {})", nodes.size(), what.first, what.second,
                            nodes.size() == 1 ? "" : "s", fmt::join(nodes, ", "));
    }
    return text;
}

Delegate::Delegate(const TfLiteDelegateOptions& options) : m_Loader(std::make_shared<const PartitionLoader>(options))
{
    m_Public.data_ = this;
    m_Public.Prepare = PrepareDelegate;
    // New sizes come to kernels that stay.
    m_Public.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
}

void Delegate::Prepare(TfLiteContext& context)
{
    if (context.ReplaceNodeSubsetsWithDelegateKernels == nullptr)
    {
        throw InvalidArgumentException("the runtime lets no delegate replace its nodes");
    }
    const GraphView graph(context);
    Selection selection(*m_Loader, graph);
    selection.LoadPartitions();
    if (IsLogged(LogSeverity::Info))
    {
        Log(LogSeverity::Info, selection.Describe());
    }
    if (m_Loader->Options().m_DisableFallback && !selection.DescribeLeft().empty())
    {
        throw InvalidArgumentException(
            fmt::format("disable-tflite-runtime-fallback: nodes cannot be taken:{}", selection.DescribeLeft()));
    }
    if (selection.Partitions().empty())
    {
        return;
    }
    {
        const std::lock_guard lock(m_Mutex);
        for (const Partition& partition : selection.Partitions())
        {
            m_Loaded[{&context, partition.m_Nodes}] = selection.Find(partition);
        }
    }
    const TfLiteStatus status = context.ReplaceNodeSubsetsWithDelegateKernels(
        &context, Kernel::Registration(), IntArray(selection.Nodes()).Get(), &m_Public);
    {
        const std::lock_guard lock(m_Mutex);
        for (const Partition& partition : selection.Partitions())
        {
            m_Loaded.erase({&context, partition.m_Nodes});
        }
    }
    if (status != kTfLiteOk)
    {
        throw RuntimeException("the interpreter does not replace its nodes");
    }
}

std::unique_ptr<Kernel> Delegate::MakeKernel(TfLiteContext& context, Partition partition)
{
    LoadedPartitionPtr loaded;
    {
        const std::lock_guard lock(m_Mutex);
        const auto found = m_Loaded.find({&context, partition.m_Nodes});
        loaded = found != m_Loaded.end() ? found->second : nullptr;
    }
    GraphView graph(context, partition);
    std::string error;
    if (loaded == nullptr) // cut otherwise than in the preview
    {
        try
        {
            loaded = m_Loader->Load(graph, partition);
        }
        catch (const std::exception& exception)
        {
            error = exception.what();
        }
    }
    return std::make_unique<Kernel>(m_Loader, std::move(graph), std::move(partition), std::move(loaded),
                                    std::move(error));
}

} // namespace tenon::delegate
