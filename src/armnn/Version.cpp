// SPDX-License-Identifier: Apache-2.0
// The version of Arm NN's interface that libtenon_armnn.so was built for.
#include <armnn/Version.hpp>

namespace tenon
{

const char* GetInterfaceVersion()
{
    return ARMNN_VERSION;
}

} // namespace tenon
