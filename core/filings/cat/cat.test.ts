// What becomes of each event of an order's life in CAT, and of the lives of random orders.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { type Instant, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import {
  type CatSettings,
  type FiledDetails,
  type FiledEventType,
  type FiledOrder,
  filedEventType,
} from "../../../contracts/src/records/filing.ts";
import { easternDate } from "../eastern-time.ts";
import type { KnownOrder, RegimeRecord } from "../regulatory-event.ts";
import { catRecordOf } from "./cat.ts";
import { layoutOf } from "./layouts.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const at = parse("2026-11-13T14:30:00.000001Z");

const settings: CatSettings = {
  imid: "ABCD",
  crd: "123",
  fdid: "FUND1",
  accountHolderType: "A",
  deptType: "A",
  destinations: {
    NASDAQ: { type: "E", id: "NSDQ", session: "S1", exch_origin_code: "C" },
    dealer: { type: "F", id: "456:EFGH" },
    abroad: { type: "N" },
  },
};

const equity: FiledOrder = {
  order_id: "o-1",
  fund_id: "alpha",
  symbol: "AAPL",
  side: "BUY",
  quantity: "500",
  order_type: "LIMIT",
  limit_price: "190.25",
  tif: "DAY",
  broker: "dealer",
  venue: "NASDAQ",
  asset_class: "EQUITY",
};
const option: FiledOrder = { ...equity, symbol: "SPY 281215C00650000", asset_class: "OPTION", quantity: "3" };
const known: KnownOrder = { orderId: "o-1", symbol: "AAPL", beganAt: at, isChild: false };

interface Differs {
  readonly order?: Partial<FiledOrder>;
  readonly details?: FiledDetails;
  readonly knownOrder?: KnownOrder | undefined;
  readonly settings?: Partial<CatSettings>;
  readonly at?: Instant;
}

const begins = (type: FiledEventType): boolean => ["new_order", "order_received", "child_order"].includes(type);

function made(type: FiledEventType, differs: Differs = {}, base = equity): RegimeRecord {
  const order = { ...base, ...differs.order };
  const own = begins(type) ? undefined : { ...known, symbol: order.symbol };
  const event = { type, at: differs.at ?? at, order, details: differs.details ?? {}, key: `key of ${type}` };
  const orders = {
    order: "knownOrder" in differs ? differs.knownOrder : own,
    parent: differs.details?.parent_order_id === undefined ? undefined : { ...known, orderId: "p-1" },
  };
  return catRecordOf(event, { ...settings, ...differs.settings }, orders, sha256);
}

function written(record: RegimeRecord): Record<string, unknown> {
  if (record.status !== "WRITTEN") throw new Error(JSON.stringify(record));
  return JSON.parse(record.line) as Record<string, unknown>;
}

function codes(record: RegimeRecord): readonly string[] {
  return record.status === "QUARANTINED"
    ? record.mistakes.map(({ code, field = "" }) => `${code} ${field}`)
    : [record.status];
}

const detailsOf: Partial<Record<FiledEventType, FiledDetails>> = {
  child_order: { parent_order_id: "p-1" },
  order_received: { sender_imid: "789:IJKL" },
};

const types = {
  new_order: ["MENO", "MONO"],
  order_received: ["MEOA", "MOOA"],
  child_order: ["MECO", "MOCO"],
  order_routed: ["MEOR", "MOOR"],
  route_rejected: ["MEORS", "MOORS"],
  order_modified: ["MEOM", "MOOM"],
  route_modified: ["MEMR", "MOMR"],
  order_cancelled: ["MEOC", "MOOC"],
  route_cancelled: ["MECR", "MOCR"],
} as const;
const reported = filedEventType.options.filter((type) => type in types) as (keyof typeof types)[];

