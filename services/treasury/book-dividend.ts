// Cash dividends. One is declared here, in one transaction with its event, and pays at the moment at which its share goes ex
// (pay-dividends.ts): the beginning of its ex-date, or a moment after it was declared where that has begun. The same id is one dividend.

import { startOfDate, type TradingCalendar } from "../../contracts/src/calendar.ts";
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { BookCorporateActionRequest, CorporateAction } from "../../contracts/src/generated/svc/v1/platform.ts";
import {
  type CivilDate,
  format,
  type Instant,
  later,
  millisecondsBetween,
  plusMilliseconds,
  tryParseDate,
} from "../../contracts/src/instant.ts";
import { idText, reasonText } from "../../contracts/src/records/fields.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { StoredAction, StoredDividend } from "../../ports/corporate-actions.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { canonicalText, hexOf } from "../reference/reference-records.ts";
import type { ReferenceReader, ReferenceView } from "../reference/reference-view.ts";
import { invalid, quoted } from "../reference/treasury-arguments.ts";
import { actionPace, changedRecord } from "../shared/corporate-action-record.ts";
import type { ServicePorts } from "../shared/service.ts";
import { actionsMax } from "./announce-action.ts";
import { ledgerMessage } from "./list-ledger.ts";
import { dividendEntryId } from "./pay-dividends.ts";

type DividendPorts = Pick<ServicePorts, "clock" | "store" | "sha256" | "settings">;

/** A declared one cannot be taken back, and no split goes with it. */
const daysAheadMax = 7;
const dayMs = 86_400_000;
/** More of the price than this is no ordinary dividend: the share would be another one afterwards. */
const shareOfPriceMax = decimal.parse("0.5");

interface Asked {
  readonly actionId: string;
  readonly instrument: Instrument;
  readonly perShare: decimal.Decimal;
  readonly exDate: CivilDate;
  readonly payDate: CivilDate | undefined;
  readonly reason: string;
}

export async function bookDividend(
  request: BookCorporateActionRequest,
  call: Pick<RpcCall, "identity">,
  ports: DividendPorts,
  reader: ReferenceReader,
): Promise<CorporateAction | DeniedAnswer> {
  const view = await reader.refresh();
  const asked = checked(request, view);
  if (asked.reason === "") return denied("REASON_MISSING", "No dividend is booked without a reason.");
  if (asked.instrument.asset_class !== "EQUITY") {
    const sentence = `${request.symbol} is of class ${asked.instrument.asset_class}: only shares pay dividends.`;
    return denied("CORPORATE_ACTION_NOT_SHARE", sentence);
  }
  const calendar = view.calendars.get(asked.instrument.calendar);
  if (calendar === undefined) throw invalid(`${request.symbol} follows a calendar that is not there.`);
  const termsHash = hexOf(ports.sha256(canonicalText(termsOf(request, asked))));
  return ports.store.transact("treasury.action", async (unit) => {
    const known = await knownAnswer(unit, request, termsHash, ports);
    if (known !== undefined) return known;
    const at = ports.clock.now();
    const dividend = datedDividend(request, asked, calendar, plusMilliseconds(at, actionPace(ports.settings).leadMs));
    const refused = await refusal(unit, asked, dividend, view, at);
    if (refused !== undefined) return refused;
    const action: StoredAction = {
      actionId: asked.actionId,
      kind: "CASH_DIVIDEND",
      symbol: asked.instrument.symbol,
      state: "DECLARED",
      legs: [],
      termsHash,
      bookedBy: call.identity.actor,
      reason: asked.reason,
      announcedAt: at,
      dividend,
    };
    await unit.corporateActions.put(action);
    await unit.events.publish(subjects.corporateActionChanged, changedRecord(action, format(at)));
    return answerOf(action, [], false);
  });
}

/** By which the same one is known. */
function termsOf({ ex_date: exDate, pay_date: payDate = "" }: BookCorporateActionRequest, asked: Asked) {
  const terms = ["CASH_DIVIDEND", asked.instrument.symbol, decimal.format(asked.perShare), exDate];
  return payDate === "" ? terms : [...terms, payDate];
}

