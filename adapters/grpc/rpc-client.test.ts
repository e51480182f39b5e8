// The gateway's way to the services, through real sockets: the caller's own token arrives, answers come back whole, every kind of no comes
// back as what it is, and a service that is down, slow or nowhere is named.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { answering, servedWithoutTreasury } from "../../contracts/src/served-by.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { systemClock } from "../system/clock.ts";
import { createRpcClient, type RpcCallOptions } from "./rpc-client.ts";
import { serveGrpc } from "./server.ts";
import { DeniedCall } from "./status.ts";

let folder = "";
const closers: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-rpc-client-"));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

const asEveryone: RpcCallOptions = { bearer: everyRole, timeoutMs: 5_000, requestId: "request-7" };

async function serve(services: readonly RpcService[], path = join(folder, "service.sock")): Promise<string> {
  const server = await serveGrpc({
    ...testPorts().ports,
    address: { path },
    purpose: "a test's gRPC server",
    environmentVariable: "NONE",
    services,
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    metricsJson: async () => "[]",
  });
  closers.push(() => server.drain(0));
  return `unix:${path}`;
}

function clientOf(targets: Readonly<Record<string, string>>) {
  const client = createRpcClient({ targets, clock: systemClock() });
  closers.push(() => client.close());
  return client;
}

type Handler = RpcService["handlers"][string];

async function treasury(ListFunds: Handler) {
  return clientOf({ treasury: await serve([{ name: "Treasury", handlers: { ListFunds } }]) });
}

const failureOf = async (call: Promise<unknown>): Promise<Fault> => {
  const thrown = await call.then(
    () => expect.unreachable("it should have failed"),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof Fault)) throw thrown;
  return thrown;
};

describe("a question", () => {
  it("carries the caller's token and the request's id, and brings the message back", async () => {
    const seen: unknown[] = [];
    const handler: Handler = async (request: { kind: string }, call) => {
      seen.push([request.kind, call.requestId, call.identity.actor]);
      return { kind: request.kind, version: 3, content_json: "[]", reason: "because" };
    };
    const fundsOf = { GetReferenceData: async () => [] };
    const target = await serve([{ name: "Treasury", handlers: { GetReferenceData: handler }, fundsOf }]);
    const outcome = await clientOf({ treasury: target }).call(
      "Treasury",
      "GetReferenceData",
      { kind: "fx" },
      asEveryone,
    );
    expect(outcome).toMatchObject({
      ok: true,
      value: { kind: "fx", version: 3, content_json: "[]", reason: "because" },
    });
    expect(seen).toEqual([["fx", "request-7", expect.any(String)]]);
  });

  it("goes to the process that answers for the service", async () => {
    const handlers = { ListEnvelopes: async () => ({ envelopes: [] }) };
    const client = clientOf({ operations: await serve([{ name: "RiskDesk", handlers }]) });
    const outcome = await client.call("RiskDesk", "ListEnvelopes", { fund_id: "alpha", count_max: 0 }, asEveryone);
    expect(outcome).toEqual({ ok: true, value: { envelopes: [] } });
  });
});

