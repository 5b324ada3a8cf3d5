# SPDX-License-Identifier: Apache-2.0
#
# The libraries that Steelyard is linked with. Installed beside steelyard-config.cmake too, because a
# program that links to our static libraries needs the same ones.
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(tl-expected REQUIRED)

# Debian's minizip and libdeflate come without a CMake package.
find_package(PkgConfig REQUIRED)
pkg_check_modules(minizip REQUIRED QUIET IMPORTED_TARGET GLOBAL minizip)
pkg_check_modules(libdeflate REQUIRED QUIET IMPORTED_TARGET GLOBAL libdeflate)
# Headers only.
find_path(PROTOZERO_INCLUDE_DIR protozero/varint.hpp REQUIRED)
