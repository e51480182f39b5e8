// Alerts of a charting platform: an accepted one is one order or one recorded end, in order of receipt, and every row says what became of it.
import { afterEach, describe, expect, it } from "vitest";
import type { SignalAnswer, WebhookSignal } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { TradingViewSettings } from "../../../ports/settings.ts";
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
  const strategy = { strategyId: "alpha-momentum", fundId: "alpha", status: "live", allocationPct: 1 } as const;
  await fixture.outside.transact("research.strategy", async (unit) => {
    await unit.research.putStrategy(strategy);
    await unit.events.publish(subjects.strategyChanged, {
      strategy_id: strategy.strategyId,
      fund_id: strategy.fundId,
      status: strategy.status,
      allocation_pct: 1,
      changed_by: "test",
      reason: "",
      at: format(fixture.time.clock.now()),
    });
  });
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
