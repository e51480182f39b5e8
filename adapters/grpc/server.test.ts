// The gRPC server, through real sockets: every procedure is there by name, failures are translated, bounds hold, and nothing a
// caller sends brings it down.
import { createHash, randomInt } from "node:crypto";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Health } from "../../ports/health.ts";
import type { RpcCall, RpcService } from "../../ports/rpc.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { codecs } from "./codecs.ts";
import { describedServices } from "./definitions.ts";
import type { GrpcAddress } from "./listener.ts";
import { type GrpcServerOptions, serveGrpc } from "./server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(services: readonly RpcService[], options: Partial<GrpcServerOptions> = {}) {
  const test = testPorts();
  const server = await serveGrpc({
    ...test.ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "PORTCULLIS_GRPC_PORT",
    services,
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    metricsJson: async () => "[]",
    ...options,
  });
  closers.push(() => server.drain(0));
  const client = testClient(server.address, { token: everyRole });
  closers.push(() => client.close());
  return { server, client, ...test };
}

/** A service with one procedure that does what the test says. */
function treasury(ListFunds: (request: never, call: RpcCall) => Promise<unknown>): RpcService {
  return { name: "Treasury", handlers: { ListFunds } };
}

function portOf(address: GrpcAddress): number {
  return "port" in address ? address.port : 0;
}

const everyMethod = describedServices.flatMap((service) => service.methods.map((method) => ({ service, method })));

describe("definitions", () => {
  it("know the services that the surface promises", () => {
    const names = describedServices.map(({ fullName }) => fullName);
    expect(names).toEqual(expect.arrayContaining(["svc.v1.RiskEngine", "svc.v1.Operations", "svc.v1.Instance"]));
    const checkOrders = everyMethod.find(({ method }) => method.path === "/svc.v1.RiskEngine/CheckOrders");
    expect(checkOrders?.method).toMatchObject({ requestStream: true, responseStream: true });
  });

  it.each(everyMethod.map(({ method }) => [method.path, method] as const))("have codecs for %s", (_path, method) => {
    expect(codecs.has(method.requestType)).toBe(true);
    expect(codecs.has(method.responseType)).toBe(true);
  });

  it("refuse a service or a handler that the protos do not have", async () => {
    await expect(serve([{ name: "Nothing", handlers: {} }])).rejects.toThrow(/no service named Nothing/);
    const handler = async (): Promise<object> => ({});
    await expect(serve([{ name: "Treasury", handlers: { Nothing: handler } }])).rejects.toThrow(/Treasury\/Nothing/);
  });
});

describe("procedures without a handler", () => {
  it("all answer UNIMPLEMENTED by name", async () => {
    const names = describedServices.map(({ name }) => name).filter((name) => name !== "Instance");
    const { client } = await serve(names.map((name) => ({ name, handlers: {} })));
    const asked = everyMethod.filter(({ service }) => service.name !== "Instance");
    expect(asked.length).toBeGreaterThan(20);
    for (const { service, method } of asked) {
      const streams = method.requestStream || method.responseStream;
      const outcome = streams
        ? await client.streamCall(method.path)
        : await client.rawCall(method.path, Buffer.alloc(0));
      expect(outcome).toMatchObject({
        status: "UNIMPLEMENTED",
        details: `${service.fullName}/${method.name} is not implemented yet`,
      });
      expect(outcome.metadata.get("portcullis-code")).toEqual(["UNIMPLEMENTED"]);
    }
  });
});

