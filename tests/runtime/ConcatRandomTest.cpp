// SPDX-License-Identifier: Apache-2.0
// Random networks of layers that join, cut out and overwrite rows, beside what they should give.
#include "runtime/ConcatNetworks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>

namespace tenon::test::concat_random_test
{

namespace
{

/// Layers of rows one after the other, each of some values before it, and what they give.
class RandomRows
{
public:
    explicit RandomRows(unsigned int seed) : m_Random(seed)
    {
        for (LayerBindingId id = 0; id < 2; ++id)
        {
            const unsigned int rows = Pick(1, 4);
            m_Inputs.push_back(Ramp(size_t{rows} * Row, static_cast<float>(Pick(0, 9)), 0.25f));
            Add({AddInput(*m_Network, id, FloatInfo({rows, Row})), 0, m_Inputs.back()});
        }
        for (unsigned int layers = Pick(3, 14); layers != 0; --layers)
        {
            AddLayer();
        }
        // The last value and some others are given.
        for (size_t i = m_Values.size(); i-- > m_Inputs.size();)
        {
            if (i + 1 == m_Values.size() || Pick(0, 4) == 0)
            {
                const auto id = static_cast<LayerBindingId>(m_Expected.size());
                Connect(m_Values[i].m_Layer, m_Network->AddOutputLayer(id), 0, m_Values[i].m_Output);
                m_Expected.push_back(m_Values[i].m_Data);
            }
        }
    }

    const INetwork& GetNetwork() const { return *m_Network; }
    const std::vector<Floats>& GetInputs() const { return m_Inputs; }
    const std::vector<Floats>& GetExpected() const { return m_Expected; }

private:
    struct RowValue
    {
        IConnectableLayer* m_Layer = nullptr;
        unsigned int m_Output = 0;
        Floats m_Data;

        unsigned int Rows() const { return static_cast<unsigned int>(m_Data.size() / Row); }
        Floats Cut(unsigned int first, unsigned int count) const
        {
            const auto begin = m_Data.begin() + static_cast<std::ptrdiff_t>(size_t{first} * Row);
            return Floats(begin, begin + static_cast<std::ptrdiff_t>(size_t{count} * Row));
        }
    };

    unsigned int Pick(unsigned int min, unsigned int max)
    {
        return std::uniform_int_distribution<unsigned int>(min, max)(m_Random);
    }
    /// Rather a late one.
    RowValue PickValue()
    {
        const auto count = static_cast<unsigned int>(m_Values.size());
        return m_Values[std::max(Pick(0, count - 1), Pick(0, count - 1))];
    }
    void Add(RowValue value) { m_Values.push_back(std::move(value)); }

    void AddLayer()
    {
        const RowValue from = PickValue();
        switch (Pick(0, 4))
        {
        case 0:
            Add({AddUnary(*m_Network, from.m_Layer, UnaryOperation::Neg, from.m_Output), 0, Negated(from.m_Data)});
            break;
        case 1: AddSum(from); break;
        case 2: AddJoin(from); break;
        case 3:
        {
            const unsigned int first = Pick(0, from.Rows() - 1);
            const unsigned int count = Pick(1, from.Rows() - first);
            IConnectableLayer* layer = m_Network->AddSliceLayer(SliceDescriptor({first, 0}, {count, Row}), "slice");
            Connect(from.m_Layer, layer, 0, from.m_Output);
            Add({layer, 0, from.Cut(first, count)});
            break;
        }
        default:
            if (from.Rows() > 1)
            {
                const unsigned int count = Pick(1, from.Rows() - 1);
                IConnectableLayer* layer = AddSplit(*m_Network, from.m_Layer, count, from.Rows(), from.m_Output);
                Add({layer, 0, from.Cut(0, count)});
                Add({layer, 1, from.Cut(count, from.Rows() - count)});
            }
        }
    }

    /// With a value of as many rows.
    void AddSum(const RowValue& from)
    {
        const RowValue other = PickValue();
        const unsigned int rows = std::min(from.Rows(), other.Rows());
        IConnectableLayer* sum = m_Network->AddAdditionLayer("sum");
        RowValue result{sum, 0, from.Cut(0, rows)};
        unsigned int slot = 0;
        for (const RowValue* value : {&from, &other})
        {
            IConnectableLayer* layer =
                m_Network->AddSliceLayer(SliceDescriptor({value->Rows() - rows, 0}, {rows, Row}), "slice");
            Connect(value->m_Layer, layer, 0, value->m_Output);
            Connect(layer, sum, slot++);
        }
        const Floats a = from.Cut(from.Rows() - rows, rows);
        const Floats b = other.Cut(other.Rows() - rows, rows);
        std::transform(a.begin(), a.end(), b.begin(), result.m_Data.begin(), std::plus<>());
        Add(std::move(result));
    }

    void AddJoin(const RowValue& from)
    {
        std::vector<RowValue> parts{from};
        for (unsigned int more = Pick(1, 2); more != 0; --more)
        {
            parts.push_back(PickValue());
        }
        OriginsDescriptor descriptor(static_cast<uint32_t>(parts.size()), 2);
        descriptor.SetConcatAxis(0);
        RowValue result{m_Network->AddConcatLayer(descriptor, "concat"), 0, {}};
        for (unsigned int i = 0; i < parts.size(); ++i)
        {
            Connect(parts[i].m_Layer, result.m_Layer, i, parts[i].m_Output);
            result.m_Data = Joined(std::move(result.m_Data), parts[i].m_Data);
        }
        if (result.Rows() <= 64)
        {
            Add(std::move(result));
        }
    }

    std::mt19937 m_Random;
    INetworkPtr m_Network = INetwork::Create();
    std::vector<Floats> m_Inputs;
    std::vector<RowValue> m_Values;
    std::vector<Floats> m_Expected;
};

class RandomParts : public testing::TestWithParam<const char*>
{
};

INSTANTIATE_TEST_SUITE_P(Backends, RandomParts, testing::Values("CpuRef", "CpuAcc"),
                         [](const auto& backend) { return std::string(backend.param); });

} // namespace

TEST_P(RandomParts, HoldWhatTheyShould)
{
    for (unsigned int seed = 0; seed < 500; ++seed)
    {
        const RandomRows rows(seed);
        ASSERT_EQ(RunAll(rows.GetNetwork(), GetParam(), rows.GetInputs()), rows.GetExpected()) << "seed " << seed;
    }
}

} // namespace tenon::test::concat_random_test
