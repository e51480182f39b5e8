// The funds as people see them: what each is worth, how much of that is at work, and whether it is halted.
import * as decimal from "../../contracts/src/decimal.ts";
import type { FundStatus } from "../../contracts/src/generated/svc/v1/market.ts";
import type { Funds } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, fromMicroseconds, type Instant, parse } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { type FundReference, valuerOf } from "../../contracts/src/records/reference.ts";
import { type Severity, severity } from "../../contracts/src/records/values.ts";
import { drillFundId } from "../../core/halts/halts.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { ReferenceReader } from "./reference-view.ts";

/** What treasury itself valued a fund at last. */
interface OwnValue {
  readonly nav: decimal.Decimal;
  readonly at: Instant;
  readonly oldestPriceAgeMs: number;
  readonly grossValue: decimal.Decimal;
  readonly positionsValue: decimal.Decimal;
  readonly dayPnl: decimal.Decimal | undefined;
}

export type NewestOwnValue = (fundId: string) => OwnValue | undefined;

/** A fund that was never valued shows zero as of the beginning of time, which nobody takes for today's. */
const never = { nav: "0", nav_at: format(fromMicroseconds(0)) };

export async function listFunds(
  reader: ReferenceReader,
  newestOwn: NewestOwnValue,
  { riskStore, store }: Pick<ServicePorts, "riskStore" | "store">,
): Promise<Funds> {
  const { reference } = await reader.refresh();
  const navs = new Map((await riskStore.navs()).map((nav) => [nav.fund_id, nav]));
  const { active } = await riskStore.halts();
  const sources = await store.transact("reference.value-sources", (unit) => unit.foreign.valueSources(), {
    isOneStatement: true,
  });
  return {
    funds: reference.funds.filter(isSomebodys).map((fund) => ({
      fund_id: fund.fund_id,
      name: fund.name,
      mode: fund.mode,
      currency: fund.currency,
      ...newestValue(newestOwn(fund.fund_id), navs.get(fund.fund_id)),
      ...haltOf(fund, active),
      ...valuedBy(fund, sources),
    })),
  };
}

/** The fund for drills is nobody's. */
function isSomebodys({ fund_id: id }: FundReference): boolean {
  return id !== drillFundId;
}

function valuedBy(
  fund: FundReference,
  sources: readonly { readonly source: string; readonly fundId: string }[],
): Pick<FundStatus, "valued_by" | "other_value_sources"> {
  const valuer = valuerOf(fund);
  const others = sources.filter(({ source, fundId }) => fundId === fund.fund_id && source !== valuer);
  return {
    ...(valuer !== undefined && { valued_by: valuer }),
    other_value_sources: others.map(({ source }) => source),
  };
}

/** Our own value where it is the newer one, else what the risk engine keeps: a foreign treasury's, or one from before a restart. */
function newestValue(own: OwnValue | undefined, kept: NavUpdated | undefined): Pick<FundStatus, "nav" | "nav_at"> {
  if (own !== undefined && (kept === undefined || own.at >= parse(kept.as_of))) {
    const day = own.dayPnl === undefined ? {} : { day_pnl: decimal.format(own.dayPnl) };
    const age = { oldest_price_age_ms: own.oldestPriceAgeMs };
    return { nav: decimal.format(own.nav), nav_at: format(own.at), ...age, ...day, ...exposure(own) };
  }
  if (kept === undefined) return never;
  const { oldest_price_age_ms: ageMs } = kept;
  return { nav: kept.nav, nav_at: kept.as_of, ...(ageMs !== undefined && { oldest_price_age_ms: ageMs }) };
}

const millionth = decimal.parse("0.000001");

function exposure({ nav, grossValue, positionsValue }: OwnValue): Partial<FundStatus> {
  if (nav <= 0n) return {};
  // Six places are a hundredth of a basis point; the rest is noise of the division.
  const share = (value: decimal.Decimal): number =>
    decimal.toNumber(decimal.roundToIncrement(decimal.divide(value, nav, "half-even"), millionth, "half-even"));
  return { gross_exposure_pct: share(grossValue), net_exposure_pct: share(positionsValue) };
}

/** Halted is a fund that is halted as a whole; a halt of one of its strategies is reported by its level alone. */
function haltOf(fund: FundReference, active: readonly ActiveHalt[]): Pick<FundStatus, "halted" | "severity"> {
  const covering = active.filter((halt) => concerns(halt, fund)).map((halt) => halt.severity);
  const strictest = severity.options.findLast((level: Severity) => covering.includes(level));
  return {
    halted: strictest === "FIRM_HALT" || strictest === "FUND_HALT",
    ...(strictest !== undefined && { severity: strictest }),
  };
}

function concerns(halt: ActiveHalt, fund: FundReference): boolean {
  if (halt.severity === "FIRM_HALT") return true;
  if (halt.severity === "FUND_HALT") return halt.fund_id === fund.fund_id;
  return halt.strategy_id !== undefined && fund.strategies.includes(halt.strategy_id);
}
