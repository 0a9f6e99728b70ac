// SPDX-License-Identifier: Apache-2.0
// Arm NN's TensorFlow Lite delegate by its C++ interface, as Arm NN's guide has it: options that make a delegate, and
// options whose error is caught on this side of the libraries.
#include <armnn/ArmNN.hpp>
#include <armnn_delegate.hpp>
#include <iostream>
#include <memory>
#include <vector>

int main()
{
    try
    {
        std::vector<armnn::BackendId> backends = {armnn::Compute::CpuAcc, armnn::Compute::CpuRef};
        armnnDelegate::DelegateOptions delegateOptions(backends);
        std::unique_ptr<TfLiteDelegate, decltype(&armnnDelegate::TfLiteArmnnDelegateDelete)> theArmnnDelegate(
            armnnDelegate::TfLiteArmnnDelegateCreate(delegateOptions), armnnDelegate::TfLiteArmnnDelegateDelete);
        if (theArmnnDelegate == nullptr)
        {
            std::cerr << "there is no delegate\n";
            return 1;
        }
        delegateOptions.SetBackends({"VsiNpu"});
        armnnDelegate::TfLiteArmnnDelegateDelete(armnnDelegate::TfLiteArmnnDelegateCreate(delegateOptions));
    }
    catch (const armnn::InvalidArgumentException& error)
    {
        std::cout << "refused: " << error.what() << "\nArm NN's delegate: ok\n";
        return 0;
    }
    std::cerr << "a backend that is not there was taken\n";
    return 1;
}
