// What risk officers make of reference data: instruments, funds with their strategies, rates, borrow, the restricted list and calendars. Much of it is
// legal and put right later; much takes away what is held, open, owed or halted, contradicts itself, or comes a version too late.
import type { ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { FundReference, ReferenceContents, ReferenceKind } from "../../contracts/src/records/reference.ts";
import { paperReference } from "../../services/shared/paper-seeds.ts";
import { giveProof } from "../../testkit/memory/units/step-up.ts";
import { referenceActionOf } from "../../testkit/reference-action.ts";
import type { Prng } from "../../testkit/virtual/prng.ts";
import { insist, one } from "../people.ts";
import { operatorIdentity, type Platform } from "../platform.ts";
import { type Act, type ActionParts, asOfficer, funds, someReason, strategies, symbols } from "./action.ts";

type Change<Kind extends ReferenceKind> = (
  content: ReferenceContents[Kind],
  prng: Prng,
  seeds: ReferenceContents[Kind],
) => ReferenceContents[Kind];

/** By kind, oftener what something needs. */
const kinds: readonly ReferenceKind[] = [
  ...(["instruments", "instruments", "instruments", "instruments", "funds", "funds", "funds"] as const),
  ...(["restricted", "calendars", "fx", "borrow"] as const),
];

export const setReferenceData: Act = async (parts) => {
  const { prng, platform } = parts;
  const kind = one(prng, kinds);
  const before = newest(platform, kind);
  if (before === undefined) return;
  const isLate = prng.chance(0.05);
  const content_json = prng.chance(0.03) ? "[{" : JSON.stringify(changed(parts, kind, before.content));
  const version = before.version + (isLate ? 0 : 1);
  const document = { kind, version, content_json, reason: someReason(parts) };
  const identity = operatorIdentity("duty");
  const at = parts.time.clock.now();
  const proof = giveProof(platform.tables.stepUps, { identity, named: referenceActionOf(document), at });
  const shown = prng.chance(0.9) ? proof : "";
  const set = await asOfficer(parts, "Treasury", "SetReferenceData", { ...document, step_up_proof: shown });
  const { pending = false, request_id = "" } = (set ?? {}) as Partial<ReferenceDocument>;
  if (pending) await sign(parts, request_id);
};

/** Mostly the other operator, who takes a while; the requester tries in vain. */
async function sign({ prng, platform, time, ...parts }: ActionParts, request_id: string): Promise<void> {
  await time.timers.sleep(1_000 + prng.below(20_000));
  const identity = operatorIdentity(prng.chance(0.85) ? "relief" : "duty");
  const named = { action: "CosignReferenceData", parameters: { request_id } } as const;
  const step_up_proof = giveProof(platform.tables.stepUps, { identity, named, at: time.clock.now() });
  const request = { request_id, step_up_proof };
  await insist({ ...parts, time, platform }, platform.ask(identity), "Treasury", "CosignReferenceData", request);
}

export function newest({ tables }: Pick<Platform, "tables">, kind: ReferenceKind) {
  const [first, ...others] = tables.risk.references.get(kind) ?? [];
  if (first === undefined) return undefined;
  const { version, content } = others.reduce((best, each) => (each.version > best.version ? each : best), first);
  return { version, content: content as ReferenceContents[ReferenceKind] };
}

function changed({ prng, time }: ActionParts, kind: ReferenceKind, content: ReferenceContents[ReferenceKind]) {
  const seeds = paperReference(format(time.clock.now()))[kind];
  const change = changes[kind] as Change<ReferenceKind>;
  return change(content, prng, seeds);
}

/** What is there no more and was at the beginning, put back: a run is not to end without anything to trade. */
function restored<One>(content: readonly One[], seeds: readonly One[], nameOf: (each: One) => string): One[] {
  const kept = new Set(content.map(nameOf));
  return [...content, ...seeds.filter((seed) => !kept.has(nameOf(seed)))];
}

const changes: { readonly [Kind in ReferenceKind]: Change<Kind> } = {
  instruments(content, prng, seeds) {
    const named = (symbol: string, differs: Partial<Instrument>) =>
      content.map((each) => (each.symbol === symbol ? { ...each, ...differs } : each));
    const symbol = prng.chance(0.7) ? one(prng, symbols) : one(prng, content).symbol;
    const thrown = prng.below(100);
    if (thrown < 30) return content.filter((each) => each.symbol !== symbol);
    if (thrown < 55)
      return seededAgain(
        restored(content, seeds, (each) => each.symbol),
        seeds,
      );
    if (thrown < 68) return named(symbol, { multiplier: prng.chance(0.5) ? "10" : "1.0" });
    if (thrown < 76) return named(symbol, { currency: "EUR" });
    if (thrown < 84) return named(symbol, { asset_class: "CRYPTO" });
    if (thrown < 90) return named(symbol, { sector: "energy", tick_size: "0.05" });
    if (thrown < 95) return [...content, { ...one(prng, content) }];
    return named(symbol, { calendar: "nowhere" });
  },
  funds(content, prng, seeds) {
    const named = (fundId: string, differs: (fund: FundReference) => Partial<FundReference>) =>
      content.map((each) => (each.fund_id === fundId ? { ...each, ...differs(each) } : each));
    const fundId = prng.chance(0.85) ? one(prng, funds) : one(prng, content).fund_id;
    const strategyId = one(prng, strategies);
    const thrown = prng.below(100);
    if (thrown < 25) {
      return content.map((each) => ({ ...each, strategies: each.strategies.filter((id) => id !== strategyId) }));
    }
    if (thrown < 50)
      return seededAgain(
        restored(content, seeds, (each) => each.fund_id),
        seeds,
      );
    if (thrown < 60) return content.filter((each) => each.fund_id !== fundId);
    if (thrown < 68) return named(fundId, () => ({ mode: "LIVE" }));
    if (thrown < 76) return named(fundId, () => ({ currency: "EUR" }));
    if (thrown < 84) return named(fundId, ({ calendar }) => ({ calendar: otherCalendar(calendar) }));
    if (thrown < 92) return named(fundId, (fund) => ({ strategies: [...fund.strategies, `${fundId}-new`] }));
    return named(fundId, (fund) => ({ strategies: [...fund.strategies, strategyId] }));
  },
  restricted(content, prng) {
    const symbol = one(prng, symbols);
    const others = content.filter((each) => each.symbol !== symbol);
    return prng.chance(0.4) ? [...others, { symbol, reason: "a simulated list" }] : others;
  },
  calendars(content, prng) {
    const name = one(prng, content).name;
    const named = (differs: Partial<(typeof content)[number]>) =>
      content.map((each) => (each.name === name ? { ...each, ...differs } : each));
    const thrown = prng.below(100);
    if (thrown < 40) return named({ zone: prng.chance(0.5) ? "Asia/Tokyo" : "Nowhere/Else" });
    if (thrown < 70) return content.filter((each) => each.name !== name);
    return named({ holidays: ["2026-12-25"] });
  },
  fx: (content, prng) =>
    prng.chance(0.5) ? content.slice(1) : content.map((each) => ({ ...each, rate: `1.${1 + prng.below(80)}` })),
  venues: (content, prng) =>
    prng.chance(0.5) ? content.slice(1) : [{ venue: "simulated", priced_by: [prng.chance(0.5) ? "feed" : "paper"] }],
  borrow(content, prng, seeds) {
    const symbol = one(prng, symbols);
    const thrown = prng.below(100);
    if (thrown < 30) return content.filter((each) => each.symbol !== symbol);
    if (thrown < 60) return restored(content, seeds, (each) => each.symbol);
    return content.map((each) => (each.symbol === symbol ? { ...each, available_quantity: "10" } : each));
  },
};

/** As they were at the beginning; what came since stays. */
function seededAgain<One>(content: One[], seeds: readonly One[]): One[] {
  const idOf = (each: One): string => JSON.stringify(each, ["symbol", "fund_id"]);
  const bySeed = new Map(seeds.map((seed) => [idOf(seed), seed]));
  return content.map((each) => bySeed.get(idOf(each)) ?? each);
}

function otherCalendar(calendar: string): string {
  return paperReference("").calendars.find(({ name }) => name !== calendar)?.name ?? calendar;
}
