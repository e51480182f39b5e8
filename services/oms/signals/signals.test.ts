// Alerts of a charting platform: an accepted one is one order or one recorded end, in order of receipt, and every row says what became of it.
import { afterEach, describe, expect, it } from "vitest";
import type { SignalAnswer, SignalTest, WebhookSignal } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { format, minusMilliseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { TradingViewSettings } from "../../../ports/settings.ts";
import type { AcceptedSignal, StoredSignal } from "../../../ports/signal-records.ts";
import { type OmsFixture, type OmsLife, omsFixture } from "../../../testkit/oms-fixture.ts";

const opened: OmsFixture[] = [];
afterEach(async () => {
  for (const fixture of opened.splice(0)) await fixture.close();
});

const standard: TradingViewSettings = {
  ageMsMax: 300_000,
  requiresTime: false,
  liveFunds: [],
  funds: {},
  heartbeatsMs: {},
};

async function start(tradingView: Partial<TradingViewSettings> = {}) {
  const fixture = await omsFixture({ seed: 1 });
  opened.push(fixture);
  const settings = { tradingView: { ...standard, ...tradingView } };
  const life = await fixture.start(settings);
  return { fixture, life, settings, ...callsOf(fixture, () => life) };
}

function callsOf(fixture: OmsFixture, life: () => OmsLife) {
  const now = () => fixture.time.clock.now();
  return {
    send: (body: object, receivedAt = now()) =>
      life().call<SignalAnswer>("ReceiveSignal", {
        fund_id: "alpha",
        body: JSON.stringify(body),
        remote_address: "52.89.214.238",
        received_at: format(receivedAt),
      }),
    row: (signalId: string) => life().call<WebhookSignal>("GetWebhookSignal", { signal_id: signalId }),
  };
}

const alert = (differs: object = {}) => ({
  strategy_id: "alpha-momentum",
  fund_id: "alpha",
  symbol: "NASDAQ:AAPL",
  side: "buy",
  quantity: "10",
  order_type: "market",
  idempotency_key: "k-1",
  ...differs,
});

describe("an accepted alert", () => {
  it("becomes the order tv-<signal_id> under the webhook's own name, and its row follows the order", async () => {
    const { fixture, send, row } = await start();
    const answer = await send(alert({ actor: "<b>me</b>", thesis: "because" }));
    expect(answer).toMatchObject({ http_status: 202, code: "", symbol: "AAPL", warnings: ["NO_ALERT_TIME"] });
    expect(answer.order_id).toBe(`tv-${answer.signal_id}`);
    await fixture.until("it is handed in", async () => (await row(answer.signal_id)).status === "SUBMITTED");
    const stored = await fixture.order(answer.order_id);
    expect(stored).toMatchObject({
      submittedBy: "webhook:tradingview",
      order: { symbol: "AAPL", side: "BUY", tif: "DAY", broker: "paper", asset_class: "EQUITY", actor: "<b>me</b>" },
    });
    expect(await row(answer.signal_id)).toMatchObject({ order_state: stored?.state, fund_id: "alpha", side: "BUY" });
    expect(fixture.reported(subjects.signalReceived)).toMatchObject([
      { signal_id: answer.signal_id, fund_id: "alpha" },
    ]);
  });

  it("is one order however often it is sent at once, and the others name it", async () => {
    const { fixture, send, row } = await start();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(alert())));
    const [accepted, ...more] = answers.filter(({ http_status }) => http_status === 202);
    expect(more).toEqual([]);
    for (const refused of answers.filter((one) => one !== accepted)) {
      expect(refused).toMatchObject({
        http_status: 409,
        code: "WEBHOOK_KEY_DUPLICATE",
        original: { signal_id: accepted?.signal_id, order_id: accepted?.order_id },
      });
      expect(await row(refused.signal_id)).toMatchObject({ status: "REFUSED", duplicate_of: accepted?.signal_id });
    }
    expect(await send(alert({ quantity: "11" }))).toMatchObject({ http_status: 409, code: "WEBHOOK_KEY_REUSED" });
    await fixture.until("it is handed in", async () => (await row(accepted?.signal_id ?? "")).status === "SUBMITTED");
    expect([...fixture.tables.oms.orders.keys()]).toEqual([accepted?.order_id]);
  });
});

/** The front door takes the order although the engine is away. */
const atPaper = { alpha: { symbols: {}, broker: "paper", onMismatch: "flag" } } as const;

