// Subjects of logins on a real server: one of before, whose stream takes none of them and which nothing of ours may change, and what is put aside of them.
import { DiscardPolicy, jetstreamManager, RetentionPolicy } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { everySubject, subjects } from "../../../contracts/src/subjects.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import { publish, record } from "../../../testkit/conformance/bus-kit.ts";
import { eventually } from "../../../testkit/conformance/waiting.ts";
import { openNatsPlatform } from "../../../testkit/nats-fixture.ts";
import { exampleOrder } from "../../../testkit/record-examples.ts";
import { systemClock } from "../../system/clock.ts";
import { byLogins } from "../stream.ts";

test("a stream of before works on, and health says what it lacks until an administrator adds it", async () => {
  const fixture = await openNatsPlatform();
  const administrator = await connect({ servers: fixture.server.url });
  try {
    const manager = await jetstreamManager(administrator);
    const name = "PORTCULLIS";
    const before = { name, subjects: [everySubject], retention: RetentionPolicy.Limits, discard: DiscardPolicy.New };
    await manager.streams.add({ ...before, duplicate_window: 120_000_000_000 });
    const process = await fixture.process("first");
    await process.startRelay();
    const seen = await record(process.bus, { name: "test.before" });
    await publish(process.store, { key: "k", n: 1 });
    await eventually({}, "it is heard", () => seen.events.length === 1, seen.numbers);
    expect(process.bus.health().note).toContain(byLogins);
    await manager.streams.update(name, { subjects: [everySubject, byLogins] });
    expect((await process.reopenBus()).health().note).toBeUndefined();
  } finally {
    await administrator.close();
    await fixture.close();
  }
});

test("what a login published and was put aside is its own when it is tried again", async () => {
  const fixture = await openNatsPlatform();
  const program = await connect({ servers: fixture.server.url });
  try {
    const process = await fixture.process("first");
    const seen: BusEvent[] = [];
    const wanted = { name: "test.aside", subjects: [subjects.ordersCreated.name], proved: true, attemptsMax: 1 };
    await process.bus.subscribe(wanted, async (event) => {
      seen.push(event);
      if (seen.length === 1) throw new Error("not today");
    });
    const id = headers();
    id.set("Nats-Msg-Id", "o-1");
    program.publish(`foreign.desk.${subjects.ordersCreated.name}`, JSON.stringify(exampleOrder), { headers: id });
    const parked = () => fixture.sql<{ event_id: string; source: string }>("select event_id, source from parked_event");
    await eventually({}, "it is put aside", async () => (await parked()).length === 1);
    expect(await parked()).toEqual([{ event_id: "desk:o-1", source: "foreign.desk" }]);
    const asked = { at: systemClock().now(), by: "operator:duty", reason: "again" };
    await process.store.transact("test.retry", (unit) => unit.parked.askRetry("test.aside", "desk:o-1", asked));
    await eventually({}, "it is tried again", () => seen.length === 2);
    const [first, second] = seen;
    expect(first).toMatchObject({ id: "desk:o-1", source: "foreign.desk", login: "desk" });
    expect(second).toMatchObject({ id: "desk:o-1", source: "foreign.desk", login: "desk" });
  } finally {
    await program.close();
    await fixture.close();
  }
});
