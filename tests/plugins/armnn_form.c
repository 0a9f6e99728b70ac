/* SPDX-License-Identifier: Apache-2.0
   A shared object with the functions of Arm NN's dynamic backends, which a program with libtenon.a cannot load. */
#include <stdint.h>

const char* GetBackendId(void)
{
    return "ArmnnForm";
}

void GetVersion(uint32_t* major, uint32_t* minor)
{
    *major = 1;
    *minor = 0;
}

void* BackendFactory(void)
{
    return 0;
}
