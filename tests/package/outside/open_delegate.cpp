// SPDX-License-Identifier: Apache-2.0
// A program that links nothing of Tenon and opens libtenonDelegate.so as TensorFlow Lite does: all symbols of the file
// resolve at once, and none of them is seen by other libraries.
//
// usage: program libtenonDelegate.so
#include <cstddef>
#include <dlfcn.h>
#include <iostream>
#include <string>

namespace
{

std::string reported;

void Report(const char* text)
{
    reported += text;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2)
    {
        std::cerr << "usage: program libtenonDelegate.so\n";
        return 2;
    }
    for (int turn = 0; turn < 2; ++turn) // closed in between
    {
        void* const library = dlopen(argv[1], RTLD_LOCAL | RTLD_NOW);
        if (library == nullptr)
        {
            std::cerr << dlerror() << '\n';
            return 1;
        }
        const auto create =
            reinterpret_cast<void* (*)(const char* const*, const char* const*, size_t, void (*)(const char*))>(
                dlsym(library, "tflite_plugin_create_delegate"));
        const auto destroy = reinterpret_cast<void (*)(void*)>(dlsym(library, "tflite_plugin_destroy_delegate"));
        if (create == nullptr || destroy == nullptr)
        {
            std::cerr << argv[1] << " has not both symbols of a plugin\n";
            return 1;
        }
        const char* const keys[] = {"backends", "logging-severity"};
        const char* const values[] = {"VsiNpu, CpuAcc, CpuRef", "error"};
        void* const delegate = create(keys, values, 2, Report);
        void* const plain = create(nullptr, nullptr, 0, nullptr);
        if (delegate == nullptr || plain == nullptr || !reported.empty())
        {
            std::cerr << "no delegate was made: " << reported << '\n';
            return 1;
        }
        destroy(delegate);
        destroy(plain);
        destroy(nullptr);
        const char* const wrong[] = {"backend"};
        if (create(wrong, values, 1, Report) != nullptr || reported.find("'backend'") == std::string::npos)
        {
            std::cerr << "a wrong option was taken, or its name is not in: " << reported << '\n';
            return 1;
        }
        reported.clear();
        dlclose(library);
    }
    std::cout << "opened delegate: ok\n";
    return 0;
}
