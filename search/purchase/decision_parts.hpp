// SPDX-License-Identifier: Apache-2.0
// Private to the room: what follows from options once they are assessed.
#pragma once
#include <optional>
#include <vector>

#include "search/purchase/purchase.hpp"

namespace search {

// Each assumption a fifth up and down, for all options at once; then, against the recommended one
// alone, its price or rent a fifth up and its efficiency a fifth down. Plans stay. O(options) each.
std::vector<Sensitivity> sensitivity_of(const Purchase& purchase,
                                        const std::vector<Assessed>& options,
                                        std::optional<std::size_t> recommended);

// Gives the plan's forecast its interval and its correction.
void set_interval_and_correction(Planned& plan, const Purchasing& how);

// The chosen plans on the same nodes with other fabrics, each simulated anew: oversubscription 1:1,
// 2:1 and 4:1 of the lowest tier, rails or none, NICs and links half and twice as fast. Those that
// cannot join the nodes are left out. Switches are counted anew; prices stay.
std::vector<FabricEffect> fabric_effects(const Purchase& purchase, const PurchaseOption& option,
                                         const std::vector<Planned>& plans, const Purchasing& how);

}  // namespace search
