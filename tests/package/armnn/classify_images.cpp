// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: classifies pictures with the executor that the applications share.
//
// usage: program MODEL.tflite PICTURES.pgm EXPECTED.txt LABELS.txt
// EXPECTED.txt has the scores of each picture. Fails where the network gives others.
#include "common/NetworkExecutor.hpp"
#include "common/Pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace
{

struct Classification
{
    std::size_t m_Label;
    float m_Score;
};

Classification FindBest(const std::vector<float>& scores)
{
    const auto best = std::max_element(scores.begin(), scores.end());
    return Classification{static_cast<std::size_t>(best - scores.begin()), *best};
}

int Run(const std::string& model, const std::vector<common::Picture>& pictures, const std::vector<float>& expected,
        const std::vector<std::string>& labels, bool isProfilingEnabled)
{
    const std::vector<armnn::BackendId> preferredBackends = {"CpuAcc", "CpuRef"};
    common::NetworkExecutor<float> executor(model, preferredBackends, isProfilingEnabled);
    const common::Size size = executor.GetImageAspectRatio();
    if (size.m_Width != 8 || size.m_Height != 8 || executor.GetInputDataType() != armnn::DataType::Float32)
    {
        ARMNN_LOG(error) << "the model takes pictures of " << size.m_Width << " x " << size.m_Height;
        return EXIT_FAILURE;
    }
    for (std::size_t i = 0; i < pictures.size(); ++i)
    {
        std::vector<float> input(pictures[i].size());
        std::transform(pictures[i].begin(), pictures[i].end(), input.begin(),
                       [](uint8_t pixel) { return static_cast<float>(pixel) / 255.0f; });
        common::InferenceResults<float> results;
        if (!executor.Run(input.data(), input.size() * sizeof(float), results))
        {
            return EXIT_FAILURE;
        }
        for (std::size_t k = 0; k < results.at(0).size(); ++k)
        {
            if (std::fabs(results[0][k] - expected.at(i * 10 + k)) > 1e-4f)
            {
                ARMNN_LOG(error) << "picture " << i << ", class " << k << ": " << results[0][k] << ", expected "
                                 << expected[i * 10 + k];
                return EXIT_FAILURE;
            }
        }
        if (!isProfilingEnabled)
        {
            const Classification best = FindBest(results[0]);
            std::cout << "picture " << i << ": " << labels.at(best.m_Label) << " (" << best.m_Score << ")\n";
        }
    }
    // One line for the load and one for each run, or none.
    return executor.GetNumStagesPrinted() == (isProfilingEnabled ? pictures.size() + 1 : 0) ? EXIT_SUCCESS
                                                                                            : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv)
{
    armnn::ConfigureLogging(true, true, armnn::LogSeverity::Info);
    if (argc != 5)
    {
        ARMNN_LOG(fatal) << "usage: " << argv[0] << " MODEL.tflite PICTURES.pgm EXPECTED.txt LABELS.txt";
        return EXIT_FAILURE;
    }
    try
    {
        const std::vector<common::Picture> pictures = common::ReadPictures(argv[2]);
        const std::vector<float> expected = common::ReadNumbers<float>(argv[3]);
        const std::vector<std::string> labels = common::ReadNumbers<std::string>(argv[4]);
        const int plain = Run(argv[1], pictures, expected, labels, false);
        return plain != EXIT_SUCCESS ? plain : Run(argv[1], pictures, expected, labels, true);
    }
    catch (const std::exception& error)
    {
        ARMNN_LOG(fatal) << error.what();
        return EXIT_FAILURE;
    }
}
