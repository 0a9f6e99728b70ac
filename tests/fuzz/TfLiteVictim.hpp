// SPDX-License-Identifier: Apache-2.0
// TfLiteVictim: takes .tflite files all the way.
#pragma once

#include "FuzzTarget.hpp"

#include <tenon/parsers/ITfLiteParser.hpp>

#include <string>
#include <vector>

namespace tenon::test
{

class TfLiteVictim final : public FuzzTarget
{
public:
    TfLiteVictim() : FuzzTarget(0x7f)
    {
        ITfLiteParser::TfLiteParserOptions options;
        options.m_Limits = GetLimits();
        m_Parser = ITfLiteParser::Create(options);
    }

private:
    IOptimizedNetworkPtr Read(const Bytes& bytes) override
    {
        return OptimizeIt(*m_Parser->CreateNetworkFromBinary(bytes));
    }

    std::vector<LayerBindingId> InputIds() const override
    {
        std::vector<LayerBindingId> ids;
        for (const std::string& name : m_Parser->GetSubgraphInputTensorNames(0))
        {
            ids.push_back(m_Parser->GetNetworkInputBindingInfo(0, name).first);
        }
        return ids;
    }

    ITfLiteParserPtr m_Parser{nullptr, &ITfLiteParser::Destroy};
};

} // namespace tenon::test
