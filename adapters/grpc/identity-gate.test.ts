// Who may call, through real sockets: every procedure of every service for every kind of caller, and what comes before what. The
// numbers are those of the gate's header.
import { afterEach, describe, expect, it } from "vitest";
import { type Operation, operations, roles, whyNot } from "../../contracts/src/authority.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { RefusedAttempt } from "../../ports/attempts.ts";
import type { Identity } from "../../ports/identity.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { type CallOutcome, testClient } from "../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { tokenLengthMax } from "../listener/bearer-form.ts";
import { describedServices } from "./definitions.ts";
import { operationsByPath } from "./procedure-operations.ts";
import { type GrpcServerOptions, serveGrpc } from "./server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What the token `machine` names; that it may not lift halts anyway is the table's business. */
const narrow: readonly Operation[] = ["ListActiveHalts", "CheckOrders", "ResumeHalt"];

const unregisteredPaths = ["/svc.v1.RiskEngine/Nothing", "/svc.v2.RiskEngine/CheckOrder", "/x", "/"];

async function serve(services: readonly RpcService[], options: Partial<GrpcServerOptions> = {}) {
  const test = testPorts();
  const verifier = testVerifier({ machine: narrow });
  const server = await serveGrpc({
    ...test.ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services,
    verifier,
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
    ...options,
  });
  closers.push(() => server.drain(0));
  const as = (token?: string) => {
    const client = testClient(server.address, token === undefined ? {} : { token });
    closers.push(() => client.close());
    return client;
  };
  return { as, verifier, ...test };
}

/** A service with one procedure that every role may call. */
const halts = (ListActiveHalts: RpcService["handlers"][string] = async () => ({ halts: [] })): RpcService => ({
  name: "Operations",
  handlers: { ListActiveHalts },
});

const listHalts = "/svc.v1.Operations/ListActiveHalts";

function codeOf({ metadata }: CallOutcome): unknown {
  return metadata.get("portcullis-code")[0];
}

describe("who is turned away", () => {
  it("is reported by name, a stranger without one, and not while we cannot know who it is", async () => {
    const reported: RefusedAttempt[] = [];
    const service = { name: "Operations", handlers: { ResumeHalt: async () => ({}) } };
    const { as, verifier } = await serve([service], { tellRefusal: (refused) => reported.push(refused) });
    for (const token of [undefined, "forged", "viewer"])
      await as(token).call("Operations", "ResumeHalt", { halt_ids: [] });
    verifier.answer(async () => {
      throw new Fault("IDENTITY_UNAVAILABLE", "gone", { retry: "later" });
    });
    expect(codeOf(await as("operator").call("Operations", "ResumeHalt", { halt_ids: [] }))).toBe(
      "IDENTITY_UNAVAILABLE",
    );
    expect(reported.map(({ identity, operation, code }) => [identity.actor, operation, code])).toEqual([
      ["principal:nobody", "ResumeHalt", "UNAUTHENTICATED"],
      ["principal:nobody", "ResumeHalt", "UNAUTHENTICATED"],
      ["operator:viewer", "ResumeHalt", "PERMISSION_DENIED"],
    ]);
  });
});

