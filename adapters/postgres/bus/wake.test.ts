// Wake-ups between two processes: what they say of what was written, and that they say less rather than something wrong.
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually, gate, pass } from "../../../testkit/conformance/waiting.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { openClient } from "../connection.ts";
import { createWake, type Wake } from "./wake.ts";

const fixture = {};
let database: TestDatabase;
let [here, there]: Wake[] = [];
let client: pg.Client;
/** By kind: the subjects that were named, or "any". */
let heard: [string, readonly string[] | "any"][];

function open(): Promise<pg.Client> {
  return openClient(database.address.app, { log: quietLog, applicationName: "wake test" });
}

beforeAll(async () => {
  database = await testDatabase();
  const options = { open, timers: systemTimers(), random: systemRandom(), log: quietLog };
  here = createWake(options);
  there = createWake(options);
  client = await open();
  const { signal } = new AbortController();
  await here.ready(signal);
  await there.ready(signal);
  there.onPoke((written, subjects) => heard.push([written, subjects === undefined ? "any" : [...subjects].sort()]));
});
beforeEach(() => {
  heard = [];
});
afterAll(async () => {
  await here?.close();
  await there?.close();
  await client?.end();
  await database?.drop();
});

async function hears(...expected: typeof heard): Promise<void> {
  await eventually(fixture, "the wake-up", () => heard.length >= expected.length);
  expect(heard).toEqual(expected);
}

describe("a wake-up", () => {
  it("names the subjects of what was committed", async () => {
    here?.poke("events", new Set(["svc.v1.a", "svc.v1.b"]));
    await hears(["events", ["svc.v1.a", "svc.v1.b"]]);
  });

  it("says of commits that share it what all of them brought", async () => {
    here?.poke("entries");
    here?.poke("events", new Set(["svc.v1.a"]));
    here?.poke("decisions");
    here?.poke("events", new Set(["svc.v1.b"]));
    await hears(["entries", "any"], ["events", ["svc.v1.a", "svc.v1.b"]], ["decisions", "any"]);
  });

  it("says any when one of them did not say which", async () => {
    here?.poke("entries");
    here?.poke("events", new Set(["svc.v1.a"]));
    here?.poke("events");
    here?.poke("events", new Set(["svc.v1.b"]));
    await hears(["entries", "any"], ["events", "any"]);
  });

  it("says any when there are too many to name, or one that cannot be named", async () => {
    here?.poke("events", new Set(Array.from({ length: 33 }, (_, n) => `svc.v1.${n}`)));
    await hears(["events", "any"]);
    heard = [];
    here?.poke("events", new Set(["svc.v1.a", "it's, one"]));
    await hears(["events", "any"]);
  });

  it("of anybody else is taken for what it names, and for everything when it names nothing that is known", async () => {
    await client.query("notify portcullis_wake, 'events'");
    await hears(["events", "any"]);
    heard = [];
    await client.query("notify portcullis_wake, 'nonsense svc.v1.a'");
    await hears(["events", "any"], ["decisions", "any"], ["entries", "any"]);
  });

  it("that could not be sent is made up for when the connection is back", async () => {
    const title = "wake test that is cut off";
    const mayReturn = gate();
    let opened = 0;
    const openOnce = async () => {
      opened += 1;
      if (opened > 1) await mayReturn.opened;
      return openClient(database.address.app, { log: quietLog, applicationName: title });
    };
    const third = createWake({ open: openOnce, timers: systemTimers(), random: systemRandom(), log: quietLog });
    try {
      await third.ready(new AbortController().signal);
      const end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1";
      await client.query(end, [title]);
      await eventually(fixture, "the loss", () => third.complaint() !== undefined);
      third.poke("events", new Set(["svc.v1.a"]));
      await pass(fixture, 20);
      mayReturn.open();
      await hears(["events", "any"], ["decisions", "any"], ["entries", "any"]);
    } finally {
      await third.close();
    }
  });
});
