// SPDX-License-Identifier: Apache-2.0
// LayerWalk: layers one after the other, with those to come on their way from memory. A large network is many times the
// size of the caches, and nearly all that the optimizer does is to walk over it.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace tenon
{

class Layer;

/// A view of pointers to layers (LayerPtr, Layer*), which have to stay where they are.
template <typename Pointer>
class LayerWalk
{
public:
    class Iterator
    {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Pointer;
        using difference_type = std::ptrdiff_t;
        using pointer = const Pointer*;
        using reference = const Pointer&;

        Iterator() = default;
        Iterator(const Pointer* position, const Pointer* end) : m_Position(position), m_End(end) {}

        reference operator*() const { return *m_Position; }
        pointer operator->() const { return m_Position; }
        Iterator& operator++()
        {
            if (m_End - m_Position > Ahead)
            {
                Fetch(AddressOf(m_Position[Ahead]));
            }
            ++m_Position;
            return *this;
        }
        Iterator operator++(int)
        {
            Iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_Position == b.m_Position; }
        friend bool operator!=(const Iterator& a, const Iterator& b) { return a.m_Position != b.m_Position; }

    private:
        static constexpr std::ptrdiff_t Ahead = 12;  // some hundred nanoseconds of a walk that does little
        static constexpr std::size_t LineBytes = 64; // of a cache
        static constexpr std::size_t FirstByte = 64; // of what most walks read of a layer, its slots behind it
        static constexpr std::size_t LastByte = 320;

        static const void* AddressOf(const Layer* layer) { return layer; }
        template <typename End>
        static const void* AddressOf(const std::unique_ptr<Layer, End>& layer)
        {
            return layer.get();
        }
        static void Fetch([[maybe_unused]] const void* layer)
        {
#if defined(__GNUC__)
            for (std::size_t i = FirstByte; i <= LastByte; i += LineBytes)
            {
                __builtin_prefetch(static_cast<const char*>(layer) + i);
            }
#endif
        }

        const Pointer* m_Position = nullptr;
        const Pointer* m_End = nullptr;
    };

    explicit LayerWalk(const std::vector<Pointer>& layers) : m_First(layers.data()), m_Size(layers.size()) {}

    Iterator begin() const
    {
        return {m_First, m_First + m_Size};
    }
    Iterator end() const
    {
        return {m_First + m_Size, m_First + m_Size};
    }
    std::size_t size() const
    {
        return m_Size;
    }
    bool empty() const
    {
        return m_Size == 0;
    }
    const Pointer& operator[](std::size_t i) const
    {
        return m_First[i];
    }
    const Pointer& front() const
    {
        return m_First[0];
    }
    const Pointer& back() const
    {
        return m_First[m_Size - 1];
    }

private:
    const Pointer* m_First;
    std::size_t m_Size;
};

/// Layers in an order of their own.
class LayerOrder
{
public:
    explicit LayerOrder(std::vector<Layer*> layers) : m_Layers(std::move(layers)) {}

    LayerWalk<Layer*>::Iterator begin() const { return LayerWalk<Layer*>(m_Layers).begin(); }
    LayerWalk<Layer*>::Iterator end() const { return LayerWalk<Layer*>(m_Layers).end(); }
    std::size_t size() const { return m_Layers.size(); }
    Layer* operator[](std::size_t i) const { return m_Layers[i]; }
    const std::vector<Layer*>& Get() const { return m_Layers; }

private:
    std::vector<Layer*> m_Layers;
};

} // namespace tenon
