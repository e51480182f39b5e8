// What people are told in chat, and what happens when the chat service does not take it.
import { afterEach, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Chat, ChatMessage } from "../../../ports/chat.ts";
import { type ServiceRig, serviceRig } from "../../../testkit/virtual/service-rig.ts";
import { alarmOf, createWorkerAlarms } from "../worker-alarms.ts";
import { startAlertsToChat } from "./alerts-to-chat.ts";

const rigs: ServiceRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

async function open() {
  const rig = serviceRig(7);
  rigs.push(rig);
  const ports = rig.portsOf("operations");
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
        ...{ difference_id: id, fund_id: "alpha", account: "alpha", broker: "paper", symbol: "AAPL", alerted },
        ...{ our_quantity: "1", broker_quantity: "2", class: "LOST_FILL", status: "CONFIRMED", evidence: "e" },
        at: format(rig.time.clock.now()),
      }),
    );
  const alarm = (code: "BROKER_SILENT" | "QUOTES_SILENT" | "RECONCILE_CONFIRMED") =>
    ports.store.transact("test", (unit) =>
      unit.events.publish(subjects.alarmRaised, alarmOf(code, "s", {}, format(rig.time.clock.now()))),
    );
  return { rig, sent, state, running, difference, alarm };
}

it("tells critical alarms and alerted differences, each once, and nothing else", async () => {
  const { rig, sent, running, difference, alarm } = await open();
  await alarm("BROKER_SILENT");
  await alarm("QUOTES_SILENT");
  await alarm("RECONCILE_CONFIRMED");
  await difference("d-1", true);
  await difference("d-2", false);
  await rig.time.timers.sleep(5_000);
  expect(sent.map(({ key }) => key.replace(/ [0-9a-f-]{36}$/, "")).sort()).toEqual([
    "alarm",
    "difference d-1 CONFIRMED",
  ]);
  await running.stop();
});

it("keeps what could not be delivered, says so once, and gives up only what is old, never in silence", async () => {
  const { rig, sent, state, running, difference } = await open();
  state.isDown = true;
  await difference("d-1", true);
  await rig.time.timers.sleep(60_000);
  state.isDown = false;
  await rig.time.timers.sleep(60_000);
  expect(sent.map(({ key }) => key)).toContain("difference d-1 CONFIRMED");
  const undelivered = () => rig.told(subjects.alarmRaised).filter(({ code }) => code === "CHAT_UNDELIVERED");
  expect(undelivered().length).toBe(1);
  expect(rig.world.parked).toEqual([]);
  await running.stop();
});
