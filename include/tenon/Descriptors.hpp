// SPDX-License-Identifier: Apache-2.0
// Descriptors: the parameters of each layer type, one header a family. Names, fields and defaults are Arm NN's;
// comments say what Tenon adds. A program that uses few layer types may include their families alone.
#pragma once

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Base.hpp>
#include <tenon/descriptors/ControlFlow.hpp>
#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/External.hpp>
#include <tenon/descriptors/Indexing.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Products.hpp>
#include <tenon/descriptors/Random.hpp>
#include <tenon/descriptors/Recurrent.hpp>
#include <tenon/descriptors/Reduction.hpp>
#include <tenon/descriptors/Signal.hpp>
#include <tenon/descriptors/Slicing.hpp>
#include <tenon/descriptors/Vision.hpp>
