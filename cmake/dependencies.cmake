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

# An executable takes archives where the system has them: each library that the loader maps is a
# share of the start of a program that runs for milliseconds. What is not compiled for it cannot be
# part of a shared library, which takes the shared ones.
function(steelyard_prefer_archives target)
  foreach(name IN LISTS ARGN)
    find_library(STEELYARD_ARCHIVE_${name} lib${name}.a)
    mark_as_advanced(STEELYARD_ARCHIVE_${name})
    if(NOT STEELYARD_ARCHIVE_${name})
      return()
    endif()
    list(APPEND archives ${STEELYARD_ARCHIVE_${name}})
  endforeach()
  get_target_property(shared ${target} INTERFACE_LINK_LIBRARIES)
  set(is_executable "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>")
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES
    "$<${is_executable}:${archives}>;$<$<NOT:${is_executable}>:${shared}>")
endfunction()
steelyard_prefer_archives(PkgConfig::minizip minizip z)
steelyard_prefer_archives(PkgConfig::libdeflate deflate)
