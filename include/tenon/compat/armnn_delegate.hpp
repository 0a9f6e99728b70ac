// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: its TensorFlow Lite delegate. TensorFlow Lite's own headers, which Arm NN's header
// brings along, are the program's to include.
#pragma once

#include <tenon/delegate/Delegate.hpp>

#include <DelegateOptions.hpp>

namespace armnnDelegate
{

/// CpuRef, and nothing else set.
inline DelegateOptions TfLiteArmnnDelegateOptionsDefault()
{
    return DelegateOptions(tenon::Compute::CpuRef);
}

/// See tenon::CreateTfLiteDelegate.
inline TfLiteDelegate* TfLiteArmnnDelegateCreate(DelegateOptions options)
{
    return tenon::CreateTfLiteDelegate(options.GetTenonOptions());
}

/// Null is allowed.
inline void TfLiteArmnnDelegateDelete(TfLiteDelegate* tfLiteDelegate)
{
    tenon::DeleteTfLiteDelegate(tfLiteDelegate);
}

} // namespace armnnDelegate