describe("the table of authority", () => {
  const procedures = describedServices.flatMap((service) =>
    service.methods.map((method) => ({
      method,
      operation: (service.name === "Instance" ? "InspectInstance" : method.name) as Operation,
      implemented: service.name === "Instance",
    })),
  );
  const everyService = describedServices
    .filter(({ name }) => name !== "Instance")
    .map(({ name }): RpcService => ({ name, handlers: {} }));

  it("has procedures to be asked for", () => {
    expect(procedures.length).toBeGreaterThan(20);
  });

  it.each([...roles, "machine"])("%s reaches what the table says and nothing else", async (token) => {
    const { as } = await serve(everyService);
    const client = as(token);
    const narrowed = token === "machine" ? narrow : undefined;
    const role = token === "machine" ? "service" : token;
    for (const { method, operation, implemented } of procedures) {
      const streams = method.requestStream || method.responseStream;
      const outcome = streams
        ? await client.streamCall(method.path)
        : await client.rawCall(method.path, Buffer.alloc(0));
      const allowed = (operations[operation].allowed as readonly string[]).includes(role);
      if (allowed && (narrowed?.includes(operation) ?? true)) {
        expect([method.path, outcome.status]).toEqual([method.path, implemented ? "OK" : "UNIMPLEMENTED"]);
        if (!implemented) expect(outcome.details).toContain("is not implemented yet");
      } else {
        expect(outcome).toMatchObject({ status: "PERMISSION_DENIED", details: whyNot(operation) });
        expect(codeOf(outcome)).toBe("PERMISSION_DENIED");
      }
    }
  });

  it.each([
    ["no token", undefined],
    ["a token that nobody issued", "forged"],
  ])("%s reaches nothing that is ours", async (_name, token) => {
    // A stranger who asks for everything at once is slowed down: a server for each portion.
    let client: ReturnType<Awaited<ReturnType<typeof serve>>["as"]> | undefined;
    for (const [index, { method }] of procedures.entries()) {
      if (client === undefined || index % 50 === 0) client = (await serve(everyService)).as(token);
      const streams = method.requestStream || method.responseStream;
      const options = { metadata: { "x-request-id": "r-1" } };
      const outcome = streams
        ? await client.streamCall(method.path, options)
        : await client.rawCall(method.path, Buffer.alloc(0), undefined, options);
      expect([method.path, outcome.status]).toEqual([method.path, "UNAUTHENTICATED"]);
      expect(outcome.details).toMatch(/^[A-Z].*\.$/);
      expect(outcome.metadata.getMap()).toMatchObject({
        "portcullis-code": "UNAUTHENTICATED",
        "portcullis-retry": "never",
        "x-request-id": "r-1",
      });
    }
  });

  it.each([undefined, "forged", "viewer"])(
    "health and reflection are open to anyone, also with the token %s (2)",
    async (token) => {
      const { as, verifier } = await serve([]);
      const client = as(token);
      expect((await client.rawCall("/grpc.health.v1.Health/Check", Buffer.alloc(0))).status).toBe("OK");
      for (const path of [
        "/grpc.health.v1.Health/Watch",
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      ]) {
        // Nobody refuses it, so it stays open until its caller's deadline.
        expect((await client.streamCall(path, { deadlineMs: 100 })).status).toBe("DEADLINE_EXCEEDED");
      }
      expect(verifier.asked).toEqual([]);
    },
  );

  it("reflection that is off answers nobody, and strangers do not learn that it could be there", async () => {
    const { as } = await serve([], { reflection: false });
    for (const version of ["v1", "v1alpha"]) {
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
      expect((await as().streamCall(path, { deadlineMs: 5_000 })).status).toBe("UNAUTHENTICATED");
      expect((await as("viewer").streamCall(path, { deadlineMs: 5_000 })).status).toBe("UNIMPLEMENTED");
    }
    expect((await as().rawCall("/grpc.health.v1.Health/Check", Buffer.alloc(0))).status).toBe("OK");
  });

  it("must have a row for everything that is served, and none that is open to anyone", () => {
    const service = (name: string) => ({
      name: "Invented",
      fullName: "svc.v1.Invented",
      methods: [
        {
          name,
          path: `/svc.v1.Invented/${name}`,
          requestType: "",
          responseType: "",
          requestStream: false,
          responseStream: false,
        },
      ],
    });
    expect(() => operationsByPath([service("Nothing")], true)).toThrow(Defect);
    expect(() => operationsByPath([service("toString")], true)).toThrow(Defect);
    expect(() => operationsByPath([service("LogIn")], true)).toThrow(/open to anyone/);
    expect(operationsByPath([service("GetEnvelope")], true).get("/svc.v1.Invented/GetEnvelope")).toBe("GetEnvelope");
  });
});