describe("a no", () => {
  it("of the business is a denial with its own code and sentence", async () => {
    const denial = { code: "LOOSENING_DURING_HALT", reason: "max_position_pct would rise — 0.07 to 0.08." } as const;
    const client = await treasury(async () => {
      throw new DeniedCall(denial);
    });
    expect(await client.call("Treasury", "ListFunds", {}, asEveryone)).toEqual({ ok: false, denial });
  });

  it("of the world is the service's own fault, with what may be done about it", async () => {
    const client = await treasury(async () => {
      throw new Fault("STORE_UNAVAILABLE", "The database is gone.", { retry: "now" });
    });
    const fault = await failureOf(client.call("Treasury", "ListFunds", {}, asEveryone));
    expect(fault).toMatchObject({ code: "STORE_UNAVAILABLE", message: "The database is gone.", retry: "now" });
  });

  it("of a service that broke says nothing of why", async () => {
    const client = await treasury(async () => {
      throw new Error("the password is swordfish");
    });
    const fault = await failureOf(client.call("Treasury", "ListFunds", {}, asEveryone));
    expect(fault.code).toBe("INTERNAL");
    expect(fault.message).not.toContain("swordfish");
  });

  it("is said to a caller without a token, or with one that is no good", async () => {
    const client = await treasury(async () => ({ funds: [] }));
    const nobody = client.call("Treasury", "ListFunds", {}, { ...asEveryone, bearer: undefined });
    expect(await failureOf(nobody)).toMatchObject({ code: "UNAUTHENTICATED" });
    const stranger = client.call("Treasury", "ListFunds", {}, { ...asEveryone, bearer: "stranger" });
    expect(await failureOf(stranger)).toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("of a procedure without a body is UNIMPLEMENTED", async () => {
    const client = await treasury(async () => ({ funds: [] }));
    const fault = await failureOf(client.call("Treasury", "ListInstruments", {}, asEveryone));
    expect(fault.code).toBe("UNIMPLEMENTED");
  });
});

describe("a service that does not answer", () => {
  it("is named when it is down, and found again when it is back", async () => {
    const path = join(folder, "late.sock");
    const client = clientOf({ treasury: `unix:${path}` });
    const fault = await failureOf(client.call("Treasury", "ListFunds", {}, asEveryone));
    expect(fault).toMatchObject({ code: "SERVICE_UNAVAILABLE", retry: "later" });
    expect(fault.message).toBe("The service treasury does not answer.");
    await serve([{ name: "Treasury", handlers: { ListFunds: async () => ({ funds: [] }) } }], path);
    for (let tries = 0; tries < 40; tries += 1) {
      const outcome = await client.call("Treasury", "ListFunds", {}, asEveryone).catch(() => undefined);
      if (outcome?.ok === true) return;
      await sleep(100);
    }
    expect.unreachable("the service came back and was not found");
  });

  it("is named when nobody said where it is", async () => {
    const fault = await failureOf(
      clientOf({}).call("RiskDesk", "ListEnvelopes", { fund_id: "a", count_max: 0 }, asEveryone),
    );
    expect(fault).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(fault.message).toContain("operations");
  });

  it("is named when it is slow", async () => {
    const client = await treasury(
      (_request, call) => new Promise((resolve) => call.signal.addEventListener("abort", resolve)),
    );
    const fault = await failureOf(client.call("Treasury", "ListFunds", {}, { ...asEveryone, timeoutMs: 100 }));
    expect(fault.code).toBe("DEADLINE_EXCEEDED");
    expect(fault.message).toMatch(/treasury did not answer within 100 ms|took longer/);
  });

  it("is left alone when the caller gives up", async () => {
    let hungUp = false;
    const client = await treasury(
      (_request, call) =>
        new Promise((resolve) =>
          call.signal.addEventListener("abort", () => {
            hungUp = true;
            resolve({ funds: [] });
          }),
        ),
    );
    const stop = new AbortController();
    const asked = client.call("Treasury", "ListFunds", {}, { ...asEveryone, signal: stop.signal });
    setTimeout(() => stop.abort(), 100);
    expect((await failureOf(asked)).code).toBe("CANCELLED");
    for (let tries = 0; tries < 50 && !hungUp; tries += 1) await sleep(20);
    expect(hungUp).toBe(true);
  });
});

it("asks for no stream, and for no service that nobody answers for", async () => {
  const client = clientOf({ riskengine: "unix:/nowhere" });
  await expect(client.call("RiskEngine", "CheckOrders", {}, asEveryone)).rejects.toThrow("is a stream");
  await expect(client.call("Instance", "GetHealth", {}, asEveryone)).rejects.toThrow("Nobody is known");
});

it("the place of a broken chain comes along, and the facts of other faults stay inside", async () => {
  const facts = { code: "HASH_MISMATCH", sequence: 5, expected: "ab", actual: "\u00e9" };
  const throwing = (code: "CHAIN_INTEGRITY" | "STORE_UNAVAILABLE") => async () => {
    throw new Fault(code, "Because.", { retry: "never", facts });
  };
  const broken = await treasury(throwing("CHAIN_INTEGRITY"));
  expect((await failureOf(broken.call("Treasury", "ListFunds", {}, asEveryone))).facts).toEqual(facts);
  for (const close of closers.splice(0).reverse()) await close();
  const other = await treasury(throwing("STORE_UNAVAILABLE"));
  expect((await failureOf(other.call("Treasury", "ListFunds", {}, asEveryone))).facts).toEqual({});
});

describe("who is asked", () => {
  it("32.7: without treasury operations is asked for reference data and funds, and nobody for the ledger", () => {
    const everybody = () => true;
    const withoutTreasury = (process: string) => process !== "treasury";
    for (const method of servedWithoutTreasury) {
      expect(answering("Treasury", method, everybody)).toBe("treasury");
      expect(answering("Treasury", method, withoutTreasury)).toBe("operations");
    }
    expect(answering("Treasury", "BookFlow", withoutTreasury)).toBe("treasury");
    expect(answering("Oms", "ListOrders", () => false)).toBe("oms");
    expect(answering("Nobody", "Ask", everybody)).toBeUndefined();
  });
});