describe("a handler", () => {
  it("gets the decoded request and its answer is encoded", async () => {
    const strategy = {
      strategy_id: "s",
      fund_id: "alpha",
      status: "live",
      allocation_pct: 0.5,
      sentence: "Buys.",
      base_status: "live",
      base_allocation_pct: 0.5,
      restriction_ids: [],
    };
    const seen: unknown[] = [];
    const { client, observations, spans } = await serve([
      {
        name: "Research",
        handlers: {
          ListStrategies: async (request) => {
            seen.push(request);
            return { strategies: [strategy] };
          },
        },
      },
    ]);
    const outcome = await client.call("Research", "ListStrategies", { fund_id: "alpha" });
    expect(seen).toEqual([{ fund_id: "alpha" }]);
    expect(outcome.answer).toEqual({ strategies: [strategy] });
    expect(observations).toMatchObject([
      { name: "portcullis_rpc_seconds", labels: { rpc_service: "Research", method: "ListStrategies", status: "OK" } },
    ]);
    expect(spans).toEqual(["Research/ListStrategies"]);
  });

  it("gets the caller's request id when it is sane, and every answer carries it", async () => {
    const seen: string[] = [];
    const { client } = await serve([
      treasury(async (_request, call) => {
        seen.push(call.requestId);
        return { funds: [] };
      }),
    ]);
    const sane = await client.call("Treasury", "ListFunds", {}, { metadata: { "x-request-id": "r-1" } });
    expect(sane.metadata.get("x-request-id")).toEqual(["r-1"]);
    const odd = await client.call("Treasury", "ListFunds", {}, { metadata: { "x-request-id": "a b" } });
    expect(String(odd.metadata.get("x-request-id")[0])).toMatch(/^[0-9a-f-]{36}$/);
    expect(seen).toEqual(["r-1", odd.metadata.get("x-request-id")[0]]);
    const failed = await client.call("Oms", "GetOrder", { order_id: "x" }, { metadata: { "x-request-id": "r-2" } });
    expect(failed.status).toBe("UNIMPLEMENTED");
  });

  it("that throws a fault gives its registered status, code and advice", async () => {
    const thrown = new Fault("STORE_CONFLICT", "Somebody was faster: \ud800 ünïcode\nand a line.", { retry: "now" });
    const { client } = await serve([treasury(async () => Promise.reject(thrown))]);
    const outcome = await client.call("Treasury", "ListFunds", {}, { metadata: { "x-request-id": "r-3" } });
    expect(outcome).toMatchObject({ status: "ABORTED", details: "Somebody was faster: \ufffd ünïcode\nand a line." });
    expect(outcome.metadata.getMap()).toMatchObject({
      "portcullis-code": "STORE_CONFLICT",
      "portcullis-retry": "now",
      "x-request-id": "r-3",
    });
  });

  it.each([
    ["throws anything else", async () => Promise.reject(new TypeError("password hunter2"))],
    ["throws no error at all", async () => Promise.reject("password hunter2")],
    ["answers what cannot be encoded", async () => ({ funds: 7 })],
  ])("that %s is INTERNAL without the reason, which is in the log", async (_name, handler) => {
    const { client, lines } = await serve([treasury(handler)]);
    const outcome = await client.call("Treasury", "ListFunds", {}, { metadata: { "x-request-id": "r-4" } });
    expect(outcome.status).toBe("INTERNAL");
    expect(outcome.details).not.toContain("hunter2");
    expect(outcome.details).toContain("r-4");
    expect(lines).toContainEqual(
      expect.objectContaining({ level: "error", fields: expect.objectContaining({ request_id: "r-4" }) }),
    );
  });

  it("that finds a defect is answered and then ends the program", async () => {
    const { client, deaths } = await serve([treasury(async () => Promise.reject(new Defect("we were wrong")))]);
    expect((await client.call("Treasury", "ListFunds", {})).status).toBe("INTERNAL");
    await expect.poll(() => deaths.map(({ message }) => message)).toEqual(["we were wrong"]);
  });

  it("learns through its signal that the caller's deadline passed", async () => {
    const aborted: boolean[] = [];
    const { client } = await serve([
      treasury(async (_request, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        aborted.push(signal.aborted);
        return { funds: [] };
      }),
    ]);
    expect((await client.call("Treasury", "ListFunds", {}, { deadlineMs: 100 })).status).toBe("DEADLINE_EXCEEDED");
    await expect.poll(() => aborted).toEqual([true]);
  });
});