describe("what becomes of an accepted alert", () => {
  it("is handed in by fund and symbol strictly in order of receipt, also when the engine is away for a while", async () => {
    const { fixture, send } = await start({ funds: atPaper });
    let isDown = true;
    fixture.risk.isDown = () => isDown;
    const answers: SignalAnswer[] = [];
    for (let n = 0; n < 6; n += 1) {
      const symbol = n % 3 === 2 ? "MSFT" : "AAPL";
      answers.push(await send(alert({ idempotency_key: `k-${n}`, symbol, quantity: String(n + 1) })));
    }
    await fixture.time.timers.sleep(20_000);
    // The next one waits until the one before it was decided.
    expect([...fixture.tables.oms.orders.keys()]).toEqual([answers[0]?.order_id, answers[2]?.order_id]);
    isDown = false;
    await fixture.until("all are decided", () => fixture.risk.decided.length === 6);
    const decided = (symbol: string) =>
      fixture.risk.asked.filter((order) => order.symbol === symbol).map(({ order_id: id }) => id);
    const sent = (symbol: string) => answers.filter((one) => one.symbol === symbol).map(({ order_id: id }) => id);
    expect([...new Set(decided("AAPL"))]).toEqual(sent("AAPL"));
    expect([...new Set(decided("MSFT"))]).toEqual(sent("MSFT"));
  });

  it("is reported by its row and event when a halt or the gates deny its order", async () => {
    const { fixture, send, row } = await start();
    fixture.risk.decide = (order) => (order.symbol === "MSFT" ? "MAX_NOTIONAL_EXCEEDED" : true);
    const denied = await send(alert({ symbol: "MSFT" }));
    await fixture.until("the order is denied", async () => (await row(denied.signal_id)).status === "SUBMITTED");
    expect(await row(denied.signal_id)).toMatchObject({
      http_status: 202,
      order_state: "REJECTED",
      decision_code: "MAX_NOTIONAL_EXCEEDED",
    });
    await fixture.halt({ severity: "FUND_HALT", fund_id: "alpha" });
    const halted = await send(alert({ idempotency_key: "k-2" }));
    await fixture.until("the order is refused", async () => (await row(halted.signal_id)).status === "SUBMITTED");
    expect(await row(halted.signal_id)).toMatchObject({ order_state: "REJECTED", decision_code: "ORDER_HALTED" });
    expect(fixture.reported(subjects.signalFailed)).toMatchObject([
      { signal_id: denied.signal_id, status: "SUBMITTED", code: "MAX_NOTIONAL_EXCEEDED" },
      { signal_id: halted.signal_id, status: "SUBMITTED", code: "ORDER_HALTED" },
    ]);
  });

  it("is FAILED and no order when it is too old at its turn", async () => {
    const { fixture, send, row } = await start({ ageMsMax: 30_000 });
    fixture.risk.isDown = () => true;
    const answer = await send(alert({ timestamp: format(fixture.time.clock.now()) }));
    await fixture.until("it ends", async () => (await row(answer.signal_id)).status === "FAILED");
    fixture.risk.isDown = () => false;
    await fixture.time.timers.sleep(10_000);
    expect(await row(answer.signal_id)).toMatchObject({ status: "FAILED", code: "WEBHOOK_ALERT_TOO_OLD" });
    expect(await fixture.order(answer.order_id)).toBeUndefined();
    expect(fixture.reported(subjects.signalFailed)).toMatchObject([
      { status: "FAILED", code: "WEBHOOK_ALERT_TOO_OLD" },
    ]);
  });

  it("goes to the broker that is configured, and is FAILED when there is none of that name", async () => {
    const { fixture, send, row } = await start({
      funds: { alpha: { symbols: {}, broker: "elsewhere", onMismatch: "flag" } },
    });
    const answer = await send(alert());
    await fixture.until("it ends", async () => (await row(answer.signal_id)).status === "FAILED");
    expect(await row(answer.signal_id)).toMatchObject({ code: "ORDER_BROKER_UNKNOWN" });
  });

  it("is exactly one order after a kill at any moment between the answer and the order", async () => {
    for (const afterMs of [0, 1, 2, 3, 5, 8, 13, 40]) {
      const { fixture, life, settings, send } = await start();
      const answers = [await send(alert()), await send(alert({ idempotency_key: "k-2", quantity: "3" }))];
      await fixture.time.timers.sleep(afterMs);
      life.kill();
      await fixture.time.timers.sleep(1_000);
      const next = await fixture.start(settings);
      const { row, send: resend } = callsOf(fixture, () => next);
      for (const answer of answers) {
        await fixture.until("it is handed in", async () => (await row(answer.signal_id)).status === "SUBMITTED");
      }
      expect((await resend(alert())).original?.signal_id).toBe(answers[0]?.signal_id);
      expect([...fixture.tables.oms.orders.keys()].sort()).toEqual(answers.map(({ order_id: id }) => id).sort());
      expect(next.deaths).toEqual([]);
    }
  });
});

