// A CAT record's line that is read back says the same again, and what a correction makes of it is held against its table.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parse } from "../../../contracts/src/instant.ts";
import type { FiledEventType, FiledOrder } from "../../../contracts/src/records/filing.ts";
import { correctCatRecord } from "../correction.ts";
import { easternDate } from "../eastern-time.ts";
import { catRecordOf } from "./cat.ts";
import { readCatRecord } from "./read-record.ts";
import { catRecord } from "./record.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const settings = {
  imid: "ABCD",
  crd: "123",
  fdid: "FUND1",
  accountHolderType: "A",
  deptType: "A",
  destinations: { XNAS: { type: "E", id: "NSDQ", session: "S1", exch_origin_code: "C" } },
} as const;
const order: FiledOrder = {
  order_id: "o-1",
  fund_id: "alpha",
  symbol: "AAPL",
  side: "BUY",
  quantity: "500.25",
  order_type: "STOP_LIMIT",
  limit_price: "190.123456",
  stop_price: "189.5",
  tif: "GTD",
  expires_at: "2026-11-20T21:00:00.000000Z",
  broker: "dealer",
  venue: "XNAS",
  asset_class: "EQUITY",
};
const types: readonly FiledEventType[] = [
  "new_order",
  "order_received",
  "child_order",
  "order_routed",
  "route_rejected",
  "order_modified",
  "route_modified",
  "order_cancelled",
  "route_cancelled",
];
const begins: readonly FiledEventType[] = ["new_order", "order_received", "child_order"];

function lineOf(type: FiledEventType, differs: Partial<FiledOrder> = {}, time = "2026-11-13T14:30:00.000001Z"): string {
  const at = parse(time);
  const known = { orderId: "o-1", symbol: differs.symbol ?? order.symbol, beganAt: at, isChild: false };
  const details = { parent_order_id: "o-0", sender_imid: "9:XYZ", event_id: "e" };
  const event = { type, at, order: { ...order, ...differs }, details, key: `k ${type}` };
  const knownOrders = { order: begins.includes(type) ? undefined : known, parent: { ...known, orderId: "o-0" } };
  const made = catRecordOf(event, settings, knownOrders, sha256);
  if (made.status !== "WRITTEN") throw new Error(JSON.stringify(made));
  return made.line;
}

describe("a record's line", () => {
  const cases = types.flatMap((type) =>
    [
      ["2026-11-13", {}, "2026-11-13T14:30:00.000001Z"],
      ["an option", { symbol: "SPY 281215C00650000", asset_class: "OPTION", quantity: "3" }, "2026-12-07T14:30:00Z"],
      ["the hour that occurs twice", { tif: "FOK", order_type: "LIMIT" }, "2026-11-01T06:30:00.123456Z"],
      ["at the market", { order_type: "MARKET", tif: "DAY" }, "2026-03-08T07:00:00Z"],
    ].map(([name, differs, time]) => [type, name, differs, time] as const),
  );
  it.each(cases)("of %s (%s) is read and written as it was", (type, _name, differs, time) => {
    const line = lineOf(type, differs as Partial<FiledOrder>, time as string);
    const date = easternDate(parse(time as string));
    expect(catRecord(readCatRecord(line, date), date)).toEqual({ line });
  });
});

describe("a correction", () => {
  const line = lineOf("new_order");
  const of = (differs: object) => correctCatRecord({ line, date: "2026-11-13", action: "COR", set: {}, ...differs });
  const text = (made: ReturnType<typeof of>): string => ("line" in made ? made.line : JSON.stringify(made.mistakes));

  it("says the whole record again, with what is set", () => {
    expect(text(of({ set: { price: "190.5" } }))).toBe(line.replace('"NEW"', '"COR"').replace("190.123456", "190.5"));
    expect(text(of({ action: "RPR", errorRoeId: "12345678901234567890" }))).toBe(
      line.replace('"actionType":"NEW"', '"actionType":"RPR","errorROEID":12345678901234567890'),
    );
    expect(text(of({ set: { timeInForce: '{"DAY":20261113}', handlingInstructions: "" } }))).toContain(
      '"timeInForce":{"DAY":20261113}',
    );
    expect(text(of({ set: { eventTimestamp: "2026-11-13T14:30:01.5Z" } }))).toContain('"20261113T093001.500000"');
  });

  it("withdraws with the name alone", () => {
    const [, name] = /"firmROEID":"([^"]+)"/.exec(line) ?? [];
    expect(text(of({ action: "DEL" }))).toBe(`{"actionType":"DEL","firmROEID":"${name}"}`);
  });

  it.each([
    [{ orderID: "o-2" }, "never changed"],
    [{ firmROEID: "x" }, "never changed"],
    [{ type: "MEOC" }, "never changed"],
    [{ nonsense: "1" }, "no field"],
    [{ price: "1e3" }, "price"],
    [{ price: "" }, "price"],
    [{ side: "Q" }, "side"],
    [{ manualFlag: "yes" }, "no field of it"],
    [{ quantity: '1,"x":2' }, "quantity"],
    [{ eventTimestamp: "yesterday" }, "no field of it"],
  ])("that sets %j is refused", (set, said) => {
    const made = of({ set });
    expect(made).toHaveProperty("mistakes");
    expect(text(made)).toContain(said);
  });
});
