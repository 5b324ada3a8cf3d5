// SPDX-License-Identifier: Apache-2.0
//
// The few macros that CUDA's runtime headers want from crt/host_defines.h, which CUDA 13 ships in a
// wheel that torch does not depend on.
#pragma once
#define __no_return__ __attribute__((noreturn))
#define __align__(n) __attribute__((aligned(n)))
#define __location__(a) __annotate__(a)
#define __annotate__(a)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __builtin_align__(n) __align__(n)
#define __host__
#define __device__
#define __global__
#define __specialization_static
#define CUDARTAPI
#define CUDARTAPI_CDECL