describe("an event", () => {
  it("of a new order has every field in the table's order, and numbers as they were written", () => {
    const record = made("new_order", { order: { quantity: "0.1", limit_price: "190.250000" } });
    expect(record).toEqual({
      status: "WRITTEN",
      type: "MENO",
      line: `{"actionType":"NEW","firmROEID":"20261113_${sha256(JSON.stringify(["alpha", "o-1", "key of new_order", "MENO"])).slice(0, 32)}","type":"MENO","CATReporterIMID":"ABCD","orderKeyDate":"20261113T093000.000001","orderID":"o-1","symbol":"AAPL","eventTimestamp":"20261113T093000.000001","manualFlag":false,"electronicDupFlag":false,"deptType":"A","solicitationFlag":false,"side":"B","price":190.25,"quantity":0.1,"orderType":"LMT","timeInForce":{"DAY":20261113},"tradingSession":"REG","custDspIntrFlag":false,"firmDesignatedID":"FUND1","accountHolderType":"A","affiliateFlag":false,"negotiatedTradeFlag":false,"representativeInd":"N"}`,
    });
  });

  it.each(reported.flatMap((type) => [equity, option].map((base) => [type, base.asset_class, base] as const)))(
    "%s of %s is written with all that its table requires",
    (type, assetClass, base) => {
      const record = written(made(type, { details: detailsOf[type] ?? {} }, base));
      expect(record["type"]).toBe(types[type][assetClass === "OPTION" ? 1 : 0]);
      const layout = layoutOf(String(record["type"]), "2026-11-13") ?? [];
      const names = layout.map(({ name }) => name);
      for (const { name, isRequired } of layout) if (isRequired) expect(record).toHaveProperty(name);
      expect(Object.keys(record)).toEqual(names.filter((name) => name in record));
    },
  );

  it("of a child has its own forms of a change and a cancellation, and names its parent", () => {
    const knownOrder = { ...known, isChild: true };
    const child = written(made("child_order", { details: { parent_order_id: "p-1" } }));
    expect(child).toMatchObject({ parentOrderID: "p-1", parentOrderKeyDate: "20261113T093000.000001" });
    expect(written(made("order_modified", { knownOrder }))["type"]).toBe("MECOM");
    expect(written(made("order_cancelled", { knownOrder }))).toMatchObject({ type: "MECOC", side: "B", leavesQty: 0 });
  });

  it("that is a fill, or of crypto, is not reported and leaves nothing", () => {
    for (const type of ["fill", "fill_busted"] as const) expect(made(type).status).toBe("NOT_REPORTABLE");
    const crypto = { symbol: "BTC-USD", asset_class: "CRYPTO" } as const;
    for (const type of reported) expect(made(type, { order: crypto }).status).toBe("NOT_REPORTABLE");
  });

  it("keeps its order's first moment, and is named by its own date", () => {
    const later = parse("2026-11-16T14:30:00.000000Z");
    const record = written(
      made("order_cancelled", { at: later, details: { cancel_quantity: "2", leaves_quantity: "1" } }),
    );
    expect(record).toMatchObject({
      orderKeyDate: "20261113T093000.000001",
      eventTimestamp: "20261116T093000.000000",
      cancelQty: 2,
      leavesQty: 1,
      initiator: "F",
    });
    expect(record["firmROEID"]).toMatch(/^20261116_[0-9a-f]{32}$/);
  });
});

describe("terms", () => {
  const validity = (order: Partial<FiledOrder>, when = at): unknown =>
    written(made("new_order", { order, at: when }))["timeInForce"];

  it("say how long the order works", () => {
    expect(validity({ tif: "GTC" })).toEqual({ GTC: true });
    expect(validity({ tif: "IOC" })).toEqual({ IOC: true });
    expect(validity({ tif: "GTD", expires_at: "2026-11-20T21:00:00Z" })).toEqual({ GTT: "20261120T160000.000000" });
    expect(validity({ tif: "DAY" }, parse("2026-11-13T21:30:00.000000Z"))).toEqual({ DAY: 20261116 });
    expect(validity({ tif: "DAY" }, parse("2026-11-27T18:30:00.000000Z"))).toEqual({ DAY: 20261130 });
    expect(codes(made("new_order", { order: { tif: "GTD" } }))).toEqual(["FILING_FIELD_MISSING timeInForce"]);
  });

  it("carry stops and fill-or-kill as instructions, and no price of a market order", () => {
    const stop = { order_type: "STOP_LIMIT", stop_price: "191", tif: "FOK" } as const;
    const record = written(made("new_order", { order: stop }));
    expect(record).toMatchObject({ timeInForce: { IOC: true }, handlingInstructions: { FOK: true, STOP: 191 } });
    const market = written(made("new_order", { order: { order_type: "MARKET" } }));
    expect([market["orderType"], "price" in market]).toEqual(["MKT", false]);
  });

  it("name sides as equities and options have them", () => {
    const side = (of: FiledOrder["side"], base: FiledOrder): unknown =>
      written(made("new_order", { order: { side: of } }, base))["side"];
    expect(["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"].map((of) => side(of as "BUY", equity))).toEqual([
      "B",
      "SL",
      "SS",
      "B",
    ]);
    expect(["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"].map((of) => side(of as "BUY", option))).toEqual([
      "B",
      "S",
      "S",
      "B",
    ]);
    const record = written(made("new_order", { order: { side: "SELL" } }, option));
    expect([record["optionID"], record["openCloseIndicator"]]).toEqual(["SPY   281215C00650000", "Close"]);
  });
});

