// A day on which everything happens that is reported: of an equity and of an option, and trades of a strategy and of an operator. The records are made by the
// platform's own functions.
import { createHash } from "node:crypto";
import { type Instant, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import {
  type FiledDetails,
  type FiledEventType,
  type FiledOrder,
  type FundFilings,
  filedEventType,
  type RegimeName,
} from "../../contracts/src/records/filing.ts";
import { regimeOf } from "../../core/filings/index.ts";
import type { FiledPerson, FileToSeal } from "../../core/filings/regime.ts";
import {
  beginnings,
  type KnownOrder,
  type KnownOrders,
  type OrderMaker,
  type RegulatoryEvent,
} from "../../core/filings/regulatory-event.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const lei = "5493001KJTIIGC8Y1R12";
const fundLei = "529900T8BM49AURSDO55";

const fund: FundFilings = {
  cat: {
    submitterId: "123",
    imid: "ABCD",
    crd: "456",
    fdid: "FUND1",
    accountHolderType: "A",
    deptType: "A",
    destinations: {
      XNAS: { type: "E", id: "NSDQ", session: "S1", exch_origin_code: "C" },
      dealer: { type: "F", id: "789:EFGH" },
      abroad: { type: "N" },
    },
  },
  mifid: {
    lei,
    submitterLei: lei,
    fundLei,
    country: "FR",
    venues: {
      XNAS: { mic: "XNAS" },
      dealer: { mic: "XOFF", counterparty_lei: "7LTWFZYICNSX8D621K86" },
      abroad: { mic: "XOFF", counterparty_lei: "7LTWFZYICNSX8D621K86" },
    },
  },
  oats: { mpid: "ABCD" },
};

/** Nobody: made up for the check. */
export const persons: ReadonlyMap<string, FiledPerson> = new Map([
  ["duty", { country: "FR", nationalId: "FR19700101JEAN#DUPON", scheme: "CONCAT" }],
]);

const share: FiledOrder = {
  order_id: "check-1",
  fund_id: "check",
  symbol: "AAPL",
  side: "BUY",
  quantity: "500",
  order_type: "LIMIT",
  limit_price: "190.25",
  tif: "DAY",
  broker: "dealer",
  venue: "XNAS",
  asset_class: "EQUITY",
};
const terms: readonly Partial<FiledOrder>[] = [
  {},
  { side: "SELL_SHORT", order_type: "STOP_LIMIT", stop_price: "191", tif: "GTC" },
  { side: "SELL", order_type: "MARKET", tif: "IOC", quantity: "0.125" },
  { side: "BUY_TO_COVER", order_type: "STOP", stop_price: "189.5", tif: "FOK" },
];
const instruments = {
  EQUITY: { isin: "US0378331005", currency: "USD" },
  OPTION: { isin: "US78462F1030", currency: "USD" },
  CRYPTO: { currency: "USD" },
} as const;
const details: Partial<Readonly<Record<FiledEventType, FiledDetails>>> = {
  child_order: { parent_order_id: "parent" },
  order_received: { sender_imid: "789:IJKL" },
  route_modified: { routed_order_id: "r-2", prior_routed_order_id: "r-1" },
  fill: { fill_id: "f-1", quantity: "100", price: "190.25" },
  fill_busted: { fill_id: "f-1" },
};

export interface MadeRecord {
  readonly line: string;
  /** What it is of, for a message. */
  readonly of: string;
}

/** The lines of a regime, and what was put aside of it. */
export function dayOf(
  regime: RegimeName,
  date: string,
): { readonly written: readonly MadeRecord[]; readonly aside: readonly string[] } {
  const written: MadeRecord[] = [];
  const aside: string[] = [];
  const start = parse(`${date}T15:00:00.000001Z`);
  let count = 0;
  for (const order of everyOrder()) {
    for (const type of filedEventType.options) {
      count += 1;
      const event = eventOf(type, order, plusMilliseconds(start, count * 1_000));
      const context = { fund, known: knownOf(event, start), sha256, instrument: instruments[order.asset_class] };
      const record = regimeOf(regime).record(event, { ...context, strategies: ["check-strategy"] });
      const of = `${type} of ${order.order_id}`;
      if (record.status === "WRITTEN") written.push({ line: record.line, of });
      if (record.status === "QUARANTINED") {
        aside.push(`${of}: ${record.mistakes.map(({ code, field = "" }) => `${code} ${field}`).join(", ")}`);
      }
    }
  }
  return { written, aside };
}

/** A whole file of the lines, without compression, and what it is called. */
export function fileOf(
  regime: RegimeName,
  date: string,
  records: readonly MadeRecord[],
): { readonly name: string; readonly text: string } {
  const { file } = regimeOf(regime);
  const sealedAt = parse(`${date}T23:00:00.000000Z`);
  const of: FileToSeal = { fund, group: "check", date, number: 1, sealedAt, records: records.length, receiver: "FR" };
  const named = file.name(of);
  if ("mistakes" in named) throw new Error(named.mistakes.map(({ sentence }) => sentence).join(" "));
  const parts = records.map(({ line }) => file.part(line, persons));
  return { name: named.name, text: [file.head(of), ...parts, file.tail(of)].join("") };
}

function everyOrder(): readonly FiledOrder[] {
  const shares = terms.map((differs) => ({ ...share, ...differs }));
  const options = shares.map((order) => ({
    ...order,
    symbol: "SPY 281215C00650000",
    asset_class: "OPTION" as const,
    quantity: "3",
  }));
  const abroad = { ...share, broker: "abroad", venue: undefined };
  return [...shares, ...options, abroad].map((order, index) => ({ ...order, order_id: `check-${index + 1}` }));
}

function eventOf(type: FiledEventType, order: FiledOrder, at: Instant): RegulatoryEvent {
  const maker: OrderMaker = { strategyId: "check-strategy", isClaimed: false };
  const isOperators = order.side === "SELL";
  const own = details[type] ?? {};
  const fillId = own.fill_id === undefined ? {} : { fill_id: `${order.order_id}-${own.fill_id}` };
  return {
    type,
    at,
    order,
    details: { ...own, ...fillId },
    key: `${type} ${order.order_id}`,
    maker: isOperators ? { ...maker, operator: "duty" } : maker,
  };
}

function knownOf({ type, order, details: own }: RegulatoryEvent, beganAt: Instant): KnownOrders {
  const known: KnownOrder = { orderId: order.order_id, symbol: order.symbol, beganAt, isChild: false };
  return {
    order: beginnings.includes(type) ? undefined : known,
    parent: own.parent_order_id === undefined ? undefined : { ...known, orderId: own.parent_order_id },
    hasTrade: type === "fill_busted" ? true : undefined,
  };
}
