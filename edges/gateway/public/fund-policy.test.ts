// What strangers see of a fund: of a paper fund everything, of a live one what was allowed by name and nothing else.
import { describe, expect, it } from "vitest";
import { parse } from "../../../contracts/src/instant.ts";
import { type FundPolicy, publicFund } from "./fund-policy.ts";

const now = parse("2026-11-15T13:30:00Z");
const fund = {
  fund_id: "omega",
  name: "Omega",
  mode: "LIVE",
  currency: "USD",
  nav: "1000000",
  nav_at: "2026-11-15T13:29:59.000000Z",
  day_pnl: "-500",
  oldest_price_age_ms: 12,
  gross_exposure_pct: 0.4,
  net_exposure_pct: 0.1,
  halted: false,
};
const bare = { fund_id: "omega", name: "Omega", mode: "LIVE", currency: "USD", halted: false };

function seen(policy: FundPolicy | undefined, of: Partial<typeof fund> = {}, past?: { nav: string; nav_at: string }) {
  const policies = new Map(policy === undefined ? [] : [["omega", policy] as const]);
  const shown = publicFund(
    { ...fund, valued_by: "desk", other_value_sources: ["stranger"], ...of },
    policies,
    past,
    now,
  );
  return shown === undefined ? undefined : JSON.parse(JSON.stringify(shown));
}

describe("a fund in public", () => {
  it("shows everything on paper, and neither value nor exposure when it is live or its mode is not known", () => {
    expect(seen(undefined, { mode: "PAPER" })).toEqual({ ...fund, mode: "PAPER" });
    expect(seen(undefined)).toEqual(bare);
    expect(seen({ navDelayS: 900 })).toEqual(bare);
    expect(seen(undefined, { mode: "" })).toEqual({ ...bare, mode: "" });
  });

  it("shows what its policy names, and nothing beside", () => {
    const { gross_exposure_pct, net_exposure_pct, ...valued } = fund;
    expect(seen({ navDelayS: 900, nav: "live" })).toEqual(valued);
    expect(seen({ navDelayS: 900, exposure: true })).toEqual({ ...bare, gross_exposure_pct, net_exposure_pct });
    expect(seen({ navDelayS: 900, nav: "hidden", exposure: false }, { mode: "PAPER" })).toEqual({
      ...bare,
      mode: "PAPER",
    });
    expect(seen({ navDelayS: 900, listed: false }, { mode: "PAPER" })).toBeUndefined();
  });

  it("shows a delayed value only when it is old enough, and nothing of today's", () => {
    const old = { nav: "990000", nav_at: "2026-11-15T13:15:00.000000Z" };
    expect(seen({ navDelayS: 900, nav: "delayed" }, {}, old)).toEqual({ ...bare, ...old });
    expect(seen({ navDelayS: 901, nav: "delayed" }, {}, old)).toEqual(bare);
    expect(seen({ navDelayS: 900, nav: "delayed" })).toEqual(bare);
  });

  it("that was never valued has no value", () => {
    const never = { mode: "PAPER", nav: "0", nav_at: "1970-01-01T00:00:00.000000Z" };
    expect(seen(undefined, never)).not.toHaveProperty("nav");
  });
});
