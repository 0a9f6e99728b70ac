// SPDX-License-Identifier: Apache-2.0
// Arm NN's backend interface has classes of the same names as Tenon's own, which is in namespace tenon::backend.
// Headers of this folder give the names in namespace armnn, which is tenon, to Arm NN's; <tenon/backend/...> then
// leaves them alone.
#pragma once

#ifdef TENON_BACKEND_SHORT_NAMES
#error "define TENON_BACKEND_NO_SHORT_NAMES first, and write tenon::backend::IBackend"
#endif
#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_NO_SHORT_NAMES
#endif

#include <armnn/Namespace.hpp>
