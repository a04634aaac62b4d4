/* Everything of libtilefoundry, the compiler. The runtime has a header and a library of its own: Runtime.h. */
#ifndef TILEFOUNDRY_TILEFOUNDRY_H
#define TILEFOUNDRY_TILEFOUNDRY_H

#include <tilefoundry/Builder.h>
#include <tilefoundry/Context.h>
#include <tilefoundry/Diagnostics.h>
#include <tilefoundry/Executable.h>
#include <tilefoundry/HostCode.h>
#include <tilefoundry/IR.h>
#include <tilefoundry/Intrinsic.h>
#include <tilefoundry/Layout.h>
#include <tilefoundry/Lower.h>
#include <tilefoundry/Status.h>
#include <tilefoundry/Text.h>
#include <tilefoundry/Type.h>
#include <tilefoundry/Verify.h>

#endif
