// Every key that changed since the last start is reported once, with its values where they may be shown, and only then remembered.
import { describe, expect, it } from "vitest";
import { valid } from "../../testkit/configuration/loading.ts";
import { memoryStore } from "../../testkit/memory/store.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { unauditedChange } from "../records/state-changes.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { effectiveValues } from "./effective-values.ts";
import { tellConfigurationChanges } from "./tell-changes.ts";

const decode = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;

function open() {
  const tools = { clock: systemClock(), random: systemRandom(), timers: systemTimers() };
  const tables = memoryTables();
  const store = memoryStore({ ...tools, process: tables.process("operations"), unauditedChange });
  let heard = 0;
  const start = async (yaml: string | undefined, environment = {}, service = "operations") => {
    await tellConfigurationChanges(valid(yaml, environment).configuration, service, { ...tools, store });
    const reported = tables.log.slice(heard).map(({ bytes }) => decode(bytes));
    heard = tables.log.length;
    return reported.map(({ path, old_value, new_value, redacted }) => ({ path, old_value, new_value, redacted }));
  };
  const count = (yaml: string | undefined) =>
    tellConfigurationChanges(valid(yaml, {}).configuration, "operations", { ...tools, store });
  return { start, count, tables };
}

const one = { PORTCULLIS_DATABASE_URL: "postgresql://owner:first-secret@db.example.com/p" };
const other = { PORTCULLIS_DATABASE_URL: "postgresql://owner:other-secret@db.example.com/p" };

describe("the configuration of a start", () => {
  it("is reported once as a whole at the first start, and not again when nothing changed", async () => {
    const { start } = open();
    const first = await start(undefined);
    expect(first).toMatchObject([{ path: "*", redacted: false }]);
    expect(await start(undefined)).toEqual([]);
    const { count } = open();
    // There was no start before it that it could be another than.
    expect([await count(undefined), await count(undefined), await count("log:\n  level: debug\n")]).toEqual([0, 0, 1]);
  });

  it("is reported key by key when it changed, with the old and the new value, also of keys that come and go", async () => {
    const { start } = open();
    await start("log:\n  level: info\n");
    expect(await start("log:\n  level: debug\naudit:\n  anchor_file: /var/anchor\n")).toEqual([
      { path: "log.level", old_value: "info", new_value: "debug", redacted: false },
      { path: "audit.anchor_file", old_value: undefined, new_value: "/var/anchor", redacted: false },
    ]);
    expect(await start("log:\n  level: debug\n")).toEqual([
      { path: "audit.anchor_file", old_value: "/var/anchor", new_value: undefined, redacted: false },
    ]);
    expect(await start("log:\n  level: debug\n")).toEqual([]);
  });

  it("never has a secret in it: neither in what is reported nor in what is kept", async () => {
    const { start, tables } = open();
    await start(undefined, one);
    expect(await start(undefined, one)).toEqual([]);
    const [change, ...more] = await start(undefined, other);
    expect(more).toEqual([]);
    const shown = "(credentials not shown, server postgresql://db.example.com)";
    expect(change).toEqual({ path: "database.url", old_value: shown, new_value: shown, redacted: true });
    const kept = JSON.stringify([...tables.risk.configuration.values()].map((values) => [...values.values()]));
    expect(`${kept}${JSON.stringify(tables.log.map(({ bytes }) => decode(bytes)))}`).not.toMatch(/-secret/);
    expect(kept).toContain("scrypt:");
  });

  it("is kept for each process by the part that speaks for it", async () => {
    const { start } = open();
    await start("log:\n  level: info\n");
    expect(await start("log:\n  level: warn\n", {}, "gateway")).toMatchObject([{ path: "*" }]);
    expect(await start("log:\n  level: info\n")).toEqual([]);
  });

  it("has every key that has a value, each path once", () => {
    const paths = effectiveValues(valid(undefined).configuration).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toContain("lifecycle.drain_timeout_s");
    expect(paths.length).toBeGreaterThan(30);
  });
});
