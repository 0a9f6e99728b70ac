// SPDX-License-Identifier: Apache-2.0
// The chain of LoadBench in Arm NN, as a peer.
#pragma once

namespace tenon::bench
{

/// A chain of `length` ReLu layers on a [1, 16] tensor, ready to be optimized and loaded.
class ArmnnChain
{
public:
    explicit ArmnnChain(unsigned int length);
    ~ArmnnChain();
    ArmnnChain(const ArmnnChain&) = delete;
    ArmnnChain& operator=(const ArmnnChain&) = delete;

    /// Optimize and LoadNetwork on CpuRef.
    void Load();
    void Unload();

private:
    struct Impl;
    Impl* m_Impl;
};

} // namespace tenon::bench
