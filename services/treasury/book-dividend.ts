// Cash dividends: who was long of a share at the end of the day before its ex-date receives so much a share, who was short pays it. The day is that of
// the fund's own calendar; what was held then is what is held now less what traded since, by the trades' own times. All funds are booked in
// one transaction, which also keeps the action's id: the same action twice is one, also after a crash.

import { startOfDate } from "../../contracts/src/calendar.ts";
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { BookCorporateActionRequest, CorporateAction } from "../../contracts/src/generated/svc/v1/platform.ts";
import { type CivilDate, type Instant, tryParseDate } from "../../contracts/src/instant.ts";
import { idText, reasonText } from "../../contracts/src/records/fields.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { dividendEntry, dividendOf } from "../../core/ledger/ledger.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ServicePorts } from "../shared/service.ts";
import { bookEntry, entryIdOf } from "./book-entry.ts";
import { ledgerMessage } from "./list-ledger.ts";
import { canonicalText, hexOf } from "./reference-records.ts";
import type { ReferenceReader, ReferenceView } from "./reference-view.ts";
import { invalid, quoted } from "./treasury-arguments.ts";

export type DividendPorts = Pick<ServicePorts, "clock" | "store" | "sha256">;

interface Dividend {
  readonly actionId: string;
  readonly instrument: Instrument;
  readonly perShare: decimal.Decimal;
  readonly exDate: CivilDate;
  readonly exDateText: string;
  readonly reason: string;
  readonly bookedBy: string;
}

export async function bookDividend(
  request: BookCorporateActionRequest,
  call: Pick<RpcCall, "identity">,
  ports: DividendPorts,
  reader: ReferenceReader,
): Promise<CorporateAction | DeniedAnswer> {
  const view = await reader.refresh();
  const dividend = checked(request, view, call.identity.actor);
  if (dividend.reason === "") return denied("REASON_MISSING", "No dividend is booked without a reason.");
  if (dividend.instrument.asset_class !== "EQUITY") {
    const sentence = `${request.symbol} is of class ${dividend.instrument.asset_class}: only shares pay dividends.`;
    return denied("CORPORATE_ACTION_NOT_SHARE", sentence);
  }
  return ports.store.transact("treasury.corporate-action", (unit) => book(unit, dividend, view, ports));
}

async function book(
  unit: UnitOfWork,
  dividend: Dividend,
  view: ReferenceView,
  ports: DividendPorts,
): Promise<CorporateAction | DeniedAnswer> {
  const { actionId, instrument, perShare, exDateText } = dividend;
  const name = `corporate-action:${actionId}`;
  const terms = ["CASH_DIVIDEND", instrument.symbol, decimal.format(perShare), exDateText];
  const hash = hexOf(ports.sha256(canonicalText(terms)));
  const answer = { action_id: actionId, kind: "CASH_DIVIDEND", symbol: instrument.symbol };
  const known = await unit.ledger.imported(name);
  if (known !== undefined && known !== hash) {
    return denied("CORPORATE_ACTION_CONFLICT", `${actionId} is another corporate action.`);
  }
  const due =
    known === undefined ? await dueEntries(unit, dividend, view, ports) : await bookedEntries(unit, dividend, ports);
  if ("denial" in due) return due;
  if (known === undefined && due.length > 0) {
    await unit.ledger.firstImport(name, hash, ports.clock.now());
    for (const entry of due) await bookEntry(unit, entry);
  }
  const booked = { already_booked: known !== undefined, state: "DONE", note: "" };
  return { ...answer, entries: due.map(ledgerMessage), ...booked };
}

/** What every strategy of every paper fund is due, or why that cannot be said yet. */
async function dueEntries(
  unit: UnitOfWork,
  dividend: Dividend,
  view: ReferenceView,
  ports: DividendPorts,
): Promise<readonly LedgerEntry[] | DeniedAnswer> {
  const { instrument, exDate, exDateText } = dividend;
  const funds = view.reference.funds.filter(({ mode }) => mode === "PAPER");
  const at = ports.clock.now();
  const entries: LedgerEntry[] = [];
  const fundIds = funds.map(({ fund_id: id }) => id);
  const unbooked = (await unit.oms.unbookedFills(fundIds, unbookedMax)).find(
    ({ symbol }) => symbol === instrument.symbol,
  );
  if (unbooked !== undefined) {
    return denied("CORPORATE_ACTION_EARLY", `The trade ${unbooked.fill_id} in ${instrument.symbol} is not booked yet.`);
  }
  for (const { fund_id: fundId, calendar: calendarName } of funds) {
    const calendar = view.calendars.get(calendarName);
    if (calendar === undefined) throw invalid(`${fundId} follows a calendar that is not there.`);
    const began = startOfDate(calendar, exDate);
    if (began > at) return denied("CORPORATE_ACTION_EARLY", `${exDateText} has not begun for ${fundId}.`);
    entries.push(...(await entriesOf(unit, dividend, fundId, began, at, ports)));
  }
  return entries;
}

