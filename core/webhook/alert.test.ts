// What an alert may say and what it means: each rule with the alert that breaks it, and the sentence that names the field.
import { describe, expect, it } from "vitest";
import { tradingCalendar } from "../../contracts/src/calendar.ts";
import { parse as dec } from "../../contracts/src/decimal.ts";
import { parse } from "../../contracts/src/instant.ts";
import { readAlertFields } from "./alert-fields.ts";
import { ageDenial, alertOrder, alertTime } from "./alert-order.ts";
import { judgeAlert, readAlert } from "./judge-alert.ts";
import { positionMismatch } from "./position-before.ts";
import { silentMs } from "./silence.ts";

const alert = (differs: object = {}): Readonly<Record<string, unknown>> => ({
  strategy_id: "s",
  fund_id: "alpha",
  symbol: "NASDAQ:AAPL",
  side: "buy",
  quantity: "10",
  order_type: "market",
  idempotency_key: "k",
  ...differs,
});
const rules = { fundId: "alpha", mode: "PAPER", symbols: {}, liveFunds: [] } as const;

function fieldsOf(differs: object) {
  const read = readAlertFields(alert(differs));
  if (!("fields" in read)) throw new Error(read.detail);
  return read.fields;
}

describe("the fields of an alert", () => {
  it("take words in any case, and an empty optional field as absent", () => {
    expect(fieldsOf({ order_type: "Limit", limit_price: "1.5", tif: "gtc", thesis: "", timestamp: "" })).toMatchObject({
      side: "BUY",
      order_type: "LIMIT",
      limit_price: "1.5",
      tif: "GTC",
      thesis: undefined,
      timestamp: undefined,
    });
    expect(fieldsOf({}).tif).toBe("DAY");
    expect(fieldsOf({ reduce_only: "true" }).reduce_only).toBe(true);
    expect(fieldsOf({ reduce_only: false }).reduce_only).toBe(false);
  });

  it.each([
    [
      { quantity: 10 },
      "WEBHOOK_FIELD_INVALID",
      'quantity: is a number, which loses digits on its way: write it in quotation marks, "quantity": "10".',
    ],
    [{ quantity: "" }, "WEBHOOK_FIELD_INVALID", "quantity: is missing, and every alert needs it."],
    [{ quantity: "0" }, "WEBHOOK_FIELD_INVALID", "quantity:"],
    [{ quantity: "1e3" }, "WEBHOOK_FIELD_INVALID", "quantity:"],
    [{ quantity: "NaN" }, "WEBHOOK_NOT_A_NUMBER", "quantity:"],
    [{ prev_market_position_size: "na" }, "WEBHOOK_NOT_A_NUMBER", "prev_market_position_size:"],
    [{ symbol: "{{ticker}}" }, "WEBHOOK_PLACEHOLDER_UNRESOLVED", "symbol:"],
    [{ idempotency_key: "s-{{timenow}}" }, "WEBHOOK_PLACEHOLDER_UNRESOLVED", "idempotency_key:"],
    [{ quantiy: "1" }, "WEBHOOK_FIELD_INVALID", '"quantiy": is no field of an alert'],
    [{ side: "ſell" }, "WEBHOOK_FIELD_INVALID", "side:"],
    [{ side: "hold" }, "WEBHOOK_FIELD_INVALID", "BUY, SELL, SELL_SHORT, BUY_TO_COVER"],
    [{ order_type: "limit" }, "WEBHOOK_FIELD_INVALID", "limit_price: is missing, and a LIMIT order needs it."],
    [{ limit_price: "5" }, "WEBHOOK_FIELD_INVALID", "limit_price: a MARKET order has none"],
    [{ order_type: "stop" }, "WEBHOOK_FIELD_INVALID", "stop_price: is missing"],
    [{ tif: "gtd" }, "WEBHOOK_FIELD_INVALID", "tif: GTD needs an end"],
    [{ timestamp: "yesterday" }, "WEBHOOK_FIELD_INVALID", "timestamp:"],
    [{ market_position: "up" }, "WEBHOOK_FIELD_INVALID", "LONG, SHORT, FLAT"],
    [{ strategy_id: null }, "WEBHOOK_FIELD_INVALID", "strategy_id: is null"],
    [{ idempotency_key: "x".repeat(201) }, "WEBHOOK_FIELD_INVALID", "idempotency_key:"],
    [{ thesis: ["x"] }, "WEBHOOK_FIELD_INVALID", "thesis: is a list"],
    [{ reduce_only: "maybe" }, "WEBHOOK_FIELD_INVALID", "reduce_only:"],
  ])("%j is %s", (differs, code, detail) => {
    const read = readAlertFields(alert(differs));
    expect(read).toMatchObject({ code, detail: expect.stringContaining(detail) });
  });
});

