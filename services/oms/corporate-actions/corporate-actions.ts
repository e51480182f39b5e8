// Carries out splits and changes of symbols that were announced. What is to be done next follows from the store alone, so that whoever is killed in
// between goes on where it was:
//
//  1. ANNOUNCED: open orders of its symbols are cancelled, as brokers do. The risk engine decides nothing in them, the market quotes nothing.
//  2. When nothing is open, reserved or on its way anywhere, and everybody's position is the same, our books get it in one transaction: APPLIED. When
//     that does not come about within half a minute, or a flatten runs, it is ABORTED and nothing has happened.
//  3. The paper broker takes it into its own books, once. When the risk engine has the fills in its journal, it is DONE, and trading goes on.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { format, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Instrument } from "../../../contracts/src/records/market.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { StoredAction } from "../../../ports/corporate-actions.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { actionPace, changedRecord } from "../../shared/corporate-action-record.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import type { Cancelling } from "../cancelling.ts";
import type { Instruments } from "../instruments.ts";
import type { Bells, OmsPorts } from "../oms-parts.ts";
import { alarm } from "../transitions.ts";
import { applyAction } from "./apply-action.ts";

/** How long others may take to follow our books before somebody is notified. */
const followMsMax = 30_000;
/** Trades that are named when they stand against it. */
const unbookedMax = 1_000;

interface ActionOptions {
  readonly ports: OmsPorts;
  readonly instruments: Pick<Instruments, "forgetPrice">;
  readonly cancelling: Pick<Cancelling, "request">;
  readonly bells: Pick<Bells, "reports">;
}

