// SPDX-License-Identifier: Apache-2.0
// See LayerDetails.hpp.
#include "runtime/LayerDetails.hpp"

#include "graph/LayerJson.hpp"
#include "runtime/PlanCache.hpp"

#include <fmt/format.h>

namespace tenon
{

namespace
{

class Details
{
public:
    explicit Details(JsonWriter& json) : m_Json(json) {}

    void Write(const Program& program, const Plan* plan)
    {
        for (size_t s = 0; s < program.Steps().size(); ++s)
        {
            const Step& step = program.Steps()[s];
            if (step.m_Workload != nullptr)
            {
                const bool isPlanned = plan != nullptr && s < plan->Steps().size();
                Write(program, plan, step, isPlanned ? plan->Steps()[s].m_KernelName : step.m_Workload->GetName());
            }
            for (const auto& body : step.m_Bodies)
            {
                Write(*body->m_Program, body->m_Plans.Latest().get());
            }
        }
    }

private:
    void Write(const Program& program, const Plan* plan, const Step& step, const char* kernelName)
    {
        const Layer& layer = *step.m_Layer;
        const auto info = [&](ValueId value) -> const TensorInfo&
        { return plan != nullptr ? plan->Infos()[value] : program.Values()[value].m_Slot->GetTensorInfo(); };
        // A guid would not be unique: two branches may be one network, with the same guids.
        m_Json.Key(fmt::format("{}_#{}", kernelName, ++m_LastNumber));
        m_Json.BeginObject(JsonWriter::Layout::Line);
        WriteIdentity(m_Json, layer);
        m_Json.Member("backend", layer.GetBackendId().Get());
        m_Json.Member("kernel", kernelName);
        WriteParameters(m_Json, layer);
        m_Json.Key("inputs");
        m_Json.BeginArray();
        for (const ValueId value : step.m_Inputs)
        {
            if (value == NoValue)
            {
                m_Json.Null();
                continue;
            }
            WriteInfo(m_Json, info(value));
        }
        m_Json.EndArray();
        m_Json.Key("outputs");
        m_Json.BeginArray();
        for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
        {
            WriteInfo(m_Json, info(step.m_FirstOutput + k));
        }
        m_Json.EndArray();
        m_Json.EndObject();
    }

    JsonWriter& m_Json;
    size_t m_LastNumber = 0;
};

} // namespace

std::string DescribeLayers(const Program& program, const Plan* plan)
{
    JsonWriter json;
    json.BeginObject();
    Details(json).Write(program, plan);
    json.EndObject();
    return json.Take();
}

} // namespace tenon