describe("what an alert means", () => {
  const of = (differs: object, assetClass = "EQUITY") => alertOrder(fieldsOf(differs), assetClass);
  const [long, short, flat] = ["long", "short", "flat"];

  it.each([
    [{ side: "sell", prev_market_position: flat }, "EQUITY", { side: "SELL_SHORT", reduce_only: false }],
    [{ side: "sell", prev_market_position: flat }, "CRYPTO", { side: "SELL", reduce_only: false }],
    [{ side: "sell", prev_market_position: long }, "EQUITY", { side: "SELL", reduce_only: false }],
    [{ side: "buy", prev_market_position: short }, "EQUITY", { side: "BUY_TO_COVER", reduce_only: false }],
    [{ side: "buy", prev_market_position: short }, "CRYPTO", { side: "BUY", reduce_only: false }],
    [{ side: "sell", market_position: flat }, "EQUITY", { side: "SELL", reduce_only: true }],
    [
      {
        side: "sell",
        market_position: long,
        market_position_size: "5",
        prev_market_position: long,
        prev_market_position_size: "15",
      },
      "EQUITY",
      { side: "SELL", reduce_only: true },
    ],
    [
      {
        market_position: long,
        market_position_size: "25",
        prev_market_position: long,
        prev_market_position_size: "15",
      },
      "EQUITY",
      { side: "BUY", reduce_only: false },
    ],
    [
      { side: "sell", prev_market_position: long, market_position: short },
      "CRYPTO",
      { side: "SELL", reduce_only: false },
    ],
  ])("%j of %s is %j", (differs, assetClass, order) => {
    expect(of(differs, assetClass)).toEqual(order);
  });

  it("refuses a reversal of equities and options, with the two alerts to write", () => {
    const reversal = { side: "sell", quantity: "15", prev_market_position: long, prev_market_position_size: "5" };
    const said = { ...reversal, market_position: short, market_position_size: "10" };
    for (const assetClass of ["EQUITY", "OPTION"]) {
      expect(of(said, assetClass)).toMatchObject({
        code: "WEBHOOK_REVERSAL",
        detail: expect.stringMatching(/"side": "sell", "quantity": "5".*"side": "sell_short", "quantity": "10"/),
      });
      expect(of(reversal, assetClass)).toMatchObject({ code: "WEBHOOK_REVERSAL" });
    }
    expect(of({ ...reversal, quantity: "5" })).toEqual({ side: "SELL", reduce_only: false });
    expect(of({ side: "sell_short", market_position: flat })).toMatchObject({ code: "WEBHOOK_FIELD_INVALID" });
  });
});

describe("when an alert fired", () => {
  const at = parse("2026-11-18T10:00:00Z");
  it("is its timestamp, else the time that ends its key", () => {
    const key = "s-2026-11-18T10:00:00Z";
    expect(alertTime({ timestamp: undefined, idempotency_key: key })).toBe(at);
    expect(alertTime({ timestamp: parse("2026-11-18T09:00:00Z"), idempotency_key: key })).not.toBe(at);
    for (const none of [`${key}-1`, "k", "s-2026-13-18T10:00:00Z"]) {
      expect(alertTime({ timestamp: undefined, idempotency_key: none })).toBeUndefined();
    }
  });

  it.each([
    ["2026-11-18T10:05:00Z", undefined],
    ["2026-11-18T10:05:00.001Z", "WEBHOOK_ALERT_TOO_OLD"],
    ["2026-11-18T09:59:00Z", undefined],
    ["2026-11-18T09:58:59.999Z", "WEBHOOK_ALERT_AHEAD"],
  ])("at %s it is %s", (now, code) => {
    expect(ageDenial(at, parse(now), 300_000)?.code).toBe(code);
  });
});