describe("strangers", () => {
  it.each(unregisteredPaths)("do not learn whether %s exists (1)", async (path) => {
    const { as } = await serve([halts()]);
    for (const token of [undefined, "forged"]) {
      for (const outcome of [await as(token).rawCall(path, Buffer.alloc(0)), await as(token).streamCall(path)]) {
        expect(outcome.status).toBe("UNAUTHENTICATED");
        expect(codeOf(outcome)).toBe("UNAUTHENTICATED");
      }
    }
    const known = await as("viewer").rawCall(path, Buffer.alloc(0));
    expect(known).toMatchObject({ status: "UNIMPLEMENTED", details: `There is no procedure ${path} on this server.` });
    expect(codeOf(known)).toBe("UNIMPLEMENTED");
  });

  it.each([
    ["no message", Buffer.from([0x0a, 0xff]), "INVALID_ARGUMENT"],
    ["too large", Buffer.alloc(2_000), "RESOURCE_EXHAUSTED"],
  ])("are told that they are, not that their bytes are %s", async (_name, bytes, otherwise) => {
    const { as } = await serve([halts()], { limits: { receiveBytesMax: 1_000 } });
    expect((await as().rawCall(listHalts, bytes)).status).toBe("UNAUTHENTICATED");
    expect((await as("forged").rawCall(listHalts, bytes)).status).toBe("UNAUTHENTICATED");
    expect((await as("admin").rawCall(listHalts, bytes)).status).toBe(otherwise);
  });

  const full = "a".repeat(tokenLengthMax);
  it.each([
    ["nothing in it", ""],
    ["no token", "Bearer"],
    ["an empty token", "Bearer "],
    ["two spaces", "Bearer  everyRole"],
    ["a space inside", "Bearer every Role"],
    ["two tokens in one", "Bearer everyRole,Bearer everyRole"],
    ["a quotation mark", 'Bearer every"Role'],
    ["a padding that stands first", "Bearer =everyRole"],
    ["another scheme", "Basic everyRole"],
    ["no scheme", "everyRole"],
    ["one character too many", `Bearer ${full}a`],
  ])("cannot pass with a header that has %s", async (_name, authorization) => {
    const { as, verifier } = await serve([halts()]);
    const outcome = await as().rawCall(listHalts, Buffer.alloc(0), undefined, { metadata: { authorization } });
    expect(outcome.status).toBe("UNAUTHENTICATED");
    expect(outcome.details).not.toMatch(/every|aaa/);
    expect(verifier.asked).toEqual([]);
  });

  it("may write the scheme as they like, and a token may have its full length", async () => {
    const { as, verifier } = await serve([halts()]);
    const call = (authorization: string) =>
      as().rawCall(listHalts, Buffer.alloc(0), undefined, { metadata: { authorization } });
    expect((await call(`bEARER ${everyRole}`)).status).toBe("OK");
    expect((await call(`Bearer ${full}`)).status).toBe("UNAUTHENTICATED");
    expect(verifier.asked).toEqual([everyRole, full]);
  });
});

describe("a handler", () => {
  it("knows who calls", async () => {
    const seen: Identity[] = [];
    const { as } = await serve([
      halts(async (_request, { identity }) => {
        seen.push(identity);
        return { halts: [] };
      }),
    ]);
    await Promise.all(["viewer", "admin", "machine"].map((token) => as(token).rawCall(listHalts, Buffer.alloc(0))));
    expect(seen.map(({ actor }) => actor).sort()).toEqual(["operator:admin", "operator:viewer", "service:machine"]);
  });
});

