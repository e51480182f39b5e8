// A process that falls silent makes what it answered old at once; one that comes back, or was replaced between two looks, is asked again.
import { expect, test } from "vitest";
import { declaredRoutes } from "../../../contracts/src/generated/routes.ts";
import { servedBy } from "../../../contracts/src/served-by.ts";
import { lists } from "../data/lists.ts";
import { openProcesses, unseenMs } from "./processes.ts";

const ok = { service: "operations", status: "ok", pid: 7 };
const away = { service: "operations", status: "failing", complaint: "it cannot be reached" };

function fixture() {
  const processes = openProcesses(1_000);
  const turned: string[] = [];
  let changes = 0;
  processes.onTurn((name) => void turned.push(name));
  processes.subscribe(() => {
    changes += 1;
  });
  const life = () => processes.lifeOf("operations");
  return { processes, turned, life, changes: () => changes };
}

test("every list names the process that answers it", () => {
  const declared: Readonly<Record<string, { readonly service: string }>> = declaredRoutes;
  for (const [name, { source, process }] of Object.entries(lists)) {
    const service = declared[source]?.service;
    expect([name, process]).toEqual([name, service === undefined ? "gateway" : servedBy[service]]);
  }
});

test("nothing is held against a process that nobody spoke of, or that is in order", () => {
  const { processes, turned, life, changes } = fixture();
  expect(life()).toMatchObject({ isOk: true, sinceMs: 0 });
  processes.take([ok], 2_000);
  expect(life()).toMatchObject({ isOk: true, sinceMs: 0, pid: 7 });
  const before = changes();
  processes.take([{ ...ok }], 4_000);
  expect(changes()).toBe(before);
  expect(turned).toEqual([]);
});

test("one that falls silent makes old what it answered before, and is asked again when it is back", () => {
  const { processes, turned, life } = fixture();
  processes.take([ok], 2_000);
  processes.take([away], 4_000);
  expect(life()).toMatchObject({ isOk: false, sinceMs: 4_000, complaint: "it cannot be reached" });
  processes.take([away], 6_000);
  expect(life().sinceMs).toBe(4_000);
  expect(turned).toEqual(["operations"]);
  processes.take([{ ...ok, pid: 8 }], 8_000);
  // What it answered since it was missed came from a process that is there.
  expect(life()).toMatchObject({ isOk: true, sinceMs: 4_000, complaint: undefined });
  expect(turned).toEqual(["operations", "operations"]);
});

test("another process of that name has answered nothing yet", () => {
  const { processes, turned, life } = fixture();
  processes.take([ok], 2_000);
  processes.take([{ ...ok, pid: 8 }], 4_000);
  expect(life()).toMatchObject({ isOk: true, sinceMs: 4_000 });
  expect(turned).toEqual(["operations"]);
  // A lease that is not there for a moment is no other process.
  processes.take([{ service: "operations", status: "ok" }], 6_000);
  processes.take([{ ...ok, pid: 8 }], 8_000);
  expect(life().sinceMs).toBe(4_000);
});

test("where nobody says how the processes are, none is in order", () => {
  const { processes, life } = fixture();
  processes.take([ok], 2_000);
  processes.look(2_000 + unseenMs, false);
  expect(life().isOk).toBe(true);
  processes.look(2_001 + unseenMs, false);
  expect(life()).toMatchObject({ isOk: false, sinceMs: 0 });
  expect(life().complaint).toContain("not known");
  processes.take([ok], 12_000);
  expect(life()).toMatchObject({ isOk: true, complaint: undefined });
  // A frozen desk asks for nothing, and nothing is held against anybody.
  processes.look(60_000, true);
  processes.look(60_000 + unseenMs, false);
  expect(life().isOk).toBe(true);
});