describe("the rules about an alert", () => {
  const facts = {
    assetClass: "EQUITY",
    strategies: [{ strategyId: "s", fundId: "alpha" }],
    now: parse("2026-11-18T10:00:00Z"),
    ageMsMax: 300_000,
    requiresTime: false,
  } as const;

  it("read the symbol through the fund's map, and keep a LIVE fund closed until it is named", () => {
    expect(readAlert(alert(), rules)).toMatchObject({ symbol: "AAPL" });
    expect(readAlert(alert({ symbol: "X:Y" }), { ...rules, symbols: { "X:Y": "AAPL" } })).toMatchObject({
      symbol: "AAPL",
    });
    expect(readAlert(alert({ symbol: "X:Y" }), rules)).toMatchObject({ refusal: { code: "WEBHOOK_VENUE_UNKNOWN" } });
    expect(readAlert(alert({ fund_id: "beta" }), rules)).toMatchObject({ refusal: { code: "WEBHOOK_FIELD_INVALID" } });
    const live = { ...rules, mode: "LIVE" } as const;
    expect(readAlert(alert(), live)).toMatchObject({ symbol: "AAPL", refusal: { code: "WEBHOOK_FUND_NOT_ENABLED" } });
    expect(readAlert(alert(), { ...live, liveFunds: ["alpha"] }).refusal).toBeUndefined();
  });

  it("want an instrument, a strategy of the fund, and a time where that is required", () => {
    const fields = fieldsOf({});
    expect(judgeAlert(fields, "AAPL", facts)).toMatchObject({
      warnings: ["NO_ALERT_TIME"],
      terms: { symbol: "AAPL", side: "BUY", asset_class: "EQUITY", quantity: "10", tif: "DAY" },
    });
    expect(judgeAlert(fields, "NONE", { ...facts, assetClass: undefined })).toMatchObject({
      code: "WEBHOOK_SYMBOL_UNKNOWN",
      detail: expect.stringContaining("NONE"),
    });
    const elsewhere = [{ strategyId: "s", fundId: "beta" }];
    expect(judgeAlert(fields, "AAPL", { ...facts, strategies: elsewhere })).toMatchObject({
      code: "WEBHOOK_STRATEGY_UNKNOWN",
    });
    expect(judgeAlert(fields, "AAPL", { ...facts, requiresTime: true })).toMatchObject({
      code: "WEBHOOK_ALERT_TIME_MISSING",
    });
    const timed = fieldsOf({ timestamp: "2026-11-18T09:59:00Z" });
    expect(judgeAlert(timed, "AAPL", { ...facts, requiresTime: true })).toMatchObject({ warnings: [] });
    const old = fieldsOf({ timestamp: "2026-11-18T09:50:00Z" });
    expect(judgeAlert(old, "AAPL", facts)).toMatchObject({ code: "WEBHOOK_ALERT_TOO_OLD" });
  });
});

it.each([
  [{ prev_market_position: "LONG", prev_market_position_size: "10" }, "10", undefined],
  [{ prev_market_position: "LONG", prev_market_position_size: "10.00" }, "10", undefined],
  [{ prev_market_position: "SHORT", prev_market_position_size: "10" }, "-10", undefined],
  [{ prev_market_position: "FLAT", prev_market_position_size: "0" }, "0", undefined],
  [{ prev_market_position: "LONG" }, "3", undefined],
  [{}, "3", undefined],
  [{ prev_market_position: "FLAT" }, "3", { said: "flat", ours: "3" }],
  [{ prev_market_position: "LONG", prev_market_position_size: "10" }, "-10", { said: "long 10", ours: "-10" }],
  [{ prev_market_position: "LONG", prev_market_position_size: "10" }, "7", { said: "long 10", ours: "7" }],
  [{ prev_market_position_size: "10" }, "7", { said: "10", ours: "7" }],
] as const)("an alert that says %j before it, and books that say %s: %j", (said, ours, mismatch) => {
  const before = { prev_market_position: undefined, prev_market_position_size: undefined, ...said };
  expect(positionMismatch(before, dec(ours))).toEqual(mismatch);
});

it("silence is counted from the last alert or from when the session began, and not while the market is closed", () => {
  const sessions = ([1, 2, 3, 4, 5] as const).map((weekday) => ({ weekday, open: "09:30", close: "16:00" }));
  const calendar = tradingCalendar({ name: "x", zone: "UTC", sessions, holidays: [], earlyCloses: {} });
  const [friday, sunday] = [parse("2026-11-13T15:00:00Z"), parse("2026-11-15T12:00:00Z")];
  const monday = parse("2026-11-16T09:40:00Z");
  expect(silentMs(calendar, friday, sunday)).toBe(0);
  expect(silentMs(calendar, friday, monday)).toBe(600_000);
  expect(silentMs(calendar, parse("2026-11-16T09:35:00Z"), monday)).toBe(300_000);
  expect(silentMs(undefined, friday, monday)).toBe(240_000_000);
});