export function carryOutActions({ ports, instruments, cancelling, bells }: ActionOptions): Loop {
  const { store, clock } = ports;
  const { leadMs, lookEveryMs, patienceMs } = actionPace(ports.settings);
  /** Of actions that took too long after they were applied. */
  const reported = new Set<string>();

  async function run(ending: AbortSignal): Promise<number> {
    const actions = await store.transact("oms.look", (unit) => unit.corporateActions.underWay(), {
      isOneStatement: true,
    });
    for (const action of actions) {
      if (ending.aborted) break;
      await (action.state === "ANNOUNCED" ? prepare(action) : follow(action));
    }
    return lookEveryMs;
  }

  async function prepare(action: StoredAction): Promise<void> {
    const flatten = await store.transact("oms.look", (unit) => unit.flattens.find());
    // Who flattens needs his exits now.
    if (flatten !== undefined && flatten.doneAt === undefined) return abort(action, "a flatten is not done");
    await cancelOpen(action);
    const waitedMs = millisecondsBetween(action.announcedAt, clock.now());
    if (waitedMs < leadMs && waitedMs >= 0) return;
    const why = await whyNotOutside(action).catch(whyOf);
    const standing = why ?? (await apply(action).catch(whyOf));
    if (standing !== undefined && waitedMs >= patienceMs) await abort(action, standing);
    else if (standing === undefined) await follow({ ...action, state: "APPLIED" });
  }

  async function cancelOpen(action: StoredAction): Promise<void> {
    const symbols = symbolsOf(action);
    const open = await store.transact("oms.look", (unit) => unit.oms.openOrders());
    for (const { order, sliced, cancelReason } of open) {
      if (!symbols.has(order.symbol) || sliced === true || cancelReason !== undefined) continue;
      await cancelling.request(order.order_id, `The corporate action ${action.actionId} cancels it.`);
    }
  }

  /** What the risk engine and the broker say against it; what is asked first holds for what is asked after it. */
  async function whyNotOutside(action: StoredAction): Promise<string | undefined> {
    const symbols = symbolsOf(action);
    const held = new Set(await ports.riskBooks.heldSymbols());
    for (const symbol of symbols) if (!held.has(symbol)) return `the risk engine still decides in ${symbol}`;
    const lines = (await ports.riskBooks.lines()).filter(({ symbol }) => symbols.has(symbol));
    const sums = await store.transact("oms.look", (unit) => fundSums(unit, symbols));
    for (const { fundId, symbol, quantity, pendingBuy, pendingSell } of lines) {
      const [name, ours] = [`${symbol} of ${fundId}`, sums.get(keyOf(fundId, symbol)) ?? decimal.zero];
      if (!isZero(pendingBuy) || !isZero(pendingSell)) return `approvals for ${name} are open in the risk engine`;
      if (decimal.parse(quantity) !== ours)
        return `the risk engine has ${quantity} ${name}, we ${decimal.format(ours)}`;
    }
    return whyNotAtBroker(symbols, sums);
  }

  async function whyNotAtBroker(
    symbols: ReadonlySet<string>,
    sums: ReadonlyMap<string, decimal.Decimal>,
  ): Promise<string | undefined> {
    const { funds } = await ports.referenceData.read();
    for (const { fund_id: fundId } of funds.filter(({ mode }) => mode === "PAPER")) {
      for (const broker of ports.brokers.filter(({ applyAction: takesIt }) => takesIt !== undefined)) {
        const answer = await broker.positions(fundId);
        if (!answer.complete) return `${broker.name} does not say what ${fundId} holds: ${answer.why}`;
        const cursor = await store.transact("oms.look", (unit) => unit.oms.reportCursor(broker.name));
        if (cursor < answer.cursor) {
          bells.reports(broker.name);
          return `reports of ${broker.name} are not booked yet`;
        }
        for (const symbol of symbols) {
          const theirs = answer.items.find((one) => one.symbol === symbol)?.quantity ?? decimal.zero;
          const ours = sums.get(keyOf(fundId, symbol)) ?? decimal.zero;
          if (theirs === ours) continue;
          return `${broker.name} has ${decimal.format(theirs)} ${symbol} of ${fundId}, we ${decimal.format(ours)}`;
        }
      }
    }
    return undefined;
  }

  /** Undefined when it is applied, now or before. */
  async function apply(known: StoredAction): Promise<string | undefined> {
    const reference = await ports.referenceData.read();
    const instruments = new Map(reference.instruments.map((one) => [one.symbol, one]));
    const paper = reference.funds.filter(({ mode }) => mode === "PAPER").map(({ fund_id: id }) => id);
    return store.transact("oms.action", async (unit) => {
      const action = await unit.corporateActions.lock(known.actionId);
      if (action?.state !== "ANNOUNCED") return undefined;
      const standing = await whyNotHere(unit, action, paper);
      if (standing !== undefined) return standing;
      const at = clock.now();
      const fillIds = await applyAction({ unit, ports, action, instruments, at });
      await put(unit, { ...action, state: "APPLIED", appliedAt: at, fillIds });
      return undefined;
    });
  }

  async function follow(action: StoredAction): Promise<void> {
    const { actionId } = action;
    for (const symbol of symbolsOf(action)) instruments.forgetPrice(symbol);
    const { legs, appliedAt, fillIds } = await stored(action);
    if (appliedAt === undefined) return;
    const reference = await ports.referenceData.read();
    const lotOf = (symbol: string) => reference.instruments.find((one) => one.symbol === symbol)?.lot_size ?? "1";
    const reported = legs.map(({ symbol, new_symbol: newSymbol, quantity, price }) => ({
      symbol,
      newSymbol,
      quantity,
      price,
      lotSize: decimal.parse(lotOf(newSymbol)),
    }));
    for (const broker of ports.brokers) await broker.applyAction?.({ actionId, legs: reported });
    const known = await ports.riskStore.knownFills(fillIds ?? []);
    if (known.size === (fillIds ?? []).length) return finish(action);
    if (millisecondsBetween(appliedAt, clock.now()) >= followMsMax) await tellStuck(action);
  }

  async function stored(action: StoredAction): Promise<StoredAction> {
    const found = await store.transact("oms.look", (unit) => unit.corporateActions.underWay());
    return found.find(({ actionId }) => actionId === action.actionId) ?? action;
  }

  function finish({ actionId }: StoredAction): Promise<void> {
    return store.transact("oms.action", async (unit) => {
      const action = await unit.corporateActions.lock(actionId);
      if (action?.state !== "APPLIED") return;
      await put(unit, { ...action, state: "DONE", doneAt: clock.now() });
      reported.delete(actionId);
    });
  }

  function abort({ actionId }: StoredAction, why: string): Promise<void> {
    return store.transact("oms.action", async (unit) => {
      const action = await unit.corporateActions.lock(actionId);
      if (action?.state !== "ANNOUNCED") return;
      await put(unit, { ...action, state: "ABORTED", note: why.slice(0, 2_000) });
      const sentence = `The corporate action ${actionId} in ${action.symbol} was aborted, nothing was changed: ${why}.`;
      await alarm(unit, "CORPORATE_ACTION_STUCK", actionId, sentence, clock.now());
    });
  }

  async function tellStuck({ actionId, symbol }: StoredAction): Promise<void> {
    if (reported.has(actionId)) return;
    const sentence = `The corporate action ${actionId} in ${symbol} is applied, and the risk engine does not have it yet.`;
    await store.transact("oms.alarm", (unit) => alarm(unit, "CORPORATE_ACTION_STUCK", actionId, sentence, clock.now()));
    reported.add(actionId);
  }

  async function put(unit: UnitOfWork, action: StoredAction): Promise<void> {
    await unit.corporateActions.put(action);
    await unit.events.publish(subjects.corporateActionChanged, changedRecord(action, format(clock.now())));
  }

  const what = {
    failing: "corporate actions cannot be carried out",
    working: "corporate actions can be carried out again",
  };
  return startLoop({ ports, what, firstAfterMs: 0, run, troubleMsMax: lookEveryMs });
}

