// Through real sockets: a known caller who is refused is reported, by every procedure and route that changes something, once.
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  changesState,
  isGatewayOperation,
  mayCall,
  type Operation,
  operations,
} from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { RefusedAttempt } from "../../ports/attempts.ts";
import type { Route } from "../../ports/http.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { ask, hello, posted, serve } from "../../testkit/http/test-client.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { describedServices } from "../grpc/definitions.ts";
import { serveGrpc } from "../grpc/server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const own = describedServices.filter(({ name }) => name !== "Instance");

async function grpc(services: readonly RpcService[]) {
  const reported: RefusedAttempt[] = [];
  const server = await serveGrpc({
    ...testPorts().ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services,
    verifier: testVerifier({}),
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
    tellRefusal: (refused) => reported.push(refused),
  });
  closers.push(() => server.drain(0));
  const call = async (path: string, token: string): Promise<string> => {
    const client = testClient(server.address, { token });
    closers.push(() => client.close());
    return (await client.rawCall(path, Buffer.alloc(0))).status;
  };
  return { reported, call };
}

describe("procedures", () => {
  it("that a viewer may not call tell so, each of them", async () => {
    const { reported, call } = await grpc(own.map(({ name }) => ({ name, handlers: {} })));
    const forbidden = own
      .flatMap(({ methods }) => methods)
      .filter(({ name }) => !mayCall(name as Operation, { roles: ["viewer"] }))
      .filter(({ requestStream, responseStream }) => !requestStream && !responseStream);
    for (const { path } of forbidden) expect(await call(path, "viewer"), path).toBe("PERMISSION_DENIED");
    expect(reported.map(({ operation }) => operation)).toEqual(forbidden.map(({ name }) => name));
    expect(reported[0]).toMatchObject({ identity: { actor: "operator:viewer" }, code: "PERMISSION_DENIED" });
    expect(forbidden.length).toBeGreaterThan(5);
  });

  it("whose service denies or complains tell so, unless the service did, and not for what passes or may be tried again", async () => {
    const denial = { code: "ENVELOPE_INVALID", reason: "no" } as const;
    const path = "/svc.v1.RiskEngine/UpdateEnvelope";
    const answers: (() => object)[] = [
      () => ({ denial }),
      () => ({ denial, isReported: true }),
      () => {
        throw new Fault("INVALID_ARGUMENT", "what?", { retry: "never" });
      },
      () => {
        throw new Fault("STORE_UNAVAILABLE", "gone", { retry: "later" });
      },
      () => ({ encoded: Buffer.alloc(0) }),
    ];
    const { reported, call } = await grpc([
      { name: "RiskEngine", handlers: { UpdateEnvelope: async () => answers.shift()?.() } },
    ]);
    for (let n = 0; n < 5; n += 1) await call(path, "risk_officer");
    expect(reported).toMatchObject([
      { operation: "UpdateEnvelope", target: path, ...denial, identity: { actor: "operator:risk_officer" } },
      { code: "INVALID_ARGUMENT", reason: "what?" },
    ]);
  });
});

describe("routes", () => {
  const route = (operation: Operation, more: Partial<Route> = {}): Route => ({
    ...hello,
    id: operation,
    path: `/v1/${operation}`,
    operation,
    method: "POST",
    body: z.strictObject({ n: z.number() }),
    handle: async () => ({ status: 409, body: { code: "ENVELOPE_INVALID", detail: "no" } }),
    ...more,
  });

  it("tell of those who may not, of what is no request, and of what the gateway itself refuses", async () => {
    const reported: RefusedAttempt[] = [];
    const names = (Object.keys(operations) as Operation[]).filter(changesState);
    const { server } = await serve(
      names.map((name) => route(name)),
      { tellRefusal: (refused) => reported.push(refused) },
    );
    const tried = async (name: Operation, token: string, body: object) => {
      reported.splice(0);
      await ask(server, `/v1/${name}`, { ...posted(body), token });
      return reported.map(({ operation, code }) => `${operation} ${code}`);
    };
    for (const name of names) {
      if (mayCall(name, undefined)) continue;
      if (!mayCall(name, { roles: ["viewer"] })) {
        expect(await tried(name, "viewer", { n: 1 })).toEqual([`${name} PERMISSION_DENIED`]);
      }
      if (!mayCall(name, { roles: ["admin"] })) continue;
      expect(await tried(name, "admin", { n: "one" })).toEqual([`${name} INVALID_ARGUMENT`]);
      const denied = isGatewayOperation(name) ? [`${name} ENVELOPE_INVALID`] : [];
      expect(await tried(name, "admin", { n: 1 })).toEqual(denied);
    }
  });

  it("tell what they were about: what the path names, or else the body", async () => {
    const reported: RefusedAttempt[] = [];
    const params = z.strictObject({ fund_id: z.string() });
    const body = z.strictObject({ strategy_id: z.string().max(64), n: z.number() });
    const { server } = await serve(
      [
        route("UpdateEnvelope", { path: "/v1/envelopes/:fund_id", params }),
        route("ReleaseThrottle", { path: "/v1/release", body }),
      ],
      { tellRefusal: (refused) => reported.push(refused) },
    );
    await ask(server, "/v1/envelopes/alpha", { ...posted({ n: 1 }), token: "viewer" });
    await ask(server, "/v1/release", { ...posted({ strategy_id: "alpha-momentum" }), token: "operator" });
    expect(reported.map(({ about, target }) => [about, target])).toEqual([
      ["alpha", "/v1/envelopes/alpha"],
      ["alpha-momentum", "/v1/release"],
    ]);
  });

  it("know which operations are the gateway's own: those that change something and are no procedure", () => {
    const procedures = new Set(own.flatMap(({ methods }) => methods.map(({ name }) => name)));
    const asked = (Object.keys(operations) as Operation[]).filter(isGatewayOperation);
    expect(asked.filter((name) => procedures.has(name) || !changesState(name))).toEqual([]);
    expect(asked).toHaveLength(18);
  });
});
