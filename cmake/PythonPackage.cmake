# SPDX-License-Identifier: Apache-2.0
# The component "python", which scikit-build-core (pyproject.toml) puts into a wheel together with python/tenon.
#   tenon/lib/libtenon.so          without versions in its name, as a wheel holds no links
#   tenon/lib/libtenonDelegate.so  likewise; it needs libtenon.so, see src/delegate/CMakeLists.txt
#   tenon/bin/ExecuteNetwork
set(libraries tenon)
if(TARGET tenon_delegate)
  list(APPEND libraries tenon_delegate)
endif()
foreach(library IN LISTS libraries)
  set_property(TARGET ${library} PROPERTY VERSION)
  set_property(TARGET ${library} PROPERTY SOVERSION)
endforeach()
add_custom_target(python_package DEPENDS ${libraries} ExecuteNetwork)
set_property(TARGET ExecuteNetwork PROPERTY INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS ${libraries} LIBRARY DESTINATION tenon/lib COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS ExecuteNetwork RUNTIME DESTINATION tenon/bin COMPONENT python EXCLUDE_FROM_ALL)
