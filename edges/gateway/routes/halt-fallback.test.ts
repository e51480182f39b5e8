// POST /v1/halts while one of the two that can halt is silent: the other one is asked soon, for the same halt, and what was refused is not asked for twice.
import { expect, it } from "vitest";
import type { DenialCode } from "../../../contracts/src/codes.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { HaltRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import { ask } from "../../../testkit/gateway/parts.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { haltRequest } from "./halts.ts";

const response = { halt_id: "h-1", epoch: 3, since: "2026-11-16T08:00:00.000000Z", acknowledged: true };
const halted = (by: string) => ({ ok: true, value: { ...response, audit_id: by } }) as const;
const denied = (code: DenialCode) => ({ ok: false, denial: { code, reason: "No." } }) as const;
const down = (service: string) => new Fault("SERVICE_UNAVAILABLE", `${service} is down.`, { retry: "later" });
const never = new Promise<never>(() => undefined);

type Answer = (method: string, message: HaltRequest) => Promise<unknown>;

function fixture(manager: Answer, engine: Answer = async () => halted("engine")) {
  const asked: [string, string, Partial<HaltRequest>][] = [];
  let waited: (() => void) | undefined;
  const route = haltRequest({
    log: quietLog,
    ownToken: () => "own",
    random: { uuid: () => "made-here" } as never,
    timers: {
      sleep: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          waited = resolve;
          signal.addEventListener("abort", () => resolve());
        }),
    } as never,
    services: {
      call: (service: string, method: string, message: HaltRequest) => {
        asked.push([service, method, message]);
        return service === "Operations" ? manager(method, message) : engine(method, message);
      },
    } as never,
  });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    asked,
    post: (body: object) => ask(route, { body: { confirmation: "HALT", ...body } }),
    /** As if the patience had ended. */
    pass: async () => {
      await turns();
      waited?.();
      await turns();
    },
    requests: () =>
      asked.filter(([, method]) => method === "RequestHalt").map(([service, , { halt_id: id }]) => [service, id]),
  };
}

it("a manager that answers is the only one asked, and the halt has an id before", async () => {
  const { post, requests } = fixture(async () => halted("manager"));
  expect(await post({})).toMatchObject({ status: 201, body: { audit_id: "manager" } });
  expect(await post({ halt_id: "mine" })).toMatchObject({ status: 201 });
  expect(requests()).toEqual([
    ["Operations", "made-here"],
    ["Operations", "mine"],
  ]);
});

it.each([
  ["says nothing", () => never],
  ["is down", () => Promise.reject(down("operations"))],
])("a manager that %s: the engine is asked for the very same halt", async (_name, manager) => {
  const { post, pass, requests } = fixture(manager);
  const answer = post({});
  await pass();
  expect(await answer).toMatchObject({ status: 201, body: { audit_id: "engine" } });
  expect(requests()).toEqual([
    ["Operations", "made-here"],
    ["RiskEngine", "made-here"],
  ]);
});

it("a name is not waited for longer than a halt: as a fund's, and then as a strategy's, it goes to the engine", async () => {
  const { post, pass, asked } = fixture(
    () => never,
    async (_method, { severity }) => (severity === "FUND_HALT" ? denied("HALT_SCOPE_INVALID") : halted("engine")),
  );
  const answer = post({ id: "alpha-momentum" });
  await pass();
  expect(await answer).toMatchObject({ status: 201, body: { audit_id: "engine" } });
  expect(asked.slice(1).map(([service, , message]) => [service, message.severity, message.halt_id])).toEqual([
    ["RiskEngine", "FUND_HALT", "made-here"],
    ["RiskEngine", "STRATEGY_HALT", "made-here"],
  ]);
});

it("a manager that is only slow may still be the one who answers", async () => {
  let answerNow = (_value: unknown): void => undefined;
  const slow = new Promise((resolve) => {
    answerNow = resolve;
  });
  const { post, pass } = fixture(
    () => slow,
    () => Promise.reject(down("riskengine")),
  );
  const answer = post({});
  await pass();
  answerNow(halted("manager"));
  expect(await answer).toMatchObject({ status: 201, body: { audit_id: "manager" } });
});

it("what the manager refuses is refused, and nobody else is asked; when both are down, that is said", async () => {
  const refused = fixture(async () => denied("CONFIRMATION_WRONG"));
  expect(await refused.post({})).toMatchObject({ status: 409 });
  expect(refused.requests()).toEqual([["Operations", "made-here"]]);
  const dead = fixture(
    () => Promise.reject(down("operations")),
    () => Promise.reject(down("riskengine")),
  );
  await expect(dead.post({})).rejects.toThrow("riskengine is down.");
});