const unbookedMax = 1_000;

async function entriesOf(
  unit: UnitOfWork,
  dividend: Dividend,
  fundId: string,
  began: Instant,
  at: Instant,
  ports: DividendPorts,
): Promise<readonly LedgerEntry[]> {
  const { instrument, perShare, exDateText, bookedBy } = dividend;
  const isIts = (one: { readonly symbol: string }): boolean => one.symbol === instrument.symbol;
  const held = (await unit.ledger.strategyHoldings()).filter((one) => one.fundId === fundId && isIts(one));
  const since = (await unit.ledger.tradedSince(fundId, began)).filter(isIts);
  const multiplier = decimal.parse(instrument.multiplier);
  return held.flatMap(({ strategyId, quantity }) => {
    const traded = since.find((one) => one.strategyId === strategyId)?.quantity ?? decimal.zero;
    const then = decimal.subtract(quantity, traded);
    const amount = dividendOf(decimal.multiply(then, multiplier, "half-even"), perShare);
    if (amount === decimal.zero) return [];
    const words = `${decimal.format(perShare)} ${instrument.currency} a share on ${decimal.format(then)} ${instrument.symbol}, ex ${exDateText}`;
    return [
      dividendEntry({
        entryId: entryIdFor(dividend, fundId, strategyId, ports),
        ...{ fundId, strategyId, symbol: instrument.symbol, currency: instrument.currency, amount, bookedBy, at },
        reason: `${words}: ${dividend.reason}`.slice(0, 2_000),
      }),
    ];
  });
}

/** As they were booked then. */
async function bookedEntries(
  unit: UnitOfWork,
  dividend: Dividend,
  ports: DividendPorts,
): Promise<readonly LedgerEntry[]> {
  const found: LedgerEntry[] = [];
  for (const { fundId, strategyId, symbol } of await unit.ledger.strategyHoldings()) {
    if (symbol !== dividend.instrument.symbol) continue;
    const entry = await unit.ledger.entry(entryIdFor(dividend, fundId, strategyId, ports));
    if (entry !== undefined) found.push(entry);
  }
  return found;
}

function entryIdFor({ actionId }: Dividend, fundId: string, strategyId: string, { sha256 }: DividendPorts): string {
  return entryIdOf(sha256, "dividend", actionId, fundId, strategyId);
}

function checked(request: BookCorporateActionRequest, view: ReferenceView, bookedBy: string): Dividend {
  const { action_id: actionId, kind, symbol, ex_date: exDateText } = request;
  if (kind !== "CASH_DIVIDEND") {
    throw invalid(`kind is ${quoted(kind)}: give CASH_DIVIDEND, SPLIT or SYMBOL_CHANGE.`);
  }
  if (!idText.safeParse(actionId).success)
    throw invalid(`action_id is ${quoted(actionId)}: make one up, such as aapl-2026-q4.`);
  const instrument = view.instruments.get(symbol);
  if (instrument === undefined) throw invalid(`There is no instrument ${quoted(symbol)}.`);
  const perShare = decimal.tryParse(request.amount_per_share);
  if (perShare === undefined || perShare <= decimal.zero) {
    throw invalid(`amount_per_share is ${quoted(request.amount_per_share)}: give a decimal above zero such as 0.26.`);
  }
  const exDate = tryParseDate(exDateText);
  if (exDate === undefined) throw invalid(`ex_date is ${quoted(exDateText)}: give a date such as 2026-11-16.`);
  const reason = request.reason.trim();
  if (reason !== "" && !reasonText.safeParse(reason).success) {
    throw invalid("The reason is longer than 2000 characters or has control characters in it.");
  }
  return { actionId, instrument, perShare, exDate, exDateText, reason, bookedBy };
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}