it("an order that was handed in before a kill is found long after its key is free, and its alert ends with it", async () => {
  const { fixture, life, settings, send } = await start({ funds: atPaper });
  fixture.risk.isDown = () => true;
  const answer = await send(alert());
  await fixture.until("the order is there", async () => (await fixture.order(answer.order_id)) !== undefined);
  life.kill();
  await fixture.time.timers.sleep(400_000);
  const next = await fixture.start(settings);
  const { row } = callsOf(fixture, () => next);
  await fixture.until("the alert ends", async () => (await row(answer.signal_id)).status === "SUBMITTED");
  expect(await row(answer.signal_id)).toMatchObject({ order_state: "REJECTED" });
});

it("an alert is good before research has reported its strategy: the fund's reference data names it", async () => {
  const { fixture, send } = await start();
  fixture.tables.research.strategies.clear();
  expect(await send(alert())).toMatchObject({ http_status: 202 });
  expect(await send(alert({ strategy_id: "beta-trend", idempotency_key: "k-2" }))).toMatchObject({
    http_status: 422,
    code: "WEBHOOK_STRATEGY_UNKNOWN",
  });
});

describe("a refused alert", () => {
  it.each([
    [{ quantity: "NaN" }, "WEBHOOK_NOT_A_NUMBER", ""],
    [{ symbol: "NASDAQ:NOSUCH" }, "WEBHOOK_SYMBOL_UNKNOWN", "NOSUCH"],
    [{ symbol: "CME_MINI:ES1!" }, "WEBHOOK_SYMBOL_CONTINUOUS", ""],
    [{ strategy_id: "beta-one" }, "WEBHOOK_STRATEGY_UNKNOWN", "AAPL"],
    [{ quantity: "\u0000" }, "WEBHOOK_FIELD_INVALID", ""],
  ])("%j is %s, has a row, and takes no key", async (differs, code, symbol) => {
    const { fixture, send, row } = await start();
    const answer = await send(alert(differs));
    expect(answer).toMatchObject({ http_status: 422, code, symbol, order_id: "" });
    expect(await row(answer.signal_id)).toMatchObject({ status: "REFUSED", code, body: { order_type: "market" } });
    expect(fixture.reported(subjects.signalRefused)).toMatchObject([{ signal_id: answer.signal_id, code }]);
    expect(await send(alert())).toMatchObject({ http_status: 202 });
  });

  it("is free of its key after five minutes, and too old then when it has a time", async () => {
    const { fixture, send } = await start();
    const { clock, timers } = fixture.time;
    const [plain, timed] = [alert(), alert({ idempotency_key: `s-${format(clock.now())}` })];
    expect([await send(plain), await send(timed)].map(({ http_status }) => http_status)).toEqual([202, 202]);
    await timers.sleep(299_000);
    expect([await send(plain), await send(timed)].map(({ http_status }) => http_status)).toEqual([409, 409]);
    await timers.sleep(61_000);
    expect(await send(plain)).toMatchObject({ http_status: 202 });
    expect(await send(timed)).toMatchObject({ http_status: 422, code: "WEBHOOK_ALERT_TOO_OLD" });
  });

  it("dated ahead keeps its key for as long as it could be good", async () => {
    const { fixture, send } = await start();
    const ahead = alert({ timestamp: format(minusMilliseconds(fixture.time.clock.now(), -59_000)) });
    expect(await send(ahead)).toMatchObject({ http_status: 202 });
    await fixture.time.timers.sleep(340_000);
    expect(await send(ahead)).toMatchObject({ http_status: 409 });
    await fixture.time.timers.sleep(20_000);
    expect(await send(ahead)).toMatchObject({ http_status: 422, code: "WEBHOOK_ALERT_TOO_OLD" });
  });

  it("keeps no secret that was left in its body", async () => {
    const { fixture, send, row } = await start();
    const answer = await send(alert({ secret: "s3cret" }));
    expect(
      JSON.stringify([
        await row(answer.signal_id),
        fixture.tables.log.map(({ bytes }) => Buffer.from(bytes).toString()),
      ]),
    ).not.toContain("s3cret");
  });

  it("of strangers is kept twenty times a minute and counted beyond; who proved a secret always has a row", async () => {
    const { fixture, life } = await start();
    const refuse = (fund_id: string) =>
      life.call<{ signal_id: string }>("RecordRefusedSignal", {
        http_status: fund_id === "" ? 401 : 429,
        code: fund_id === "" ? "WEBHOOK_SECRET_WRONG" : "WEBHOOK_RATE_EXCEEDED",
        detail: "No.",
        fund_id,
        body: "no json",
        remote_address: "192.0.2.1",
        received_at: "",
        answer_ms: 3,
        unrecorded: 1,
      });
    const made: string[] = [];
    for (let n = 0; n < 25; n += 1) made.push((await refuse("")).signal_id);
    expect(made.filter((id) => id !== "")).toHaveLength(20);
    for (let n = 0; n < 25; n += 1) expect((await refuse("alpha")).signal_id).not.toBe("");
    await fixture.time.timers.sleep(60_000);
    await refuse("");
    const rows = fixture.reported(subjects.signalRefused);
    expect(rows).toHaveLength(46);
    // The five that had no row, what each of the five said, and what this one said.
    expect(rows.at(-1)).toMatchObject({ unrecorded: 11 });
    const told = await life.call("GetWebhookSignal", { signal_id: rows.at(-1)?.signal_id });
    expect(told).toMatchObject({ status: "REFUSED", unrecorded: 11 });
  });
});

