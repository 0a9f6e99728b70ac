// SPDX-License-Identifier: Apache-2.0
// A network whose outputs are detections that tests give it, and COCO's files.
#pragma once

#include "Evaluation.hpp"

namespace tenon::tools::evaluate
{

/// So many detections; those behind a score of 0 are not counted.
constexpr unsigned int NumDetections = 30;

class Boxes : public Evaluation
{
protected:
    Boxes() { MakeFolder("in"); }

    /// A network of an input [1,N,6], whose rows are box, class and score, with the outputs in this order, of boxes,
    /// classes, scores and count; the count is that of the second input row's last number unless it is left out.
    std::string WriteNetwork(const std::string& name, const std::vector<std::string>& outputs) const
    {
        const INetworkPtr network = INetwork::Create();
        IConnectableLayer* const input = network->AddInputLayer(0, "rows");
        const auto n = static_cast<int>(NumDetections);
        input->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, NumDetections + 1, 6}, DataType::Float32));
        LayerBindingId id = 0;
        for (const std::string& output : outputs)
        {
            StridedSliceDescriptor slice({0, 0, 0}, {1, n, 4}, {1, 1, 1});
            TensorShape shape({1, NumDetections, 4});
            if (output == "classes" || output == "scores")
            {
                const int column = output == "classes" ? 4 : 5;
                slice.m_Begin[2] = column;
                slice.m_End[2] = column + 1;
                slice.m_ShrinkAxisMask = 4;
                shape = {1, NumDetections};
            }
            else if (output == "count")
            {
                slice.m_Begin = {0, n, 0};
                slice.m_End = {1, n + 1, 1};
                slice.m_ShrinkAxisMask = 6;
                shape = {1};
            }
            IConnectableLayer* const layer = network->AddStridedSliceLayer(slice, output.c_str());
            layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(shape, DataType::Float32));
            input->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
            layer->GetOutputSlot(0).Connect(network->AddOutputLayer(id++, output.c_str())->GetInputSlot(0));
        }
        const ISerializerPtr serializer = ISerializer::Create();
        serializer->Serialize(*network);
        const std::string path = m_Folder.Path(name);
        std::ofstream file(path, std::ios::binary);
        EXPECT_TRUE(serializer->SaveSerializedToStream(file));
        return path;
    }

    /// Rows of box, class and score.
    void WriteRows(const std::string& name, const std::vector<std::vector<float>>& rows) const
    {
        std::vector<float> values;
        for (const std::vector<float>& row : rows)
        {
            values.insert(values.end(), row.begin(), row.end());
        }
        values.resize(size_t{NumDetections} * 6);
        values.insert(values.end(), {static_cast<float>(rows.size()), 0, 0, 0, 0, 0});
        WriteFloats("in/" + name, {1, NumDetections + 1, 6}, values);
    }

    Outcome Run(const Words& more) const
    {
        return Evaluate(With({"-m", m_Model, "-d", m_Folder.Path("in"), "-c", "CpuRef"}, more));
    }

    std::string Truth(const std::string& json) const { return m_Folder.Write("truth.json", json); }

    const std::string m_Model = WriteNetwork("boxes.tenon", {"boxes", "classes", "scores", "count"});
};

} // namespace tenon::tools::evaluate
