// Health and reflection as any gRPC tool would ask for them, and what draining does to calls and streams.
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { Client, credentials, loadPackageDefinition, type ServiceClientConstructor, status } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { afterEach, describe, expect, it } from "vitest";
import type { Health } from "../../ports/health.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import { healthServiceName, loadHealthPackage } from "./health-service.ts";
import { grpcLimitsDefault } from "./limits.ts";
import { type Answering, answerWith } from "./reflection.ts";
import { type GrpcServerOptions, serveGrpc } from "./server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(services: readonly RpcService[], options: Partial<GrpcServerOptions> = {}) {
  const server = await serveGrpc({
    ...testPorts().ports,
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
  const target = "port" in server.address ? `127.0.0.1:${server.address.port}` : "";
  const client = testClient(server.address, { token: everyRole });
  closers.push(() => client.close());
  return { server, target, client };
}

async function healthClient(target: string): Promise<Client & Record<string, (...all: unknown[]) => unknown>> {
  const definition = (await loadHealthPackage())[healthServiceName];
  const loaded = loadPackageDefinition({ Health: definition as never })["Health"] as ServiceClientConstructor;
  const client = new loaded(target, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  closers.push(() => client.close());
  return client as never;
}

async function check(target: string, service: string): Promise<string> {
  const client = await healthClient(target);
  return new Promise((resolve) => {
    client["Check"]?.({ service }, (error: { code: number } | null, answer?: { status: string }) =>
      resolve(error === null ? (answer?.status ?? "") : `error ${error.code}`),
    );
  });
}

interface Watching {
  readonly seen: string[];
  readonly ended: Promise<unknown>;
}

async function watch(target: string, service: string): Promise<Watching> {
  const client = await healthClient(target);
  const stream = client["Watch"]?.({ service }) as NodeJS.EventEmitter;
  const seen: string[] = [];
  stream.on("data", (answer: { status: string }) => seen.push(answer.status));
  stream.on("error", (error: { code: number }) => seen.push(`error ${error.code}`));
  return { seen, ended: new Promise((resolve) => stream.on("status", resolve)) };
}

const treasury: RpcService = { name: "Treasury", handlers: {} };
const hourMs = 3_600_000;
/** Of the call gate. */
const farewellMs = 1_000;
const lifeMs = 60_000;

describe("health", () => {
  it.each([
    ["ok", "SERVING"],
    ["starting", "NOT_SERVING"],
    ["failing", "NOT_SERVING"],
  ] as const)("%s is %s, for the server and for each of its services", async (status, reported) => {
    const { target } = await serve([treasury], { health: () => ({ status }) });
    expect(await check(target, "")).toBe(reported);
    expect(await check(target, "svc.v1.Treasury")).toBe(reported);
    expect(await check(target, "svc.v1.Oms")).toBe("error 5");
  });

  it("a watcher is told every change and the end", async () => {
    let health: Health = { status: "starting" };
    const { server, target } = await serve([treasury], { health: () => health });
    const watching = await watch(target, "svc.v1.Treasury");
    const stranger = await watch(target, "svc.v1.Oms");
    await expect.poll(() => watching.seen).toEqual(["NOT_SERVING"]);
    health = { status: "ok" };
    await expect.poll(() => watching.seen).toEqual(["NOT_SERVING", "SERVING"]);
    expect(await server.drain(5_000)).toBe("drained");
    await Promise.all([watching.ended, stranger.ended]);
    expect(watching.seen).toEqual(["NOT_SERVING", "SERVING", "NOT_SERVING"]);
    expect(stranger.seen).toEqual(["SERVICE_UNKNOWN"]);
  });

  it("watchers are bounded, and one that leaves makes room", async () => {
    const { target } = await serve([], { limits: { watchersMax: 1 } });
    const first = await healthClient(target);
    const stream = first["Watch"]?.({ service: "" }) as NodeJS.EventEmitter & { cancel(): void };
    stream.on("error", () => undefined);
    await new Promise((resolve) => stream.once("data", resolve));
    expect(await (await watch(target, "")).ended).toMatchObject({ code: 8 });
    stream.cancel();
    await expect
      .poll(
        async () => {
          const next = await watch(target, "");
          // Its place or its refusal: one that is left behind here would hold the place itself.
          await expect.poll(() => next.seen).not.toEqual([]);
          return next.seen;
        },
        { timeout: 10_000 },
      )
      .toEqual(["SERVING"]);
  });
});

describe("reflection", () => {
  const proto = {
    nested: {
      Request: {
        fields: { list_services: { type: "string", id: 7 }, file_containing_symbol: { type: "string", id: 4 } },
      },
      Named: { fields: { name: { type: "string", id: 1 } } },
      List: { fields: { service: { rule: "repeated", type: "Named", id: 1 } } },
      Files: { fields: { file_descriptor_proto: { rule: "repeated", type: "bytes", id: 1 } } },
      Answer: { fields: { files: { type: "Files", id: 4 }, list: { type: "List", id: 6 } } },
      Reflection: {
        methods: {
          Info: { requestType: "Request", responseType: "Answer", requestStream: true, responseStream: true },
        },
      },
    },
  };

  async function reflect(target: string, version: string, question: object): Promise<Record<string, unknown>> {
    const loaded = fromJSON(proto as never, { keepCase: true })["Reflection"] as unknown as {
      readonly Info: {
        readonly requestSerialize: (value: object) => Buffer;
        readonly responseDeserialize: (bytes: Buffer) => Record<string, unknown>;
      };
    };
    const client = new Client(target, credentials.createInsecure());
    closers.push(() => client.close());
    const stream = client.makeBidiStreamRequest(
      `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      loaded.Info.requestSerialize,
      loaded.Info.responseDeserialize,
    );
    return new Promise((resolve, reject) => {
      stream.on("data", (answer: Record<string, unknown>) => {
        resolve(answer);
        stream.end();
      });
      stream.on("error", reject);
      stream.write(question);
    });
  }

  /** A stream of questions whose answers nobody reads for a while; resolves with the status that ended it. */
  async function flood(target: string, questions: number, isOver?: Promise<unknown>): Promise<number> {
    const asIs = (bytes: Buffer): Buffer => bytes;
    const client = new Client(target, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    closers.push(() => client.close());
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const stream = client.makeBidiStreamRequest(path, asIs, asIs);
    const symbol = Buffer.from("svc.v1.RiskEngine");
    const question = Buffer.concat([Buffer.from([0x22, symbol.length]), symbol]);
    const ended = new Promise<number>((resolve) => stream.on("error", ({ code }: { code: number }) => resolve(code)));
    stream.pause();
    for (let index = 0; index < questions; index += 1) stream.write(question);
    await isOver;
    // What came is read now, so that the end is seen as well.
    stream.on("data", () => undefined);
    stream.resume();
    return ended;
  }

  it("questions are left unread while answers are not taken", () => {
    const seen: string[] = [];
    const call = Object.assign(new EventEmitter(), {
      write: () => false,
      pause: () => seen.push("pause"),
      resume: () => seen.push("resume"),
      end: () => seen.push("end"),
    });
    const definition = { requestDeserialize: (bytes: Buffer) => bytes, responseSerialize: () => Buffer.of(1) };
    const answering = {
      definition,
      answer: (stream: Parameters<Answering["answer"]>[0]) => stream.on("data", (one) => stream.write(one)),
    };
    answerWith(answering as never, call as never, testPorts().ports.random, 10);
    call.emit("data", Buffer.of(1));
    expect(seen).toEqual(["pause"]);
    call.emit("drain");
    expect(seen).toEqual(["pause", "resume"]);
  });

  it("a stream that nobody reads lives so long, and others are served", { timeout: 60_000 }, async () => {
    const seen = seenTimers();
    // However long the test takes to read the goodbye, it is not cut off meanwhile.
    const timers = {
      ...seen,
      after: (ms: number, run: () => void) => seen.after(ms === farewellMs ? hourMs : ms, run),
    };
    const { target } = await serve([treasury, { name: "RiskEngine", handlers: {} }], {
      limits: { ...grpcLimitsDefault, schemaStreamMsMax: lifeMs, schemaQuestionsMax: 1_000_000 },
      timers,
    });
    await reflect(target, "v1", { list_services: "*" });
    await expect.poll(() => seen.pendingOf(lifeMs)).toBe(0);
    const isOver = expect
      .poll(() => seen.pendingOf(lifeMs))
      .toBe(4)
      .then(() => seen.fire(lifeMs));
    const ends = await Promise.all(Array.from({ length: 4 }, () => flood(target, 20_000, isOver)));
    expect(ends).toEqual(ends.map(() => status.RESOURCE_EXHAUSTED));
    expect(await reflect(target, "v1", { list_services: "*" })).toHaveProperty("list");
  });

  it("one stream has so many questions, and there are so many streams at once", async () => {
    const limits = { ...grpcLimitsDefault, schemaQuestionsMax: 5, schemaStreamsMax: 2 };
    const { target } = await serve([treasury], { limits });
    expect(await flood(target, 6)).toBe(status.RESOURCE_EXHAUSTED);
    const asIs = (bytes: Buffer): Buffer => bytes;
    const client = new Client(target, credentials.createInsecure());
    closers.push(() => client.close());
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const idle = [1, 2].map(() => client.makeBidiStreamRequest(path, asIs, asIs));
    for (const one of idle) one.on("error", () => undefined);
    await expect
      .poll(() => reflect(target, "v1", { list_services: "*" }).catch(({ code }: { code: number }) => code), {
        timeout: 10_000,
      })
      .toBe(status.RESOURCE_EXHAUSTED);
    for (const one of idle) one.cancel();
    await expect
      .poll(() => reflect(target, "v1", { list_services: "*" }).catch(() => ({})), { timeout: 10_000 })
      .toHaveProperty("list");
  });

  it.each(["v1", "v1alpha"])("%s lists what this server serves and describes it", async (version) => {
    const { target } = await serve([treasury, { name: "RiskEngine", handlers: {} }]);
    const answer = await reflect(target, version, { list_services: "*" });
    const named = (answer["list"] as { service: { name: string }[] }).service.map(({ name }) => name);
    expect(named.sort()).toEqual(["grpc.health.v1.Health", "svc.v1.Instance", "svc.v1.RiskEngine", "svc.v1.Treasury"]);
    for (const symbol of [...named, "svc.v1.Order", "svc.v1.RiskEngine.CheckOrder"]) {
      const { files } = await reflect(target, version, { file_containing_symbol: symbol });
      const bytes = (files as { file_descriptor_proto: Buffer[] }).file_descriptor_proto;
      expect(bytes.length).toBeGreaterThan(0);
    }
  });

  it("bytes that are no question are refused, and the next call is answered", async () => {
    const { target } = await serve([treasury]);
    const client = new Client(target, credentials.createInsecure());
    closers.push(() => client.close());
    const asIs = (bytes: Buffer): Buffer => bytes;
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const stream = client.makeBidiStreamRequest(path, asIs, asIs);
    const refused = new Promise((resolve) => stream.on("error", resolve));
    stream.on("data", () => undefined);
    // A field of a type that there is not.
    stream.write(Buffer.from([0xa7, 0x01]));
    expect(await refused).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(await reflect(target, "v1", { list_services: "*" })).toHaveProperty("list");
  });
});

describe("drain", () => {
  function held() {
    const waiting: ((answer: object) => void)[] = [];
    const ListFunds = () => new Promise<unknown>((resolve) => waiting.push(resolve));
    return { waiting, service: { name: "Treasury", handlers: { ListFunds } } };
  }

  it("finishes calls in flight and takes no new connection", async () => {
    const { waiting, service } = held();
    const { server, client } = await serve([service]);
    const call = client.call("Treasury", "ListFunds", {});
    await expect.poll(() => waiting.length).toBe(1);
    const drained = server.drain(10_000);
    const late = testClient(server.address, { token: everyRole });
    closers.push(() => late.close());
    expect((await late.call("Treasury", "ListFunds", {})).status).toBe("UNAVAILABLE");
    waiting[0]?.({ funds: [] });
    expect((await call).status).toBe("OK");
    expect(await drained).toBe("drained");
  });

  it("with only idle connections ends at once", async () => {
    const { server, client } = await serve([]);
    expect((await client.call("Instance", "GetHealth", {})).status).toBe("OK");
    // Waiting for its bound would be longer than this test may take.
    expect(await server.drain(600_000)).toBe("drained");
  });

  it("does not wait for a connection that never said anything", async () => {
    const { server } = await serve([]);
    const port = "port" in server.address ? server.address.port : 0;
    const silent = connect(port, "127.0.0.1");
    closers.push(() => silent.destroy());
    await once(silent, "connect");
    expect(await server.drain(600_000)).toBe("drained");
  });

  it("cuts what does not finish within the bound, and twice is once", async () => {
    const { waiting, service } = held();
    const { server, client } = await serve([service]);
    const call = client.call("Treasury", "ListFunds", {});
    await expect.poll(() => waiting.length).toBe(1);
    expect(await Promise.all([server.drain(50), server.drain(10_000)])).toEqual(["forced", "forced"]);
    expect((await call).status).not.toBe("OK");
  });
});