function datedDividend(
  { ex_date: exDate, pay_date: payDate }: BookCorporateActionRequest,
  asked: Asked,
  calendar: TradingCalendar,
  soonest: Instant,
): StoredDividend {
  const exAt = later(startOfDate(calendar, asked.exDate), soonest);
  const payAt = asked.payDate === undefined ? exAt : startOfDate(calendar, asked.payDate);
  return {
    perShare: decimal.format(asked.perShare),
    currency: asked.instrument.currency,
    exDate,
    exAt,
    ...(payDate !== undefined && payDate !== "" && { payDate }),
    ...(payAt > exAt && { payAt }),
  };
}

/** Undefined when nobody declared it. */
async function knownAnswer(
  unit: UnitOfWork,
  { action_id: actionId, symbol }: BookCorporateActionRequest,
  termsHash: string,
  ports: DividendPorts,
): Promise<CorporateAction | DeniedAnswer | undefined> {
  const known = await unit.corporateActions.lock(actionId);
  // Those of before dividends had a state were booked at once.
  const hash = known?.termsHash ?? (await unit.ledger.imported(`corporate-action:${actionId}`));
  if (hash === undefined) return undefined;
  if (hash !== termsHash) return denied("CORPORATE_ACTION_CONFLICT", `${actionId} is another corporate action.`);
  const holders = known?.dividend?.due ?? (await unit.ledger.strategyHoldings()).filter((one) => one.symbol === symbol);
  const entries: LedgerEntry[] = [];
  for (const { fundId, strategyId } of holders) {
    const entry = await unit.ledger.entry(dividendEntryId(ports.sha256, actionId, fundId, strategyId));
    if (entry !== undefined) entries.push(entry);
  }
  const action = known ?? { actionId, kind: "CASH_DIVIDEND" as const, symbol, state: "DONE" as const };
  return answerOf(action, entries, true);
}

async function refusal(
  unit: UnitOfWork,
  { instrument: { symbol }, perShare }: Asked,
  { exAt, exDate }: StoredDividend,
  view: ReferenceView,
  at: Instant,
): Promise<DeniedAnswer | undefined> {
  if (millisecondsBetween(at, exAt) > daysAheadMax * dayMs) {
    const sentence = `${exDate} is more than ${daysAheadMax} days ahead: declare it when it is nearer.`;
    return denied("CORPORATE_ACTION_EARLY", sentence);
  }
  const stands = (sentence: string): DeniedAnswer => denied("CORPORATE_ACTION_STANDS", sentence);
  const other = (await unit.corporateActions.underWay()).find(({ legs }) =>
    legs.some((leg) => leg.symbol === symbol || leg.new_symbol === symbol),
  );
  if (other !== undefined) return stands(`The corporate action ${other.actionId} in ${other.symbol} is under way.`);
  const count = (await unit.corporateActions.applied()).length + (await unit.corporateActions.dividends()).length;
  if (count >= actionsMax) return stands(`There were ${actionsMax} corporate actions, which is the most.`);
  for (const { fund_id: fundId } of view.reference.funds.filter(({ mode }) => mode === "PAPER")) {
    const valued = (await unit.ledger.lockFund(fundId)).newest?.prices?.[symbol];
    if (valued === undefined) continue;
    const most = decimal.multiply(decimal.parse(valued.price), shareOfPriceMax, "down");
    if (perShare <= most) continue;
    return stands(`${decimal.format(perShare)} is more than half of the price of ${symbol}, ${valued.price}.`);
  }
  return undefined;
}

function answerOf(
  { actionId, kind, symbol, state }: Pick<StoredAction, "actionId" | "kind" | "symbol" | "state">,
  entries: readonly LedgerEntry[],
  isKnown: boolean,
): CorporateAction {
  const reported = { already_booked: isKnown, state, note: "" };
  return { action_id: actionId, kind, symbol, entries: entries.map(ledgerMessage), ...reported };
}

function checked(request: BookCorporateActionRequest, view: ReferenceView): Asked {
  const { action_id: actionId, kind, symbol, ex_date: exDateText, pay_date: payDateText = "" } = request;
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
  const payDate = payDateText === "" ? undefined : tryParseDate(payDateText);
  if (payDateText !== "" && (payDate === undefined || payDateText < exDateText)) {
    throw invalid(`pay_date is ${quoted(payDateText)}: give a date that is not before the ex_date, or none.`);
  }
  const reason = request.reason.trim();
  if (reason !== "" && !reasonText.safeParse(reason).success) {
    throw invalid("The reason is longer than 2000 characters or has control characters in it.");
  }
  return { actionId, instrument, perShare, exDate, payDate, reason };
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}
