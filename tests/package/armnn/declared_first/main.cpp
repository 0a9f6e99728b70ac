// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is whose own headers only declare Arm NN's classes. It sees nothing else of them
// here.
#include "Engine.hpp"

#include <iostream>

int main()
{
    try
    {
        engine::Engine engine("CpuAcc");
        const std::vector<float> doubled = engine.Run({1.0f, 2.5f});
        if (doubled != std::vector<float>({2.0f, 5.0f}))
        {
            std::cerr << "the engine gives " << doubled.at(0) << " and " << doubled.at(1) << '\n';
            return 1;
        }
        bool isLogged = false;
        for (const std::string& line : engine.GetLog())
        {
            isLogged = isLogged || line == "Info: loaded on CpuAcc";
            if (line.find("below the level") != std::string::npos)
            {
                std::cerr << "a line of another level is in the log\n";
                return 1;
            }
        }
        if (!isLogged)
        {
            std::cerr << "the engine's line is not in the log\n";
            return 1;
        }
        engine::CheckUtilities();
        std::cout << "declared first: ok\n";
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
