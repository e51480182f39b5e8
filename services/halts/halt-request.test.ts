// What is made of a halt that was asked for: nothing in its texts or figures refuses it, none of them grows beyond its bound, and no machine passes for somebody else.
import { expect, it } from "vitest";
import type { HaltRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import { activeHalt } from "../../contracts/src/records/halt.ts";
import { machine, person } from "../../testkit/halt-fixture.ts";
import { type AskedHalt, readHalt } from "./halt-request.ts";

const funds = { fund: () => undefined, fundOfStrategy: () => undefined };

function read(different: Partial<HaltRequest>, identity = machine): AskedHalt {
  const request = { severity: "FIRM_HALT", fund_id: "", reason: "", requested_by: "", ...different } as HaltRequest;
  const halt = readHalt({ request, identity, at: fromMicroseconds(0), newId: () => "h-1" }, funds);
  if ("code" in halt) throw new Error(halt.reason);
  activeHalt.parse({ ...halt, epoch: 1 });
  return halt;
}

it.each([
  ["one long text", { log: "L".repeat(1_000_100) }],
  ["a text that grows when it is written", { log: "\u0001".repeat(200_000) }],
  ["many", Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`fact ${at}`, "x".repeat(5_000)]))],
  ["a deep one", { deep: { very: { deep: "x".repeat(1_000_000) } } }],
  ["a long name", { ["n".repeat(100_000)]: 1 }],
])("evidence is bounded: %s", (_name, evidence) => {
  const halt = read({ evidence });
  expect(JSON.stringify(halt).length).toBeLessThan(20_000);
  expect(Object.keys(halt.evidence ?? {}).length).toBeGreaterThan(0);
});

it("figures that cannot be written are reported as words, and what can is kept as it is", () => {
  const evidence = {
    drawdown: Number.NaN,
    z: Number.NEGATIVE_INFINITY,
    loss: 0.02,
    open: true,
    none: null,
    why: "gap",
  };
  expect(read({ evidence }).evidence).toEqual({ ...evidence, drawdown: "NaN", z: "-Infinity" });
});

it.each([
  "operator:relief",
  " Operator:relief",
  "\u2060operator:relief",
  "\u200boperator:duty",
  "\u043eperator:duty",
  "service:operations",
  "principal:x",
  "treasury",
  "riskengine",
  "watchdog.news",
  "",
  " ",
])("32.6: a machine that calls itself %j is called what its token says, and what it says is kept beside", (asked) => {
  const { requested_by, evidence } = read({ requested_by: asked, evidence: { loss: 1 } });
  expect(requested_by).toBe(machine.actor);
  expect(evidence?.["claimed_by"] === undefined).toBe(asked.trim() === "");
  expect(evidence).toMatchObject({ loss: 1 });
});

it("32.6: a claim is kept also without other evidence, and cannot be given as evidence; a person is who they are", () => {
  expect(read({ requested_by: "treasury" }).evidence).toEqual({ claimed_by: "treasury" });
  expect(read({ requested_by: "treasury", evidence: { claimed_by: "oms" } }).evidence).toEqual({
    claimed_by: "treasury",
  });
  expect(read({ requested_by: machine.actor }).evidence).toBeUndefined();
  const asked = read({ requested_by: "watchdog.news" }, person("duty"));
  expect([asked.requested_by, asked.evidence]).toEqual(["operator:duty", undefined]);
});