describe("bounds", () => {
  const forever = () => new Promise<never>(() => undefined);

  it("a call is given up at the server's bound", async () => {
    const signals: AbortSignal[] = [];
    const slow = treasury((_request, { signal }) => {
      signals.push(signal);
      return forever();
    });
    const { client } = await serve([slow], { limits: { callMsMax: 50 } });
    const outcome = await client.call("Treasury", "ListFunds", {});
    expect(outcome).toMatchObject({ status: "DEADLINE_EXCEEDED" });
    expect(outcome.metadata.get("portcullis-code")).toEqual(["DEADLINE_EXCEEDED"]);
    expect(signals[0]?.aborted).toBe(true);
  });

  it("a message over the limit is refused, the next one is served", async () => {
    const { client } = await serve([treasury(async () => ({ funds: [] }))], { limits: { receiveBytesMax: 1_000 } });
    const big = await client.rawCall("/svc.v1.Treasury/ListFunds", Buffer.alloc(2_000));
    expect(big.status).toBe("RESOURCE_EXHAUSTED");
    expect((await client.call("Treasury", "ListFunds", {})).status).toBe("OK");
  });

  it("22.11: a message over the limit, and bytes that are no message, are counted for their caller", async () => {
    const { client, observations } = await serve([treasury(async () => ({ funds: [] }))], {
      limits: { receiveBytesMax: 1_000 },
    });
    const path = "/svc.v1.Treasury/ListFunds";
    for (const bytes of [Buffer.alloc(2_000), Buffer.from([0x0a, 0xff])]) await client.rawCall(path, bytes);
    expect((await client.call("Treasury", "ListFunds", {})).status).toBe("OK");
    const counted = () => observations.filter(({ name }) => name === "portcullis_bad_requests_total");
    await expect.poll(() => counted().length).toBe(2);
    expect(counted().map(({ labels }) => labels)).toEqual(
      expect.arrayContaining(
        ["oversized", "malformed"].map((kind) => ({ face: "grpc", caller: "operator:everyRole", kind })),
      ),
    );
  });

  it("one call too many at once is refused at once", async () => {
    const release: (() => void)[] = [];
    const held = treasury(() => new Promise((resolve) => release.push(() => resolve({ funds: [] }))));
    const { client } = await serve([held], { limits: { callsInFlightMax: 2 } });
    const first = [client.call("Treasury", "ListFunds", {}), client.call("Treasury", "ListFunds", {})];
    await expect.poll(() => release.length).toBe(2);
    expect((await client.call("Treasury", "ListFunds", {})).status).toBe("RESOURCE_EXHAUSTED");
    for (const go of release) go();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual(["OK", "OK"]);
    const last = client.call("Treasury", "ListFunds", {});
    await expect.poll(() => release.length).toBe(3);
    release[2]?.();
    expect((await last).status).toBe("OK");
  });

  it("one connection too many is dropped", async () => {
    const { server, client } = await serve([treasury(async () => ({ funds: [] }))], { limits: { connectionsMax: 1 } });
    expect((await client.call("Treasury", "ListFunds", {})).status).toBe("OK");
    const other = testClient(server.address, { token: everyRole });
    closers.push(() => other.close());
    expect((await other.call("Treasury", "ListFunds", {}, { deadlineMs: 300 })).status).not.toBe("OK");
    expect((await client.call("Treasury", "ListFunds", {})).status).toBe("OK");
  });
});

