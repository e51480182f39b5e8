// What one poll of the dependencies asks, and how each answer is read: nobody who is silent passes, and what is not configured is not asked.
import { afterEach, expect, it } from "vitest";
import type { Health } from "../../../../ports/health.ts";
import type { Upstream } from "../../../../ports/upstream.ts";
import { type ServiceFixture, serviceFixture } from "../../../../testkit/virtual/service-fixture.ts";
import { type DependencyOptions, dependencyReader } from "./dependencies.ts";

let fixture: ServiceFixture | undefined;
afterEach(() => fixture?.close());

async function polled(differs: Partial<DependencyOptions>, upstreams: readonly Upstream[]) {
  fixture = serviceFixture(20_261_118);
  const secrets = { list: async () => [] } as never;
  const ports = { ...fixture.portsOf("operations"), secrets, upstreams };
  const reader = dependencyReader({
    ports,
    newest: new Map(),
    folder: "secret/test",
    chatComplaint: () => undefined,
    witnessComplaints: undefined,
    ...differs,
  });
  const reading = reader.read({
    at: ports.clock.now(),
    config: () => ({}),
    isDue: () => true,
    openedAt: () => null,
    lastObservation: () => null,
  });
  const found = await reading;
  return new Map(found.map(({ input }) => [input.dependency, { result: input.result, detail: input.detail }]));
}

const upstream = (name: string, answer: (signal: AbortSignal) => Promise<Health>): Upstream => ({ name, ask: answer });

it("asks no witness and no model that is not configured", async () => {
  const found = await polled({}, [upstream("identity", async () => ({ status: "ok" }))]);
  expect([...found.keys()].filter((name) => ["identity", "witness", "model"].includes(name))).toEqual(["identity"]);
  expect(found.get("identity")).toEqual({ result: "green", detail: "" });
});

it("reads a failing upstream as red, a starting one as unknown, one that throws as red and a silent one as a timeout", async () => {
  const signals: AbortSignal[] = [];
  const found = await polled({}, [
    upstream("identity", async () => ({ status: "failing", complaint: "nobody can be believed" })),
    upstream("model", async () => {
      throw new Error("It cannot be reached.");
    }),
    upstream("starting", async () => ({ status: "starting", complaint: "not yet" })),
    upstream("silent", (signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    }),
  ]);
  expect(found.get("identity")).toEqual({ result: "red", detail: "nobody can be believed" });
  expect(found.get("model")).toEqual({ result: "red", detail: "It cannot be reached." });
  expect(found.get("starting")).toEqual({ result: "unknown", detail: "not yet" });
  expect(found.get("silent")).toEqual({ result: "timeout", detail: "No answer within 4 s." });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it("reads a witness that did not cosign as red, and all that did as green", async () => {
  const refused = await polled({ witnessComplaints: () => ["The witness at a did not cosign size 7: away."] }, []);
  expect(refused.get("witness")).toEqual({ result: "red", detail: "The witness at a did not cosign size 7: away." });
  const agreed = await polled({ witnessComplaints: () => [] }, []);
  expect(agreed.get("witness")).toEqual({ result: "green", detail: "" });
});
