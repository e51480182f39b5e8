// What strangers may see of each fund, as it is configured.
import type { FundPolicies } from "../edges/gateway/public/fund-policy.ts";
import type { PartInput } from "./shared.ts";

/** What each fund's configuration says of strangers. */
export function fundPolicies({ funds }: PartInput["configuration"]): FundPolicies {
  return new Map(
    funds.map(({ fund_id, public: { listed, nav, nav_delay_s, exposure } }) => [
      fund_id,
      { listed, nav, navDelayS: nav_delay_s, exposure },
    ]),
  );
}
