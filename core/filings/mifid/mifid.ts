// MiFID II: what a trade of the fund becomes in a transaction report (RTS 22).
//
//  1. A trade is a new report, and a trade that is taken back cancels it under the same id. Orders are no transactions.
//  2. The fund buys or sells; on the other side stands the counterparty that the configuration names, else the venue.
//  3. Who decided and executed is the strategy, as an algorithm, or the operator who gave the order; a person is named here and nothing more.
//  4. The same event makes the same bytes.
import * as decimal from "../../../contracts/src/decimal.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { MifidSettings, MifidVenue } from "../../../contracts/src/records/filing.ts";
import type { FilingMistake } from "../mistake.ts";
import type { RecordContext } from "../regime.ts";
import type { HexSha256, RegimeRecord, RegulatoryEvent } from "../regulatory-event.ts";
import { type Content, personMark, transactionMistakes } from "./forms.ts";
import { base32, isIsin, isLei } from "./identifiers.ts";

const idLength = 52;
const algorithmLengthMax = 50;
const sells: readonly string[] = ["SELL", "SELL_SHORT"];

/** Names the transaction: the same for a fill and what takes it back. */
export function transactionId({ order, details }: RegulatoryEvent, sha256: HexSha256): string {
  return base32(sha256(JSON.stringify([order.fund_id, details.fill_id]))).slice(0, idLength);
}

export function mifidRecordOf(event: RegulatoryEvent, settings: MifidSettings, context: RecordContext): RegimeRecord {
  const { type: eventType, order } = event;
  if (eventType !== "fill" && eventType !== "fill_busted") {
    return { status: "NOT_REPORTABLE", reason: "MiFID II wants transactions; an order that has not traded is none." };
  }
  if (order.asset_class === "CRYPTO") return { status: "NOT_REPORTABLE", reason: "MiFID II takes no crypto." };
  const type = eventType === "fill" ? "New" : "Cxl";
  const mistakes = whyAside(event, settings, context);
  if (mistakes.length > 0) return { status: "QUARANTINED", type, mistakes };
  const content = type === "New" ? newReport(event, settings, context) : cancellation(event, settings, context);
  const found = transactionMistakes(content);
  if (found.length > 0) return { status: "QUARANTINED", type, mistakes: found };
  const claimed =
    type === "New" && event.maker?.isClaimed === true ? { claimed: ["InvstmtDcsnPrsn", "ExctgPrsn"] } : {};
  return { status: "WRITTEN", type, line: JSON.stringify({ ...(content as object), ...claimed }) };
}

/** What the fund's configuration lacks or holds wrongly, by its keys. */
export function identityMistakes(settings: MifidSettings | undefined): readonly FilingMistake[] {
  const leis = [
    ["mifid_lei", settings?.lei],
    ["mifid_submitter_lei", settings?.submitterLei],
    ["mifid_fund_lei", settings?.fundLei],
  ] as const;
  return leis
    .filter(([, lei]) => lei === undefined || !isLei(lei))
    .map(([field, lei]) => {
      const why = lei === undefined ? "is missing" : "is no LEI: its check digits do not fit";
      return { code: "FILING_IDENTITY_INCOMPLETE", field, sentence: `compliance.${field} of the fund ${why}.` };
    });
}

function whyAside(event: RegulatoryEvent, settings: MifidSettings, context: RecordContext): readonly FilingMistake[] {
  const { order, details, type } = event;
  const fillId = details.fill_id ?? "";
  const mistakes: FilingMistake[] = [...identityMistakes(settings)];
  if (type === "fill_busted") {
    if (context.known.hasTrade === false) {
      const sentence = `No record has the trade ${fillId}, which is taken back.`;
      mistakes.push({ code: "FILING_TRADE_UNKNOWN", field: "TxId", sentence });
    }
    return mistakes;
  }
  if (context.known.hasTrade === true) {
    mistakes.push({ code: "FILING_TRADE_KNOWN", field: "TxId", sentence: `The trade ${fillId} was recorded before.` });
  }
  if (event.waits === true) {
    const sentence = `The fill ${fillId} waits for an operator to accept it: ctl riskengine blocks list.`;
    mistakes.push({ code: "FILL_NOT_ACCEPTED", sentence });
  }
  if (venueOf(event, settings) === undefined) {
    const named = [order.venue, order.broker].filter((name) => name !== undefined).join(" or ");
    const sentence = `compliance.mifid_venues of the fund does not say where ${named} is.`;
    mistakes.push({ code: "FILING_VENUE_UNKNOWN", field: "TradVn", sentence });
  }
  const isin = context.instrument?.isin;
  if (isin === undefined || !isIsin(isin)) {
    const sentence = `The reference data have no isin of ${order.symbol}.`;
    mistakes.push({ code: "FILING_ISIN_MISSING", field: "FinInstrm/Id", sentence });
  }
  return mistakes;
}

