// All that the author of an estimator includes.
#pragma once

#include "estimators/compute_estimator.h"
#include "estimators/estimator_base.h"
#include "estimators/estimator_class.h"
#include "estimators/registry.h"