describe("malformed input does no harm", () => {
  const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  const seed = Number(process.env["PORTCULLIS_TEST_SEED"] ?? randomInt(2 ** 31));
  const noise = Buffer.concat(
    Array.from({ length: 128 }, (_, block) => createHash("sha256").update(`${seed}/${block}`).digest()),
  );
  const cases: readonly (readonly [string, Buffer])[] = [
    ["noise", noise],
    ["HTTP/1.1", Buffer.from("GET / HTTP/1.1\r\nhost: a\r\n\r\n")],
    ["a preface and noise", Buffer.concat([preface, noise])],
    ["settings and noise", Buffer.concat([preface, settings, noise])],
    ["a frame longer than allowed", Buffer.concat([preface, settings, Buffer.from([255, 255, 255, 0, 0, 0, 0, 0, 1])])],
    [
      "headers that are not",
      Buffer.concat([preface, settings, Buffer.from([0, 0, 4, 1, 5, 0, 0, 0, 1, 255, 255, 255, 255])]),
    ],
    ["data on a stream that is not", Buffer.concat([preface, settings, Buffer.from([0, 0, 1, 0, 1, 0, 0, 0, 9, 1])])],
    ["half a preface", preface.subarray(0, 10)],
    ["nothing", Buffer.alloc(0)],
  ];

  it(`whole connections of it (seed ${seed})`, async () => {
    const { server, client } = await serve([treasury(async () => ({ funds: [] }))]);
    for (const [name, bytes] of cases) {
      await new Promise<void>((resolve) => {
        const socket = connect({ host: "127.0.0.1", port: portOf(server.address) });
        socket.on("error", () => undefined);
        socket.on("close", () => resolve());
        socket.on("data", () => undefined);
        socket.write(bytes);
        setTimeout(() => socket.destroy(), 30);
      });
      expect([name, (await client.call("Treasury", "ListFunds", {})).status]).toEqual([name, "OK"]);
    }
  });

  it("bytes that are no message are the caller's mistake", async () => {
    const { client } = await serve([
      { name: "Research", handlers: { ListStrategies: async () => ({ strategies: [] }) } },
    ]);
    for (const bytes of [Buffer.from([0x0a, 0xff]), Buffer.from([0x0a, 0x7f, 1]), Buffer.from([0x0a, 2, 0xff, 0xff])]) {
      const outcome = await client.call("Research", "ListStrategies", {}, { bytes });
      expect(outcome.status).toBe("INVALID_ARGUMENT");
      expect(outcome.metadata.get("portcullis-code")).toEqual(["INVALID_ARGUMENT"]);
    }
    expect((await client.call("Research", "ListStrategies", {})).status).toBe("OK");
  });

  it("paths that do not exist are UNIMPLEMENTED", async () => {
    const { client } = await serve([]);
    for (const path of ["/svc.v1.Treasury/ListFunds", "/svc.v1.Treasury/Nothing", "/x", "/"]) {
      expect((await client.rawCall(path, Buffer.alloc(0))).status).toBe("UNIMPLEMENTED");
    }
  });

  it("callers that hang up in the middle of a call", async () => {
    const hungUp: string[] = [];
    const { server, client } = await serve([
      treasury(async (_request, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        hungUp.push("yes");
        return { funds: [] };
      }),
    ]);
    const leaver = testClient(server.address, { token: everyRole });
    const call = leaver.client.makeUnaryRequest(
      "/svc.v1.Treasury/ListFunds",
      (raw: Buffer) => raw,
      (raw) => raw,
      Buffer.alloc(0),
      leaver.metadataOf({}),
      () => undefined,
    );
    setTimeout(() => call.cancel(), 100);
    await expect.poll(() => hungUp).toEqual(["yes"]);
    leaver.close();
    expect((await client.call("Instance", "GetHealth", {})).status).toBe("OK");
  });
});

describe("every server", () => {
  it("tells its own health and metrics", async () => {
    const health: Health[] = [{ status: "ok" }, { status: "failing", complaint: "no database" }];
    const { client } = await serve([], {
      health: () => health.shift() ?? { status: "starting" },
      metricsJson: async () => '[{"name":"ü"}]',
    });
    expect((await client.call("Instance", "GetHealth", {})).answer).toEqual({ status: "ok", complaint: undefined });
    expect((await client.call("Instance", "GetHealth", {})).answer).toEqual({
      status: "failing",
      complaint: "no database",
    });
    const { answer } = await client.call("Instance", "GetMetrics", {});
    const bytes = (answer as { readonly metrics_json: Uint8Array }).metrics_json;
    expect(Buffer.from(bytes).toString("utf8")).toBe('[{"name":"ü"}]');
  });
});
