// What becomes of dividends that were declared. At the moment at which the share goes ex it is fixed, in one transaction, who held it then: longs
// get the amount per share, shorts owe it, in whole cents. From that transaction on the share's price is one without the dividend, and the amounts are income,
// booked as due, and count in the fund's value. On the pay date they become cash. Each is one transaction with its entries.
//
// Both happen right before funds are valued, so no value is made in between. What is held at the ex moment is what is held now less what traded
// since, by the trades' own times. While trades in the share are not booked yet it waits, and its price is counted with the dividend.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import {
  type BorrowCharge,
  dividendDueEntry,
  dividendEntry,
  dividendOf,
  dividendPaidEntry,
} from "../../core/ledger/ledger.ts";
import type { DividendDue, StoredAction, StoredDividend } from "../../ports/corporate-actions.ts";
import type { Sha256 } from "../../ports/hashing.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import { changedRecord } from "../shared/corporate-action-record.ts";
import type { ServicePorts } from "../shared/service.ts";
import { bookEntry, entryIdOf } from "./book-entry.ts";

type DividendPorts = Pick<ServicePorts, "clock" | "store" | "sha256">;

/** Of an unbooked trade one is enough. */
const unbookedMax = 1_000;

/** Takes every dividend as far as the moment allows. */
export async function payDividends(ports: DividendPorts, view: ReferenceView): Promise<void> {
  const { store, clock } = ports;
  const open = await store.transact("treasury.look", (unit) => unit.corporateActions.dividends(), {
    isOneStatement: true,
  });
  for (const { actionId, dividend } of open) {
    const at = clock.now();
    if (dividend === undefined || at < dividend.exAt) continue;
    if (dividend.due !== undefined && at < (dividend.payAt ?? at)) continue;
    await store.transact("treasury.dividend", async (unit) => {
      const action = await unit.corporateActions.lock(actionId);
      const next = action === undefined ? undefined : await step(unit, action, ports, view, at);
      if (next === undefined) return;
      await unit.corporateActions.put(next);
      await unit.events.publish(subjects.corporateActionChanged, changedRecord(next, format(at)));
    });
  }
}

/** Undefined when there is nothing to be done now. */
async function step(
  unit: UnitOfWork,
  action: StoredAction,
  ports: DividendPorts,
  view: ReferenceView,
  at: Instant,
): Promise<StoredAction | undefined> {
  const { dividend, state } = action;
  if (dividend === undefined || (state !== "DECLARED" && state !== "EX")) return undefined;
  const due = dividend.due ?? (await dueAtEx(unit, action, dividend, view));
  if (due === undefined) return undefined;
  const after = { ...action, appliedAt: dividend.exAt, dividend: { ...dividend, due } };
  if (at < (dividend.payAt ?? at)) {
    for (const one of due)
      await bookEntry(unit, dividendDueEntry(chargeOf("dividend-due", action, dividend, one, ports, at)));
    return { ...after, state: "EX" };
  }
  for (const one of due) await pay(unit, action, dividend, one, ports, at);
  return { ...after, state: "DONE", doneAt: at };
}

/** Undefined while trades in the share are not booked. */
async function dueAtEx(
  unit: UnitOfWork,
  { symbol }: StoredAction,
  { perShare, exAt }: StoredDividend,
  view: ReferenceView,
): Promise<readonly DividendDue[] | undefined> {
  const fundIds = view.reference.funds.filter(({ mode }) => mode === "PAPER").map(({ fund_id: id }) => id);
  const isIts = (one: { readonly symbol: string }): boolean => one.symbol === symbol;
  if ((await unit.oms.unbookedFills(fundIds, unbookedMax)).some(isIts)) return undefined;
  const holdings = (await unit.ledger.strategyHoldings()).filter(isIts);
  const due: DividendDue[] = [];
  for (const fundId of fundIds) {
    const traded = (await unit.ledger.tradedSince(fundId, exAt)).filter(isIts);
    const positions = (await unit.oms.positions(fundId)).filter(isIts);
    for (const { strategyId, quantity: now } of holdings.filter((one) => one.fundId === fundId)) {
      const since = traded.find((one) => one.strategyId === strategyId)?.quantity ?? decimal.zero;
      const quantity = decimal.subtract(now, since);
      const amount = dividendOf(quantity, decimal.parse(perShare));
      if (amount === decimal.zero) continue;
      const openedBy = positions.find((one) => one.strategyId === strategyId)?.openedBy ?? "";
      const sums = { quantity: decimal.format(quantity), amount: decimal.format(amount) };
      due.push({ fundId, strategyId, openedBy, ...sums });
    }
  }
  return due;
}

async function pay(
  unit: UnitOfWork,
  action: StoredAction,
  dividend: StoredDividend,
  due: DividendDue,
  ports: DividendPorts,
  at: Instant,
): Promise<void> {
  const dueId = entryIdOf(ports.sha256, "dividend-due", action.actionId, due.fundId, due.strategyId);
  // One that went ex before dividends were booked as due has no such entry.
  const wasDue = (await unit.ledger.entry(dueId)) !== undefined;
  const charge = chargeOf("dividend", action, dividend, due, ports, at);
  await bookEntry(unit, wasDue ? dividendPaidEntry(charge) : dividendEntry(charge));
}

function chargeOf(
  kind: "dividend" | "dividend-due",
  { actionId, symbol, reason, bookedBy }: StoredAction,
  { perShare, currency, exDate }: StoredDividend,
  { fundId, strategyId, quantity, amount }: DividendDue,
  { sha256 }: DividendPorts,
  at: Instant,
): BorrowCharge {
  const words = `${perShare} ${currency} a share on ${quantity} ${symbol}, ex ${exDate}`;
  return {
    entryId: entryIdOf(sha256, kind, actionId, fundId, strategyId),
    fundId,
    strategyId,
    symbol,
    currency,
    amount: decimal.parse(amount),
    bookedBy,
    at,
    reason: `${words}: ${reason}`.slice(0, 2_000),
  };
}

export function dividendEntryId(sha256: Sha256, actionId: string, fundId: string, strategyId: string): string {
  return entryIdOf(sha256, "dividend", actionId, fundId, strategyId);
}

/** What is due and not paid, as it counts in values: cash of the fund, and of the strategy. */
export function dueOf(actions: readonly StoredAction[]) {
  return actions.flatMap(({ state, dividend }) =>
    state !== "EX" || dividend === undefined
      ? []
      : (dividend.due ?? []).map(({ fundId, strategyId, amount }) => ({
          fundId,
          strategyId,
          symbol: dividend.currency,
          quantity: decimal.parse(amount),
        })),
  );
}
