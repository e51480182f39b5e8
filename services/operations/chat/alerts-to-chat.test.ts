// What people are told in chat, and what happens when the chat service does not take it.
import { afterEach, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { watchdogs } from "../../../core/watchdogs/index.ts";
import type { Chat, ChatMessage } from "../../../ports/chat.ts";
import { exampleWatchdogAlarm } from "../../../testkit/record-examples.ts";
import { type ServiceFixture, serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { alarmOf, createWorkerAlarms } from "../worker-alarms.ts";
import { messageOfEvent, startAlertsToChat } from "./alerts-to-chat.ts";
import { watchChat } from "./chat-health.ts";

const fixtures: ServiceFixture[] = [];
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

async function open() {
  const fixture = serviceFixture(7);
  fixtures.push(fixture);
  const ports = fixture.portsOf("operations");
  const sent: ChatMessage[] = [];
  const state = { isDown: false };
  const chat: Chat = {
    name: "test",
    async send(message) {
      if (state.isDown) throw new Fault("CHAT_UNAVAILABLE", "The chat service is down.", { retry: "later" });
      sent.push(message);
    },
    close: async () => undefined,
  };
  const running = await startAlertsToChat({ ports, chat, alarms: createWorkerAlarms(ports) });
  const difference = (id: string, alerted: boolean) =>
    ports.store.transact("test", (unit) =>
      unit.events.publish(subjects.reconcileDifference, {
        difference_id: id,
        fund_id: "alpha",
        account: "alpha",
        broker: "paper",
        symbol: "AAPL",
        alerted,
        our_quantity: "1",
        broker_quantity: "2",
        class: "LOST_FILL",
        status: "CONFIRMED",
        evidence: "e",
        at: format(fixture.time.clock.now()),
      }),
    );
  const alarm = (code: "BROKER_SILENT" | "QUOTES_SILENT" | "RECONCILE_CONFIRMED") =>
    ports.store.transact("test", (unit) =>
      unit.events.publish(subjects.alarmRaised, alarmOf(code, "s", {}, format(fixture.time.clock.now()))),
    );
  return { fixture, sent, state, running, difference, alarm };
}

it("tells critical alarms and alerted differences, each once, and nothing else", async () => {
  const { fixture, sent, running, difference, alarm } = await open();
  await alarm("BROKER_SILENT");
  await alarm("QUOTES_SILENT");
  await alarm("RECONCILE_CONFIRMED");
  await difference("d-1", true);
  await difference("d-2", false);
  await fixture.time.timers.sleep(5_000);
  expect(sent.map(({ key }) => key.replace(/ ([0-9a-f-]{36}|\S+Z)$/, "")).sort()).toEqual([
    "alarm",
    "difference d-1 CONFIRMED",
  ]);
  await running.stop();
});

it("keeps what could not be delivered, says so once, and gives up only what is old, never in silence", async () => {
  const { fixture, sent, state, running, difference } = await open();
  state.isDown = true;
  await difference("d-1", true);
  await fixture.time.timers.sleep(60_000);
  state.isDown = false;
  await fixture.time.timers.sleep(60_000);
  expect(sent.map(({ key }) => key)).toContainEqual(expect.stringMatching(/^difference d-1 CONFIRMED /));
  const undelivered = () => fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "CHAT_UNDELIVERED");
  expect(undelivered().length).toBe(1);
  expect(fixture.tables.parked).toEqual([]);
  await running.stop();
});

it("tells of stops that fire and end, with the figures", async () => {
  const { fixture, sent, running } = await open();
  const at = format(fixture.time.clock.now());
  const stop = { stop_id: "stop-1", fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL" };
  const figures = { fill_price: "200", trigger_price: "190", observed_price: "189.5", observed_at: at };
  await fixture.portsOf("operations").store.transact("test", async (unit) => {
    await unit.events.publish(subjects.stopTriggered, { ...stop, ...figures, side: "SELL", quantity: "10", at });
    const ended = { outcome: "EXITED", exited_quantity: "10", ended_by: "service:operations", at } as const;
    await unit.events.publish(subjects.stopEnded, { ...stop, ...ended });
  });
  await fixture.time.timers.sleep(5_000);
  expect(sent).toMatchObject([
    {
      key: "stop stop-1 fired",
      level: "critical",
      title: "Stop fired: alpha AAPL",
      text: "189.5 has reached 190; SELL 10 is owed.",
      facts: { strategy: "alpha-momentum", entry: "200" },
    },
    { key: "stop stop-1 ended", level: "info", title: "Stop over: alpha AAPL", text: "EXITED; 10 were closed." },
  ]);
  await running.stop();
});

it("delivers what is not yet a quarter of an hour old, and gives up what is older", async () => {
  const { fixture, sent, state, running, difference } = await open();
  state.isDown = true;
  await difference("d-1", true);
  await fixture.time.timers.sleep(899_000);
  state.isDown = false;
  await fixture.time.timers.sleep(120_000);
  expect(sent.filter(({ key }) => key.startsWith("difference d-1"))).toHaveLength(1);
  state.isDown = true;
  await difference("d-2", true);
  await fixture.time.timers.sleep(1_100_000);
  state.isDown = false;
  await fixture.time.timers.sleep(120_000);
  // It is gone for good, and what comes later is reported.
  await difference("d-3", true);
  await fixture.time.timers.sleep(120_000);
  const reported = sent.filter(({ key }) => key.startsWith("difference")).map(({ key }) => key.slice(0, 14));
  expect(reported).toEqual(["difference d-1", "difference d-3"]);
  expect(fixture.tables.parked).toEqual([]);
  await running.stop();
});

it("25.6: all ten watchdogs are heard, each change once, with its level and whether it was injected", () => {
  const messages = watchdogs.map(({ subject, name }) =>
    messageOfEvent({
      id: name,
      subject: subject.name,
      key: "",
      at: 0 as never,
      source: "operations",
      payload: { ...exampleWatchdogAlarm, watchdog: name, level: "critical", injected: true },
    }),
  );
  expect(messages.map((message) => message?.facts?.["watchdog"])).toEqual(watchdogs.map(({ name }) => name));
  expect(messages[0]).toMatchObject({
    key: `watchdog vpin-3f1c OPENED ${exampleWatchdogAlarm.at}`,
    level: "critical",
    title: "predictive_health opened: AAPL (injected)",
    text: "VPIN of AAPL is 0.46, above 0.4. aggressive orders are throttled",
  });
});

it("25.3: whether chat takes messages is known from the last one", async () => {
  let isDown = true;
  const chat = watchChat({
    name: "test",
    async send() {
      if (isDown) throw new Fault("CHAT_UNAVAILABLE", "The chat service is down.", { retry: "later" });
    },
    close: async () => undefined,
  });
  const message = { key: "k", level: "info", title: "t", text: "x" } as const;
  expect(chat.complaint()).toBeUndefined();
  await expect(chat.send(message, 1)).rejects.toThrow("down");
  expect(chat.complaint()).toBe("The chat service is down.");
  isDown = false;
  await chat.send(message, 1);
  expect(chat.complaint()).toBeUndefined();
});

it("tells alerts that came to nothing: each that was accepted, and refused ones once a minute for a fund and code", async () => {
  const { fixture, sent, state, running } = await open();
  const { store } = fixture.portsOf("oms");
  const { clock, timers } = fixture.time;
  const base = () => ({ source: "tradingview", received_at: format(clock.now()), at: format(clock.now()) });
  const refused = (id: string, code: string, fund_id?: string) =>
    store.transact("test", (unit) =>
      unit.events.publish(subjects.signalRefused, {
        ...base(),
        signal_id: id,
        http_status: 422,
        code,
        detail: "Mend it.",
        ...(fund_id !== undefined && { fund_id }),
      }),
    );
  state.isDown = true;
  await refused("s-1", "WEBHOOK_REVERSAL", "alpha");
  await timers.sleep(2_000);
  state.isDown = false;
  await refused("s-2", "WEBHOOK_REVERSAL", "alpha");
  await refused("s-3", "WEBHOOK_REVERSAL", "beta");
  await refused("s-4", "WEBHOOK_NOT_A_NUMBER", "alpha");
  await refused("s-5", "WEBHOOK_ADDRESS_NOT_ALLOWED");
  await refused("s-6", "WEBHOOK_SECRET_WRONG");
  await store.transact("test", (unit) =>
    unit.events.publish(subjects.signalFailed, {
      ...base(),
      signal_id: "s-7",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      order_id: "tv-s-7",
      status: "SUBMITTED",
      code: "ORDER_HALTED",
      detail: "The halt covers this order.",
    }),
  );
  await timers.sleep(61_000);
  await refused("s-8", "WEBHOOK_REVERSAL", "alpha");
  await timers.sleep(5_000);
  const keys = sent.map(({ key }) => key).filter((key) => key.startsWith("signal "));
  expect(keys.sort()).toEqual(
    ["s-1", "s-3", "s-4", "s-6", "s-8"]
      .map((id) => `signal ${id} refused`)
      .concat("signal s-7 failed")
      .sort(),
  );
  const [denied] = sent.filter(({ key }) => key === "signal s-7 failed");
  expect(denied?.title).toBe("Alert of alpha alpha-momentum in AAPL: its order was denied, ORDER_HALTED");
  await running.stop();
});
