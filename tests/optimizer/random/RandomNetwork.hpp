// SPDX-License-Identifier: Apache-2.0
// RandomNetwork: a network made of layers of many kinds, with diamonds, several outputs, constants, quantized islands
// and branches, for property tests. One seed gives one network everywhere.
#pragma once

#include <tenon/Tenon.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tenon::test
{

class RandomNetwork
{
public:
    RandomNetwork(uint32_t seed, unsigned int numLayers);

    const INetwork& Network() const { return *m_Network; }
    /// Of the inputs 0, 1, ...; all Float32.
    const std::vector<TensorShape>& InputShapes() const { return m_InputShapes; }
    /// What was made, for messages and for counting kinds.
    const std::vector<std::string>& Kinds() const { return m_Kinds; }

    /// Runs in a row that values stay small for: states grow from run to run.
    static constexpr int MaxRuns = 2;

    /// The names of all kinds that there are.
    static std::vector<std::string> AllKinds();

    /// Adds layers of a kind, each of which TENON_RANDOM_KIND defines and registers. False where no tensor fits.
    template <typename Tag>
    bool Make();
    template <typename Tag>
    static bool Register(const char* name)
    {
        Registered().push_back({name, &RandomNetwork::Make<Tag>});
        return true;
    }

private:
    /// A tensor that further layers may read.
    struct Tensor
    {
        IOutputSlot* m_Slot = nullptr;
        TensorShape m_Shape;
        DataType m_Type = DataType::Float32;
        /// Every way to compute it gives the same bits, so that layers which jump (Floor, comparisons) may read it.
        bool m_IsExact = false;
        float m_Bound = 0.0f; ///< no value's magnitude is larger
    };
    /// What a layer gives, where it is not one tensor or shape inference wants values.
    struct Made
    {
        TensorShape m_Shape;
        DataType m_Type = DataType::Float32;
        bool m_IsExact = false;
        float m_Bound = 1.0f;
        float m_Scale = 0.0f;
        int32_t m_ZeroPoint = 0;
    };
    struct Kind
    {
        std::string m_Name;
        bool (RandomNetwork::*m_Make)();
    };
    static std::vector<Kind>& Registered();
    static const std::vector<Kind>& Table();

    unsigned int Roll(unsigned int sides) { return static_cast<unsigned int>(m_Random() % sides); }
    bool Flip() { return Roll(2) == 0; }

    /// A random tensor that fits, or null.
    const Tensor* Find(const std::function<bool(const Tensor&)>& fits);
    const Tensor* FindFloat(bool exact = false, unsigned int rank = 0);
    const Tensor* FindType(DataType type, unsigned int rank = 0);

    /// Adds the output of a layer whose inputs are connected; the shape is inferred.
    void Finish(IConnectableLayer* layer, const std::vector<Tensor>& inputs, DataType type, bool exact, float bound,
                float scale = 0.0f, int32_t zeroPoint = 0);
    /// The same for outputs that are known; an input without a slot is not connected.
    void FinishAs(IConnectableLayer* layer, const std::vector<Tensor>& inputs, const std::vector<Made>& outputs);
    /// As Finish, for a layer with one input that keeps type and values.
    void Move(IConnectableLayer* layer, const Tensor& input, float bound = -1.0f);
    Tensor AddBytes(const TensorInfo& info, const void* values);
    Tensor AddFloats(const TensorShape& shape, std::vector<float> values, bool exact, float bound);
    Tensor Constant(const TensorShape& shape, float bound, bool exact);
    Tensor Scalar(float value);
    Tensor Ints(const std::vector<int32_t>& values, const TensorShape& shape);
    std::vector<unsigned int> RandomAxes(unsigned int rank);

    /// What several makers share.
    Tensor Reshaped(const Tensor& input, const TensorShape& shape);
    Tensor InitialState(const TensorShape& shape) { return Constant(shape, 0.5f, false); }
    /// Stored values from `least` to `most`, in 64ths for floats.
    std::vector<std::byte> RandomStored(const TensorInfo& info, int least, int most);
    Tensor Stored(const TensorInfo& info, int least, int most);
    const ConstTensor* Parameter(const TensorInfo& info, int least, int most);

    RequantizationMode RandomMode();
    /// As Finish, of int8 with a random scale and zero point.
    void FinishInt8(IConnectableLayer* layer, const std::vector<Tensor>& inputs);
    /// The same with those of the input.
    void KeepQuantization(IConnectableLayer* layer, const Tensor& input);
    /// With one scale and zero point, or a scale for each slice of the dimension.
    Tensor WeightsInt8(const TensorShape& shape, unsigned int axis);
    Tensor BiasInt32(unsigned int channels);

    LstmInputParams LstmParameters(unsigned int inputs, TensorInfo weights, const TensorInfo& bias);

    std::mt19937 m_Random;
    INetworkPtr m_Network;
    std::vector<TensorShape> m_InputShapes;
    std::vector<Tensor> m_Tensors;
    std::vector<IOutputSlot*> m_Unread; ///< outputs that further layers do not read: scalars, shapes that a run gives
    std::vector<std::string> m_Kinds;
    std::deque<std::vector<float>> m_Kept; ///< values of constants that the network does not own
    std::deque<std::vector<std::byte>> m_KeptBytes;
    std::deque<ConstTensor> m_Parameters;
    std::string m_Name; ///< of the layers that are being made
};

} // namespace tenon::test

/// Heads the function that adds layers of a kind, a method of RandomNetwork, in namespace tenon::test:
///     TENON_RANDOM_KIND(CumSum) { ... return true; }
#define TENON_RANDOM_KIND(name)                                                                                        \
    struct name##Kind;                                                                                                 \
    template <>                                                                                                        \
    bool RandomNetwork::Make<name##Kind>();                                                                            \
    [[maybe_unused]] static const bool is##name##Registered = RandomNetwork::Register<name##Kind>(#name);              \
    template <>                                                                                                        \
    bool RandomNetwork::Make<name##Kind>()
