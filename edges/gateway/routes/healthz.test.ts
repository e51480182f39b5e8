// The truth table of the platform's health: every combination of parts and states, on both listeners.
import { describe, expect, it } from "vitest";
import { parse } from "../../../contracts/src/instant.ts";
import type { Health } from "../../../ports/health.ts";
import type { HttpRequest } from "../../../ports/http.ts";
import { operatorHealthz, publicHealthz } from "./healthz.ts";

const request: HttpRequest = {
  requestId: "r",
  identity: undefined,
  bearer: () => undefined,
  remoteAddress: "127.0.0.1",
  params: undefined,
  query: undefined,
  body: undefined,
  headers: {},
};
const states: readonly (Health | undefined)[] = [
  { status: "ok" },
  { status: "starting" },
  { status: "failing", complaint: "the database does not answer." },
  undefined,
];

function ask(
  own: Health,
  services: Readonly<Record<string, Health | undefined>>,
  isInsecure = false,
  clearText: string[] = [],
) {
  const known = Object.entries(services).flatMap(([name, health]) => (health ? [[name, health] as const] : []));
  const parts = {
    clock: { now: () => parse("2026-11-15T13:30:00Z") },
    expectedServices: ["riskengine", "operations"],
    ownHealth: () => own,
    isInsecure,
    clearText,
    githubbot: { notes: () => [] },
    directory: { all: async () => Object.fromEntries(known) },
  };
  return Promise.all([operatorHealthz(parts).handle(request), publicHealthz(parts).handle(request)]);
}

describe("healthz", () => {
  it("is ok exactly when the gateway and every expected service are", async () => {
    for (const own of states.slice(0, 3)) {
      for (const riskengine of states) {
        for (const operations of states) {
          const answers = await ask(own ?? { status: "ok" }, { riskengine, operations });
          const allOk = [own, riskengine, operations].every((health) => health?.status === "ok");
          for (const answer of answers) {
            expect(answer.status).toBe(allOk ? 200 : 503);
            if (allOk) expect(answer.body).toEqual({ status: "ok" });
            else expect(answer.body).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
          }
        }
      }
    }
  });

  it("tells the operator which parts and why, and the public nothing more", async () => {
    const [operator, open] = await ask(
      { status: "starting", complaint: "the credentials file is not written yet" },
      { operations: { status: "failing", complaint: "the database does not answer." } },
    );
    expect(operator.body).toEqual({
      code: "SERVICE_UNAVAILABLE",
      detail:
        "gateway is starting: the credentials file is not written yet; riskengine is failing: it does not report; " +
        "operations is failing: the database does not answer.",
    });
    expect(open.body).toEqual({ code: "SERVICE_UNAVAILABLE" });
  });

  it("tells the operator what a part that can work complains of, and the public nothing more", async () => {
    const complaint = "The broker paper is silent since 2026-11-15T13:30:00.000000Z.";
    const [operator, open] = await ask(
      { status: "ok" },
      { riskengine: { status: "ok" }, operations: { status: "ok", complaint } },
    );
    expect(operator).toEqual({ status: 200, body: { status: "ok", notes: [`operations: ${complaint}`] } });
    expect(open).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(open.body).toEqual({ status: "ok" });
  });

  it("says in every answer that the platform may be reached without TLS", async () => {
    const well = { riskengine: { status: "ok" }, operations: { status: "ok" } } as const;
    for (const answer of await ask({ status: "ok" }, well, true)) {
      expect(answer).toMatchObject({ status: 200, body: { status: "ok", insecure: true } });
    }
    for (const answer of await ask({ status: "starting" }, well, true)) {
      expect(answer).toMatchObject({ status: 503, body: { detail: expect.stringContaining("insecure: true") } });
    }
  });

  it("says in every answer that another machine is spoken to in clear text, and operators which connection", async () => {
    const well = { riskengine: { status: "ok" }, operations: { status: "ok" } } as const;
    const [operator, open] = await ask({ status: "ok" }, well, false, ["bus.insecure"]);
    expect(operator.body).toMatchObject({ insecure: true, notes: [expect.stringContaining("(bus.insecure: true)")] });
    expect(open.body).toEqual({ status: "ok", insecure: true });
    const [failing] = await ask({ status: "starting" }, well, false, ["bus.insecure"]);
    expect(failing.body).toMatchObject({ detail: expect.stringContaining("bus.insecure: true") });
  });

  it("does not care about services that this platform does not expect", async () => {
    const [operator] = await ask(
      { status: "ok" },
      { riskengine: { status: "ok" }, operations: { status: "ok" }, stranger: { status: "failing" } },
    );
    expect(operator.status).toBe(200);
  });
});