describe("the verifier", () => {
  it("that cannot know is UNAVAILABLE, never a yes", async () => {
    const { as, verifier } = await serve([halts()]);
    verifier.answer(async () => {
      throw new Fault("IDENTITY_UNAVAILABLE", "The list of revocations is too old.", { retry: "later" });
    });
    for (const path of [listHalts, "/x"]) {
      const outcome = await as("admin").rawCall(path, Buffer.alloc(0));
      expect(outcome).toMatchObject({ status: "UNAVAILABLE", details: "The list of revocations is too old." });
      expect(codeOf(outcome)).toBe("IDENTITY_UNAVAILABLE");
    }
  });

  it("that never answers holds a call no longer than its bound", async () => {
    const { as, verifier } = await serve([halts()], { limits: { callMsMax: 100 } });
    verifier.answer(() => new Promise(() => undefined));
    expect((await as("admin").rawCall(listHalts, Buffer.alloc(0))).status).toBe("DEADLINE_EXCEEDED");
    verifier.answer(undefined);
    expect((await as("admin").rawCall(listHalts, Buffer.alloc(0))).status).toBe("OK");
  });

  it("that breaks is our failure, told to the log alone, and a defect ends the program", async () => {
    const { as, verifier, lines, deaths } = await serve([halts()]);
    verifier.answer(async () => {
      throw new TypeError("hunter2");
    });
    const outcome = await as("admin").rawCall(listHalts, Buffer.alloc(0));
    expect(outcome.status).toBe("INTERNAL");
    expect(outcome.details).not.toContain("hunter2");
    expect(lines).toContainEqual(
      expect.objectContaining({ level: "error", fields: expect.objectContaining({ error: expect.any(TypeError) }) }),
    );
    expect(deaths).toEqual([]);
    verifier.answer(async () => {
      throw new Defect("we were wrong");
    });
    expect((await as("admin").rawCall(listHalts, Buffer.alloc(0))).status).toBe("INTERNAL");
    await expect.poll(() => deaths.map(({ message }) => message)).toEqual(["we were wrong"]);
  });
});

describe("what is refused", () => {
  it("is logged with its caller and counted by its code, and the token stands nowhere", async () => {
    const { as, lines, observations } = await serve([halts()]);
    const options = { metadata: { "x-request-id": "r-9" } };
    await as("forged-token").rawCall(listHalts, Buffer.alloc(0), undefined, options);
    await as("viewer").rawCall("/svc.v1.Operations/AppendAudit", Buffer.alloc(0), undefined, options);
    await as("viewer").rawCall(`/${"x".repeat(1_000)}`, Buffer.alloc(0), undefined, options);
    await as("viewer").rawCall(listHalts, Buffer.alloc(0));
    const refused = lines.filter(({ message }) => message === "RPC refused");
    expect(refused).toEqual([
      {
        level: "info",
        message: "RPC refused",
        fields: { method: listHalts, request_id: "r-9", code: "UNAUTHENTICATED" },
      },
      {
        level: "info",
        message: "RPC refused",
        fields: {
          method: "/svc.v1.Operations/AppendAudit",
          request_id: "r-9",
          code: "PERMISSION_DENIED",
          actor: "operator:viewer",
        },
      },
      {
        level: "info",
        message: "RPC refused",
        fields: { method: `/${"x".repeat(199)}`, request_id: "r-9", code: "UNIMPLEMENTED", actor: "operator:viewer" },
      },
    ]);
    expect(observations.filter(({ name }) => name === "portcullis_rpc_refused_total")).toEqual(
      ["UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED"].map((code) => ({
        name: "portcullis_rpc_refused_total",
        value: 1,
        labels: { code },
      })),
    );
    expect(JSON.stringify(lines)).not.toMatch(/forged|Bearer/);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: "debug", fields: expect.objectContaining({ actor: "operator:viewer" }) }),
    );
  });

  it("carries one request id in the answer and the log, also when the caller sent none", async () => {
    const { as, lines } = await serve([halts()]);
    const outcome = await as().rawCall(listHalts, Buffer.alloc(0));
    const reported = outcome.metadata.get("x-request-id")[0];
    expect(reported).toMatch(/^[0-9a-f-]{36}$/);
    expect(lines.map(({ fields }) => fields["request_id"])).toEqual([reported]);
  });
});