/** What our own books say against it, in the transaction that would apply it. */
async function whyNotHere(
  unit: UnitOfWork,
  action: StoredAction,
  paperFunds: readonly string[],
): Promise<string | undefined> {
  const symbols = symbolsOf(action);
  const open = (await unit.oms.openOrders()).find(({ order }) => symbols.has(order.symbol));
  if (open !== undefined) return `the order ${open.order.order_id} is open`;
  const unbooked = (await unit.oms.unbookedFills(paperFunds, unbookedMax)).find(({ symbol }) => symbols.has(symbol));
  if (unbooked !== undefined) return `the fill ${unbooked.fill_id} is not booked yet`;
  const listed = ((await unit.reference.lock("instruments"))?.content ?? []) as readonly Instrument[];
  const others = listed.find(({ symbol, underlying }) => underlying === action.symbol && !symbols.has(symbol));
  if (others !== undefined) return `${others.symbol} was listed on it since it was announced`;
  const foreign = (await unit.oms.positions()).find(
    ({ symbol, fundId, quantity }) => symbols.has(symbol) && quantity !== decimal.zero && !paperFunds.includes(fundId),
  );
  if (foreign !== undefined) return `${foreign.fundId}, which is no paper fund, holds ${foreign.symbol}`;
  const names = new Set(
    listed.map(({ symbol }) => symbol).filter((symbol) => !action.legs.some((leg) => leg.symbol === symbol)),
  );
  const taken = action.legs.find((leg) => names.has(leg.new_symbol));
  return taken && `there is an instrument ${taken.new_symbol} already`;
}

/** Whatever the world says against it is a reason to wait, and in the end to abort. */
function whyOf(thrown: unknown): string {
  if (thrown instanceof Defect) throw thrown;
  return messageOf(thrown);
}

function symbolsOf({ legs }: StoredAction): ReadonlySet<string> {
  return new Set(legs.flatMap(({ symbol, new_symbol: newSymbol }) => [symbol, newSymbol]));
}

const keyOf = (fundId: string, symbol: string): string => JSON.stringify([fundId, symbol]);
const isZero = (text: string): boolean => decimal.parse(text) === decimal.zero;

async function fundSums(unit: UnitOfWork, symbols: ReadonlySet<string>): Promise<ReadonlyMap<string, decimal.Decimal>> {
  const sums = new Map<string, decimal.Decimal>();
  for (const { fundId, symbol, quantity } of await unit.oms.positions()) {
    if (!symbols.has(symbol)) continue;
    sums.set(keyOf(fundId, symbol), decimal.add(sums.get(keyOf(fundId, symbol)) ?? decimal.zero, quantity));
  }
  return sums;
}
