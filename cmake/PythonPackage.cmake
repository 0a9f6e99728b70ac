# SPDX-License-Identifier: Apache-2.0
# The component "python", which scikit-build-core (pyproject.toml) puts into a wheel together with python/tenon.
#   tenon/lib/libtenon.so       without versions in its name, as a wheel holds no links
#   tenon/bin/ExecuteNetwork
set_property(TARGET tenon PROPERTY VERSION)
set_property(TARGET tenon PROPERTY SOVERSION)
set_property(TARGET ExecuteNetwork PROPERTY INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS tenon LIBRARY DESTINATION tenon/lib COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS ExecuteNetwork RUNTIME DESTINATION tenon/bin COMPONENT python EXCLUDE_FROM_ALL)