describe("what CAT would refuse", () => {
  it.each<[string, FiledEventType, Differs, string]>([
    ["an order that it never heard of", "order_routed", { knownOrder: undefined }, "FILING_ORDER_UNKNOWN orderID"],
    ["one that was new before", "new_order", { knownOrder: known }, "FILING_ORDER_KNOWN orderID"],
    ["a child of nobody", "child_order", {}, "FILING_ORDER_UNKNOWN parentOrderID"],
    [
      "another symbol than before",
      "order_cancelled",
      { knownOrder: { ...known, symbol: "MSFT" } },
      "FILING_FIELD_INVALID symbol",
    ],
    [
      "no destination",
      "order_routed",
      { order: { venue: "x", broker: "y" } },
      "FILING_DESTINATION_UNKNOWN destination",
    ],
    ["no identity", "order_routed", { settings: { crd: undefined } }, "FILING_IDENTITY_INCOMPLETE senderIMID"],
    ["no sender", "order_received", {}, "FILING_FIELD_MISSING senderIMID"],
    ["a long account", "new_order", { settings: { fdid: "x".repeat(41) } }, "FILING_FIELD_INVALID firmDesignatedID"],
    ["an IMID of eight", "new_order", { settings: { imid: "ABCDEFGH" } }, "FILING_FIELD_INVALID CATReporterIMID"],
    ["a limit without a price", "new_order", { order: { limit_price: undefined } }, "FILING_FIELD_MISSING price"],
    ["a price below zero", "new_order", { order: { limit_price: "-1" } }, "FILING_FIELD_INVALID price"],
    ["a price too fine", "new_order", { order: { limit_price: "1.123456789" } }, "FILING_FIELD_INVALID price"],
    ["a quantity too fine", "new_order", { order: { quantity: "0.0000001" } }, "FILING_FIELD_INVALID quantity"],
    ["a quantity too large", "new_order", { order: { quantity: "1000000000000" } }, "FILING_FIELD_INVALID quantity"],
    ["more left than there is", "order_modified", { details: { leaves_quantity: "501" } }, "2040 leavesQty"],
    ["a symbol with a bar", "new_order", { settings: { fdid: "a|b" } }, "2136 firmDesignatedID"],
    [
      "a route to its sender",
      "order_routed",
      { settings: { destinations: { NASDAQ: { type: "F", id: "123:ABCD" } } } },
      "2189 destination",
    ],
    [
      "no session",
      "order_routed",
      { settings: { destinations: { NASDAQ: { type: "E", id: "NSDQ" } } } },
      "2093 session",
    ],
    [
      "an exchange of later",
      "order_routed",
      { settings: { destinations: { NASDAQ: { type: "E", id: "TXSE", session: "S" } } } },
      "FILING_FIELD_INVALID destination",
    ],
    [
      "the same route twice",
      "route_modified",
      { details: { routed_order_id: "r", prior_routed_order_id: "r" } },
      "2209 priorRoutedOrderID",
    ],
  ])("%s is put aside", (_name, type, differs, expected) => {
    expect(codes(made(type, differs))).toEqual([expected]);
  });

  it("an option that is none is put aside, and a venue counts before a broker", () => {
    expect(codes(made("new_order", { order: { symbol: "SPY" } }, option))).toEqual(["FILING_FIELD_MISSING optionID"]);
    expect(written(made("order_routed"))).toMatchObject({ destination: "NSDQ", destinationType: "E", session: "S1" });
    expect(written(made("order_routed", { order: { venue: undefined } }))).toMatchObject({ destination: "456:EFGH" });
    const abroad = written(made("order_routed", { order: { venue: "abroad" } }));
    expect([abroad["destinationType"], "destination" in abroad]).toEqual(["N", false]);
  });

  it("ids that it cannot hold become hashes, the same in every record", () => {
    for (const id of ["a@b", "x".repeat(65)]) {
      const records = [
        made("new_order", { order: { order_id: id } }),
        made("order_routed", { order: { order_id: id } }),
      ];
      expect(records.map((record) => written(record)["orderID"])).toEqual([sha256(id), sha256(id)]);
    }
  });
});

describe("versions", () => {
  it("4.2.0 applies from 2026-12-07 on: its exchanges are taken from then", () => {
    const texas = { settings: { destinations: { NASDAQ: { type: "E", id: "TXSE", session: "S" } } } } as const;
    const sunday = { ...texas, at: parse("2026-12-07T04:59:59.999999Z") };
    const monday = { ...texas, at: parse("2026-12-07T05:00:00.000000Z") };
    expect(codes(made("order_routed", sunday))).toEqual(["FILING_FIELD_INVALID destination"]);
    expect(codes(made("order_routed", monday))).toEqual(["WRITTEN"]);
    expect(layoutOf("MENO", "2026-12-06")?.some(({ name }) => name === "RFQID")).toBe(true);
    expect(layoutOf("MENO", "2026-12-07")?.some(({ name }) => name === "RFQID")).toBe(false);
  });
});

