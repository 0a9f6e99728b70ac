// SPDX-License-Identifier: Apache-2.0
// LayerWalk: layers one after the other, with prefetches of the layers to come. A large network is many times the size
// of the caches, and the optimizer does little but walk over it.
#pragma once

#include "common/Pages.hpp"
#include "graph/Layer.hpp"

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace tenon
{

// A function that does nothing but fetch has no effect in the eyes of GCC, which then leaves out calls of it.
#if defined(__GNUC__)
#define TENON_FETCHES [[gnu::always_inline]] inline
#else
#define TENON_FETCHES inline
#endif

/// Prefetches memory: the cache lines that hold bytes [first, end) from an object on.
template <std::ptrdiff_t First, std::ptrdiff_t End>
TENON_FETCHES void FetchLines([[maybe_unused]] const void* object)
{
#if defined(__GNUC__)
    constexpr std::ptrdiff_t lineBytes = 64;
    const char* const bytes = static_cast<const char*>(object);
    for (std::ptrdiff_t i = First; i < End; i += lineBytes)
    {
        __builtin_prefetch(bytes + i);
    }
    __builtin_prefetch(bytes + End - 1);
#endif
}

/// The parts of the layers to come that walks read, as bytes from a layer on: its slots and its descriptor lie behind
/// it.
constexpr std::ptrdiff_t HotBytes = 48;        // of the layer itself: from m_Index to its end
constexpr std::ptrdiff_t DescriptorBytes = 48; // of most
constexpr std::ptrdiff_t FirstHotByte = sizeof(Layer) - HotBytes;
constexpr std::ptrdiff_t LayerBytes = sizeof(Layer) + sizeof(InputSlot) + sizeof(OutputSlot) + DescriptorBytes;

/// Prefetches the parts of a layer that most walks read.
struct FetchHot
{
    TENON_FETCHES static void Fetch(const Layer* layer) { FetchLines<FirstHotByte, LayerBytes>(layer); }
};

/// Prefetches the same parts, and the layer that feeds its input 0.
struct FetchProducers : FetchHot
{
};

/// Prefetches all of a layer, which is going to be copied or destroyed.
struct FetchWhole
{
    TENON_FETCHES static void Fetch(const Layer* layer) { FetchLines<0, LayerBytes>(layer); }
};

/// Prefetches the layer that feeds input 0 of `layer`, which is in the cache.
TENON_FETCHES void FetchProducer(const Layer& layer)
{
    constexpr std::ptrdiff_t fromLayer = -HotBytes - static_cast<std::ptrdiff_t>(sizeof(InputSlot));
    if (layer.NumInputs() != 0 && layer.Input(0).GetConnectedOutputSlot() != nullptr)
    {
        FetchLines<fromLayer, sizeof(OutputSlot)>(layer.Input(0).GetConnectedOutputSlot());
    }
}

/// The distance of a prefetch, in layers: some hundred nanoseconds of a walk that does little.
constexpr std::ptrdiff_t LayersAhead = 12;

/// A view of pointers to layers (LayerPtr, Layer*), which have to stay where they are.
template <typename Pointer>
class LayerWalk
{
public:
    /// A walk from the first layer to the last (`Step` is 1), or from the last to the first (-1).
    template <std::ptrdiff_t Step, typename What>
    class Steps
    {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Pointer;
        using difference_type = std::ptrdiff_t;
        using pointer = const Pointer*;
        using reference = const Pointer&;

        Steps() = default;
        Steps(const Pointer* position, const Pointer* end) : m_Position(position), m_End(end) {}

        reference operator*() const { return m_Position[Next]; }
        pointer operator->() const { return m_Position + Next; }
        Steps& operator++()
        {
            if ((m_End - m_Position) * Step > LayersAhead)
            {
                What::Fetch(AddressOf(m_Position[Next + LayersAhead * Step]));
                if constexpr (std::is_same_v<What, FetchProducers>) // one that is there by now
                {
                    FetchProducer(*AddressOf(m_Position[Next + LayersAhead / 2 * Step]));
                }
            }
            m_Position += Step;
            return *this;
        }
        Steps operator++(int)
        {
            Steps before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const Steps& a, const Steps& b) { return a.m_Position == b.m_Position; }
        friend bool operator!=(const Steps& a, const Steps& b) { return a.m_Position != b.m_Position; }

    private:
        /// A position is between two layers.
        static constexpr std::ptrdiff_t Next = Step > 0 ? 0 : -1;

        static const Layer* AddressOf(const Layer* layer) { return layer; }
        template <typename End>
        static const Layer* AddressOf(const std::unique_ptr<Layer, End>& layer)
        {
            return layer.get();
        }

        const Pointer* m_Position = nullptr;
        const Pointer* m_End = nullptr;
    };

    using Iterator = Steps<1, FetchHot>;

    explicit LayerWalk(const PageVector<Pointer>& layers) : m_First(layers.data()), m_Size(layers.size()) {}

    Iterator begin() const { return Begin<FetchHot>(); }
    Iterator end() const { return End<FetchHot>(); }
    template <typename What>
    Steps<1, What> Begin() const
    {
        return {m_First, m_First + m_Size};
    }
    template <typename What>
    Steps<1, What> End() const
    {
        return {m_First + m_Size, m_First + m_Size};
    }
    Steps<-1, FetchHot> rbegin() const { return {m_First + m_Size, m_First}; }
    Steps<-1, FetchHot> rend() const { return {m_First, m_First}; }
    std::size_t size() const { return m_Size; }
    bool empty() const { return m_Size == 0; }
    const Pointer& operator[](std::size_t i) const { return m_First[i]; }
    const Pointer& front() const { return m_First[0]; }
    const Pointer& back() const { return m_First[m_Size - 1]; }

private:
    const Pointer* m_First;
    std::size_t m_Size;
};

/// The last layer first, for range-based loops.
template <typename Pointer>
struct BackwardWalk
{
    LayerWalk<Pointer> m_Walk;

    auto begin() const { return m_Walk.rbegin(); }
    auto end() const { return m_Walk.rend(); }
};

/// A walk for loops that look at more of each layer, or at more layers.
template <typename Pointer, typename What>
struct FetchingWalk
{
    LayerWalk<Pointer> m_Walk;

    auto begin() const { return m_Walk.template Begin<What>(); }
    auto end() const { return m_Walk.template End<What>(); }
};

/// Layers in an order of their own.
class LayerOrder
{
public:
    explicit LayerOrder(PageVector<Layer*> layers) : m_Layers(std::move(layers)) {}

    LayerWalk<Layer*>::Iterator begin() const { return LayerWalk<Layer*>(m_Layers).begin(); }
    LayerWalk<Layer*>::Iterator end() const { return LayerWalk<Layer*>(m_Layers).end(); }
    // These two are views of it.
    BackwardWalk<Layer*> Backward() const& { return {LayerWalk<Layer*>(m_Layers)}; }
    FetchingWalk<Layer*, FetchProducers> WithProducers() const& { return {LayerWalk<Layer*>(m_Layers)}; }
    void Backward() && = delete;
    void WithProducers() && = delete;
    std::size_t size() const { return m_Layers.size(); }
    Layer* operator[](std::size_t i) const { return m_Layers[i]; }
    const PageVector<Layer*>& Get() const { return m_Layers; }

private:
    PageVector<Layer*> m_Layers;
};

} // namespace tenon