/** The venue counts before the broker. */
function venueOf({ order: { venue, broker } }: RegulatoryEvent, { venues }: MifidSettings): MifidVenue | undefined {
  const named = [venue, broker].find((name) => name !== undefined && Object.hasOwn(venues, name));
  return named === undefined ? undefined : venues[named];
}

function cancellation(event: RegulatoryEvent, settings: MifidSettings, { sha256 }: RecordContext): Content {
  return { Cxl: { TxId: transactionId(event, sha256), ...parties(settings) } };
}

function parties({ lei = "", submitterLei = "" }: MifidSettings) {
  return { ExctgPty: lei, SubmitgPty: submitterLei };
}

function newReport(event: RegulatoryEvent, settings: MifidSettings, context: RecordContext): Content {
  const { order, details, at } = event;
  const venue = venueOf(event, settings);
  const isSale = sells.includes(order.side);
  const fund = fundSide(settings);
  const other: Content = { AcctOwnr: { Id: otherSide(venue) } };
  const { ExctgPty, SubmitgPty } = parties(settings);
  const isOnVenue = venue?.counterparty_lei === undefined;
  return {
    New: {
      TxId: transactionId(event, context.sha256),
      ExctgPty,
      InvstmtPtyInd: "true",
      SubmitgPty,
      Buyr: isSale ? other : fund,
      Sellr: isSale ? fund : other,
      OrdrTrnsmssn: { TrnsmssnInd: "false" },
      Tx: {
        TradDt: format(at),
        TradgCpcty: "AOTC",
        Qty: { Unit: numberText(details.quantity ?? "") },
        Pric: {
          Pric: { MntryVal: priceOf(details.price ?? "", order.currency ?? context.instrument?.currency ?? "") },
        },
        TradVn: venue?.mic ?? "",
        ...(isOnVenue && settings.country !== undefined && { CtryOfBrnch: settings.country }),
      },
      FinInstrm: { Id: context.instrument?.isin ?? "" },
      InvstmtDcsnPrsn: makerOf(event, context),
      ExctgPrsn: makerOf(event, context),
      AddtlAttrbts: {
        ...(isSale &&
          order.asset_class === "EQUITY" && { ShrtSellgInd: order.side === "SELL_SHORT" ? "SESH" : "SELL" }),
        SctiesFincgTxInd: "false",
      },
    },
  };
}

/** The firm decides for a fund that is somebody else's. */
function fundSide({ lei = "", fundLei = "", country }: MifidSettings): Content {
  const isClient = lei !== fundLei;
  return {
    AcctOwnr: { Id: { LEI: fundLei }, ...(isClient && country !== undefined && { CtryOfBrnch: country }) },
    ...(isClient && { DcsnMakr: { LEI: lei } }),
  };
}

function otherSide(venue: MifidVenue | undefined): Content {
  return venue?.counterparty_lei === undefined ? { MIC: venue?.mic ?? "" } : { LEI: venue.counterparty_lei };
}

function makerOf({ maker, order }: RegulatoryEvent, { strategies, sha256 }: RecordContext): Content {
  if (maker?.operator !== undefined) return { Prsn: { [personMark]: maker.operator } };
  return { Algo: algorithmOf(maker?.strategyId ?? order.fund_id, strategies, sha256) };
}

/** Capitals and digits of the strategy's id; a hash where they are too many or name two strategies. */
function algorithmOf(strategyId: string, strategies: readonly string[], sha256: HexSha256): string {
  const short = (id: string): string => id.toUpperCase().replace(/[^A-Z0-9]/g, "");
  const own = short(strategyId);
  const isShared = strategies.some((other) => other !== strategyId && short(other) === own);
  const isUsable = own.length > 0 && own.length <= algorithmLengthMax && !isShared;
  return isUsable ? own : base32(sha256(strategyId)).slice(0, algorithmLengthMax);
}

function priceOf(price: string, currency: string): Content {
  const parsed = decimal.tryParse(price);
  if (parsed === undefined) return { Amt: { "@Ccy": currency, "#": price } };
  const isBelow = parsed < 0n;
  const amount = { "@Ccy": currency, "#": decimal.format(isBelow ? decimal.negate(parsed) : parsed) };
  return { Amt: amount, ...(isBelow && { Sgn: "false" }) };
}

function numberText(number: string): string {
  const parsed = decimal.tryParse(number);
  return parsed === undefined ? number : decimal.format(parsed);
}
