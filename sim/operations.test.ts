// Every operation that changes something is an action of the simulator, or there is a reason why not.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { changesState, type Operation, operations } from "../contracts/src/authority.ts";
import { type Simulated, simulated } from "./operations.ts";

const root = join(import.meta.dirname, "..");
const changing = (Object.keys(operations) as Operation[]).filter((operation) => changesState(operation));
const known: Readonly<Partial<Record<string, Simulated>>> = simulated;

it("23.12: knows every state-changing operation of the table of authority", () => {
  const missing = changing
    .filter((operation) => known[operation] === undefined)
    .map(
      (operation) =>
        `${operation} changes state and the simulator does not know it: write an action in sim/actions and name it in sim/operations.ts, ` +
        "or say there why it cannot happen in a simulated run and which test shows it. If it only reads, say so in its proto.",
    );
  expect(missing).toEqual([]);
});

it("knows no operation that is none, or that changes nothing", () => {
  expect(Object.keys(simulated).filter((name) => !(changing as readonly string[]).includes(name))).toEqual([]);
});

it("says in a sentence why an operation never happens, and which test shows it instead", () => {
  for (const [operation, one] of Object.entries(simulated)) {
    if (!("why" in one)) continue;
    expect(one.why, operation).toMatch(/^[A-Z].*\.$/);
    expect(existsSync(join(root, one.shownBy)), `${operation}: ${one.shownBy}`).toBe(true);
  }
});