/** An order's life: it begins, is routed, changed so many times, and ends by a cancellation. */
interface Life {
  readonly order: FiledOrder;
  readonly start: number;
  readonly stepsMs: readonly number[];
  readonly quantities: readonly number[];
}

const life: fc.Arbitrary<Life> = fc.record({
  order: fc.record({
    order_id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,90}$/),
    fund_id: fc.constant("alpha"),
    symbol: fc.constantFrom("AAPL", "BRK.B", "F"),
    side: fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"),
    quantity: fc.constant("1"),
    order_type: fc.constantFrom("MARKET", "LIMIT", "STOP", "STOP_LIMIT"),
    limit_price: fc
      .integer({ min: 1, max: 99_999_999 })
      .map((cents) => decimal.format((BigInt(cents) * 10n ** 16n) as decimal.Decimal)),
    stop_price: fc.integer({ min: 1, max: 99_999 }).map(String),
    tif: fc.constantFrom("DAY", "GTC", "IOC", "FOK"),
    broker: fc.constantFrom("dealer", "abroad"),
    asset_class: fc.constant("EQUITY"),
  }),
  start: fc.integer({ min: 0, max: 400 * 24 * 3_600_000 }),
  stepsMs: fc.array(fc.integer({ min: 0, max: 86_400_000 }), { minLength: 5, maxLength: 5 }),
  quantities: fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 6 }),
}) as fc.Arbitrary<Life>;

function livedThrough({ order, start, stepsMs, quantities }: Life): readonly RegimeRecord[] {
  const begun = plusMilliseconds(parse("2026-01-02T14:30:00.000000Z"), start);
  const own = { orderId: order.order_id, symbol: order.symbol, beganAt: begun, isChild: false };
  const steps: readonly (readonly [FiledEventType, number])[] = [
    ["new_order", quantities[0] ?? 1],
    ["order_routed", quantities[0] ?? 1],
    ...quantities
      .slice(1)
      .flatMap((quantity) => [["order_modified", quantity] as const, ["route_modified", quantity] as const]),
    ["route_cancelled", quantities.at(-1) ?? 1],
    ["order_cancelled", quantities.at(-1) ?? 1],
  ];
  let when = begun;
  return steps.map(([type, quantity], index) => {
    const event = { type, at: when, order: { ...order, quantity: String(quantity) }, details: {}, key: String(index) };
    when = plusMilliseconds(when, stepsMs[index % stepsMs.length] ?? 0);
    return catRecordOf(event, settings, { order: type === "new_order" ? undefined : own }, sha256);
  });
}

describe("the life of any order", () => {
  it("passes the tables, is linked by one key, adds up, and makes the same bytes again", () => {
    fc.assert(
      fc.property(life, (of) => {
        const records = livedThrough(of);
        const rows = records.map(written);
        expect(livedThrough(of)).toEqual(records);
        const keys = new Set(rows.map((row) => JSON.stringify([row["orderKeyDate"], row["orderID"], row["symbol"]])));
        expect(keys.size).toBe(1);
        expect(new Set(rows.map((row) => row["firmROEID"])).size).toBe(rows.length);
        const [first] = rows;
        const last = rows.at(-1);
        expect(first?.["orderKeyDate"]).toEqual(first?.["eventTimestamp"]);
        const quantity = rows.findLast((row) => row["quantity"] !== undefined)?.["quantity"];
        expect(Number(last?.["cancelQty"]) + Number(last?.["leavesQty"])).toBe(quantity);
        for (const record of records) {
          if (record.status !== "WRITTEN") continue;
          expect(record.line).toMatch(/^[\x20-\x7e]+$/);
          expect(record.line.replace(/"[^"]*"/g, "")).not.toMatch(/[eE][+-]?\d/);
        }
      }),
      { numRuns: 60, seed: 48 },
    );
  });

  it("is dated by New York's wall calendar", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 800 * 24 * 3_600 }), (seconds) => {
        const moment = plusMilliseconds(parse("2026-01-02T00:00:00.000000Z"), seconds * 1_000);
        const record = written(made("new_order", { at: moment }));
        expect(String(record["firmROEID"]).slice(0, 8)).toBe(easternDate(moment).replaceAll("-", ""));
      }),
      { numRuns: 100, seed: 48 },
    );
  });
});