describe("the position before an alert", () => {
  const alarms = (fixture: OmsFixture) =>
    fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "SIGNAL_POSITION_MISMATCH");

  it("is held against our books with what is under way, and a difference raises an alarm with both figures", async () => {
    const { fixture, send } = await start();
    const flat = { prev_market_position: "flat", prev_market_position_size: "0" };
    expect((await send(alert(flat))).warnings).toEqual(["NO_ALERT_TIME"]);
    const then = { prev_market_position: "long", prev_market_position_size: "10" };
    expect((await send(alert({ ...then, idempotency_key: "k-2" }))).warnings).toEqual(["NO_ALERT_TIME"]);
    expect(alarms(fixture)).toEqual([]);
    expect(await send(alert({ ...then, idempotency_key: "k-3" }))).toMatchObject({
      http_status: 202,
      warnings: ["NO_ALERT_TIME", "POSITION_MISMATCH"],
    });
    expect(alarms(fixture)).toMatchObject([{ sentence: expect.stringMatching(/says long 10, .* say 20;/) }]);
  });

  it("refuses where that is configured", async () => {
    const { fixture, send } = await start({ funds: { alpha: { symbols: {}, onMismatch: "refuse" } } });
    expect(await send(alert({ prev_market_position: "short" }))).toMatchObject({
      http_status: 422,
      code: "WEBHOOK_POSITION_MISMATCH",
    });
    expect(alarms(fixture)).toHaveLength(1);
  });
});

it("rows are forgotten ninety days after their receipt, and never one that waits for its order", async () => {
  const { fixture, send, row } = await start();
  const answer = await send(alert());
  await fixture.until("it is handed in", async () => (await row(answer.signal_id)).status === "SUBMITTED");
  const { signals } = fixture.tables.signals;
  const aged = (id: string, days: number, status: StoredSignal["status"]) => {
    const known = signals.get(answer.signal_id) as StoredSignal;
    const receivedAt = minusMilliseconds(fixture.time.clock.now(), days * 86_400_000);
    const accepted = { ...(known.accepted as AcceptedSignal), orderId: `tv-${id}`, keyUntil: receivedAt };
    signals.set(id, { ...known, signalId: id, receivedAt, status, accepted });
  };
  aged("old", 91, "SUBMITTED");
  aged("young", 89, "SUBMITTED");
  aged("waits", 91, "ACCEPTED");
  fixture.risk.isDown = () => true;
  await fixture.time.timers.sleep(61_000);
  expect([...signals.keys()].sort()).toEqual([answer.signal_id, "waits", "young"].sort());
  expect(await send(alert())).toMatchObject({ http_status: 409 });
});

it("a strategy whose alerts stop raises one alarm for each silence", async () => {
  const { fixture, send } = await start({ heartbeatsMs: { "alpha-momentum": 60_000 } });
  const silent = () => fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "SIGNAL_SILENT").length;
  await send(alert());
  await fixture.time.timers.sleep(59_000);
  expect(silent()).toBe(0);
  await fixture.time.timers.sleep(60_000);
  expect(silent()).toBe(1);
  await send(alert({ idempotency_key: "k-2" }));
  await fixture.time.timers.sleep(70_000);
  expect(silent()).toBe(2);
});

it("a test says what would become of an alert and keeps nothing", async () => {
  const { fixture, life, send } = await start();
  const test = (body: object) => life.call<SignalTest>("TestSignal", { fund_id: "alpha", body: JSON.stringify(body) });
  fixture.risk.decide = (order) => (order.symbol === "MSFT" ? "MAX_NOTIONAL_EXCEEDED" : true);
  expect(await test(alert())).toMatchObject({ would_accept: true, symbol: "AAPL", decision: { approved: true } });
  expect(await test(alert({ symbol: "MSFT" }))).toMatchObject({
    would_accept: true,
    decision: { approved: false, code: "MAX_NOTIONAL_EXCEEDED" },
  });
  expect(await test(alert({ quantity: 1 }))).toMatchObject({ would_accept: false, http_status: 422 });
  expect(fixture.tables.signals.signals.size + fixture.tables.oms.orders.size).toBe(0);
  await send(alert());
  expect(await test(alert())).toMatchObject({ would_accept: false, http_status: 409, code: "WEBHOOK_KEY_DUPLICATE" });
});
