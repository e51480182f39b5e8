// A fund whose lines and orders are all over and that its broker does not call flat: the flatten is NOT DONE. The broker is asked again, with pauses
// that grow to a minute, until it says that nothing is left; what a person has to do until then is named.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { FlattenFund } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import type { FlatProof } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { StoredFlatten, StoredUnflat } from "../../../ports/flatten-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";

const pauseMsMin = 2_000;
const pauseMsMax = 60_000;
/** Symbols that a sentence names. */
const namesMax = 10;

export function unflatOf({ unflat = [] }: StoredFlatten, fundId: string): StoredUnflat | undefined {
  return unflat.find((one) => one.fundId === fundId);
}

/** Whether the broker may be asked again. A clock that was set back does not stop that. */
export function mayAskAgain(unflat: StoredUnflat | undefined, now: Instant): boolean {
  if (unflat === undefined) return true;
  const pauseMs = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(unflat.looks, 10));
  const sinceMs = millisecondsBetween(unflat.at, now);
  return sinceMs >= pauseMs || sinceMs < 0;
}

/** The flatten after the broker's answer about one fund. */
export function afterProof(flatten: StoredFlatten, proof: FlatProof, at: Instant): StoredFlatten {
  const { fund_id: fundId, proof_id: proofId, left, open_orders: openOrders } = proof;
  const others = (flatten.unflat ?? []).filter((one) => one.fundId !== fundId);
  if (!proof.flat) {
    const looks = (unflatOf(flatten, fundId)?.looks ?? 0) + 1;
    return { ...flatten, unflat: [...others, { fundId, proofId, left, openOrders, looks, at }] };
  }
  const provedFundIds = [...flatten.provedFundIds, fundId];
  const isDone = flatten.fundIds.every((one) => provedFundIds.includes(one));
  return { ...flatten, unflat: others, provedFundIds, ...(isDone && { doneAt: at }) };
}

/** What the broker has left of it, in words. */
export function leftWords({ left, openOrders }: StoredUnflat): string {
  const names = left.slice(0, namesMax).map(({ symbol, quantity }) => `${quantity} ${symbol}`);
  const more = left.length > namesMax ? [`${left.length - namesMax} more positions`] : [];
  const orders = openOrders === 0 ? [] : [openOrders === 1 ? "1 open order" : `${openOrders} open orders`];
  return [...names, ...more, ...orders].join(", ");
}

/** What a person does about it: it depends on whether our own books have what the broker has. */
export async function nextStepOf(unit: UnitOfWork, unflat: StoredUnflat): Promise<string> {
  const { fundId, left } = unflat;
  const ours = new Map<string, decimal.Decimal>();
  for (const { symbol, quantity } of await unit.oms.positions(fundId)) {
    ours.set(symbol, decimal.add(ours.get(symbol) ?? decimal.zero, quantity));
  }
  if (left.some(({ symbol, quantity }) => (ours.get(symbol) ?? decimal.zero) !== decimal.parse(quantity))) {
    return `Our books do not have what the broker has: ctl riskengine reconcile --fund-id ${fundId} --force`;
  }
  // What our books have as well is a line of the flatten within a second.
  if (left.length > 0) return "It is being closed: ctl operations flatten show";
  return `Orders are open at the broker: ctl oms orders list --open --fund-id ${fundId}, then ctl cmd cancel-all`;
}

/** Each fund of a flatten as it stands; `owes` says whether a line or an order of it is open. */
export async function shownFunds(
  unit: UnitOfWork,
  flatten: StoredFlatten,
  owes: (fundId: string) => Promise<boolean>,
): Promise<FlattenFund[]> {
  const shown: FlattenFund[] = [];
  for (const fundId of flatten.fundIds) {
    const unflat = unflatOf(flatten, fundId);
    const state = flatten.provedFundIds.includes(fundId)
      ? "FLAT"
      : (await owes(fundId))
        ? "OPEN"
        : unflat === undefined
          ? "UNPROVED"
          : "NOT_FLAT";
    shown.push({
      fund_id: fundId,
      state,
      left: [],
      open_orders: 0,
      ...(state === "NOT_FLAT" &&
        unflat !== undefined && {
          left: unflat.left.map((one) => ({ ...one })),
          open_orders: unflat.openOrders,
          proof_id: unflat.proofId,
          asked_at: format(unflat.at),
          next_step: await nextStepOf(unit, unflat),
        }),
    });
  }
  return shown;
}
