// The pulse of a bus: what it sends comes back over the connection that listens, and only that proves that notifications travel; on a real server, and
// in virtual time with a listener that hears nothing.
import { afterEach, expect, it } from "vitest";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import { eventually } from "../../../testkit/conformance/waiting.ts";
import { testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { scheduler } from "../../../testkit/virtual/scheduler.ts";
import { systemClock } from "../../system/clock.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { openClient, openPool } from "../connection.ts";
import { type Standing, startPulse } from "./bus-pulse.ts";
import { createBusSession } from "./bus-session.ts";
import { createWake } from "./wake.ts";

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function openReal() {
  const database = await testDatabase();
  endings.push(() => database.drop());
  const tools = { clock: systemClock(), timers: systemTimers(), random: systemRandom(), log: quietLog };
  const open = (applicationName: string) => () => openClient(database.address.app, { log: quietLog, applicationName });
  const wake = createWake({ ...tools, open: open("pulse wake") });
  endings.push(() => wake.close());
  const session = createBusSession({ ...tools, open: open("pulse session"), holder: "test" });
  endings.push(() => session.close());
  await session.opened(new AbortController().signal);
  await wake.ready(new AbortController().signal);
  const pulse = startPulse({ ...tools, session, wake });
  endings.push(() => pulse.close());
  const owner = openPool(database.address.owner, { log: quietLog, applicationName: "pulse test", sizeMax: 1 });
  endings.push(() => owner.end());
  return { pulse, session, wake, owner, clock: tools.clock };
}

it("proves that notifications travel for two seconds at most, and again and again", async () => {
  const { pulse, clock } = await openReal();
  await eventually({}, "the first proof", () => pulse.provenUntil() !== undefined);
  const first = pulse.provenUntil();
  expect(millisecondsBetween(clock.now(), first ?? clock.now())).toBeLessThanOrEqual(2_000);
  await eventually({}, "the next proof", () => (pulse.provenUntil() ?? 0) > (first ?? 0));
});

it("proves nothing while the listening connection is gone, and again when it is back", async () => {
  const { pulse, wake, owner, clock } = await openReal();
  await eventually({}, "the first proof", () => pulse.provenUntil() !== undefined);
  // It is ended as often as it comes back, until the last proof has passed.
  await eventually({}, "the end of the proof", async () => {
    await owner.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pulse wake'");
    return clock.now() > (pulse.provenUntil() ?? 0);
  });
  await eventually({}, "a new proof", () => clock.now() < (pulse.provenUntil() ?? 0));
  expect(wake.complaint()).toBeUndefined();
});

it("reads how subscriptions stand: their entry, what waits for them, and that they were forgotten", async () => {
  const { pulse, session, owner, clock } = await openReal();
  const entry = await session.register("test.standing", [">"], clock.now());
  let last: Standing | undefined;
  pulse.watch("test.standing", (standing) => {
    last = standing;
  });
  await eventually({}, "the entry", () => last?.entry === entry);
  expect(last?.hasAside).toBe(false);
  await owner.query(`insert into parked_event (subscription, event_id, outbox_id, subject, key, source, at_us, payload, error, attempts, parked_us,
                       state, lane, first_us, tried_us)
                     values ('test.standing', gen_random_uuid(), 0, 's', 'k', 'x', 1, '{}', 'e', 1, 1, 'PARKED', null, 1, 1)`);
  const change = (set: string) => owner.query(`update parked_event set ${set} where subscription = 'test.standing'`);
  await eventually({}, "a beat", async () => {
    const before = pulse.provenUntil() ?? 0;
    await eventually({}, "the next beat", () => (pulse.provenUntil() ?? 0) > before);
    return last?.hasAside === false;
  });
  await change("retry_us = 2, retry_by = 'x', retry_reason = 'y'");
  await eventually({}, "what somebody asked for", () => last?.hasAside === true);
  await change("retry_us = null, retry_by = null, retry_reason = null, state = 'HELD', lane = 'l'");
  await eventually({}, "what is held", () => last?.hasAside === true);
  await session.forget("test.standing");
  await eventually({}, "that it is forgotten", () => last?.entry === undefined);
});

it("takes neither silence nor another sending's echo for a proof, and one that is late as old as it is", async () => {
  const time = scheduler({ seed: 4 });
  let echo: (text: string) => void = () => undefined;
  const sent: string[] = [];
  const pulse = startPulse({
    ...time,
    log: quietLog,
    session: {
      complaint: () => undefined,
      async run(statement) {
        sent.push(String(statement.values?.[1]));
        return { rows: [["", "[]"]] } as never;
      },
    },
    wake: {
      echo: {
        channel: "c",
        onHeard(run) {
          echo = run;
          return () => undefined;
        },
      },
    },
  });
  await time.run({ untilMs: 10_500 });
  expect(sent.length).toBe(11);
  expect(pulse.provenUntil()).toBeUndefined();
  echo(sent[3] ?? "");
  expect(pulse.provenUntil()).toBeUndefined();
  echo(sent[10] ?? "");
  expect(millisecondsBetween(time.clock.now(), pulse.provenUntil() ?? time.clock.now())).toBe(1_500);
  await time.finish("the end", pulse.close());
});
