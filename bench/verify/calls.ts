// What identity costs a gRPC call as its caller sees it: GetEnvelope, answered at once, on four servers that differ in what they do
// before the handler. All get the same bytes and the same `authorization`, each on a connection of its own.
import {
  Client,
  credentials,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { codecOf, methodOf } from "../../adapters/grpc/definitions.ts";
import { serveGrpc } from "../../adapters/grpc/server.ts";
import { createMetrics } from "../../adapters/telemetry/prometheus-metrics.ts";
import { RiskEnvelope } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { Verifier } from "../../ports/identity.ts";
import { benchTools } from "../bus/ticket.ts";
import type { Fixture } from "./fixture.ts";

/**
 * `identity`: our server with our verifier. `no_check`: our server, and a verifier that believes everybody at once. `bare`: the gRPC
 * library alone. `by_hand`: the library alone, and jose's jwtVerify before the handler.
 */
export type CallName = "identity" | "no_check" | "bare" | "by_hand";

export interface CallOptions {
  readonly windows: number;
  readonly windowMs: number;
  readonly inFlight: readonly number[];
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

/** Window by window. */
export interface CallWindows {
  readonly calls_per_s: readonly number[];
  readonly p99_ms: readonly number[];
}

export type CallFigures = Readonly<Record<CallName, CallWindows>>;

interface Contender {
  readonly name: CallName;
  call(): Promise<void>;
  close(): Promise<void>;
}

const method = methodOf("RiskEngine", "GetEnvelope");
const [requestCodec, answerCodec] = [codecOf(method.requestType), codecOf(method.responseType)];
const envelope: RiskEnvelope = {
  ...RiskEnvelope.decode(new Uint8Array()),
  fund_id: "alpha",
  version: 7,
  max_position_pct: 0.07,
};

export async function measureCalls(fixture: Fixture, options: CallOptions): Promise<ReadonlyMap<number, CallFigures>> {
  const [token = ""] = await fixture.sign(1);
  const contenders: Contender[] = [];
  try {
    const everybody = await fixture.verifier.verify(token);
    const believing = { ...fixture.verifier, verify: () => Promise.resolve(everybody) };
    contenders.push(await openOurs("identity", fixture.verifier, token));
    contenders.push(await openOurs("no_check", believing, token));
    contenders.push(await openBare("bare", token, (_call, callback) => callback(null, envelope)));
    contenders.push(await openBare("by_hand", token, checkingByHand(fixture)));
    const found = new Map<number, CallFigures>();
    for (const inFlight of options.inFlight) found.set(inFlight, await measureLevel(contenders, inFlight, options));
    return found;
  } finally {
    await Promise.allSettled(contenders.map((contender) => contender.close()));
  }
}

async function measureLevel(
  contenders: readonly Contender[],
  inFlight: number,
  options: CallOptions,
): Promise<CallFigures> {
  const lane = () => ({ calls_per_s: [] as number[], p99_ms: [] as number[] });
  const found = { identity: lane(), no_check: lane(), bare: lane(), by_hand: lane() };
  for (let window = -1; window < options.windows; window += 1) {
    // Another one begins each time: none always runs in the wake of the same neighbour.
    const from = Math.max(0, window) % contenders.length;
    for (const contender of [...contenders.slice(from), ...contenders.slice(0, from)]) {
      const { rate, p99 } = await callFor(contender, inFlight, options);
      // The first window of each warms the compiler and the connection and is not counted.
      if (window < 0) continue;
      found[contender.name].calls_per_s.push(rate);
      found[contender.name].p99_ms.push(p99);
    }
    const said = Object.entries(found).map(([name, { calls_per_s, p99_ms }]) => {
      return `${name} ${Math.round(calls_per_s[window] ?? 0)}/s ${(p99_ms[window] ?? 0).toFixed(2)} ms`;
    });
    if (window >= 0) {
      options.progress(`window ${window + 1} of ${options.windows}, ${inFlight} at once: ${said.join(", ")}`);
    }
  }
  return found;
}

async function callFor({ call }: Contender, inFlight: number, { windowMs, signal }: CallOptions) {
  const latencies: number[] = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let at = performance.now(); at - began < windowMs; ) {
        signal.throwIfAborted();
        await call();
        const answeredAt = performance.now();
        latencies.push(answeredAt - at);
        at = answeredAt;
      }
    }),
  );
  const rate = (latencies.length * 1_000) / (performance.now() - began);
  latencies.sort((a, b) => a - b);
  return { rate, p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.POSITIVE_INFINITY };
}

/** As a service of the platform has it, figures included; only the log and the spans lead nowhere. */
async function openOurs(name: CallName, verifier: Verifier, token: string): Promise<Contender> {
  const metrics = createMetrics({ service: "bench" });
  const tools = { ...benchTools(), metrics };
  const server = await serveGrpc({
    ...tools,
    crash: {
      die: (defect) => {
        throw defect;
      },
    },
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the bench's gRPC server",
    environmentVariable: "PORTCULLIS_GRPC_PORT",
    services: [{ name: "RiskEngine", handlers: { GetEnvelope: async () => envelope } }],
    verifier,
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
  });
  const { call, hangUp } = openCaller("port" in server.address ? server.address.port : 0, token);
  return {
    name,
    call,
    async close() {
      hangUp();
      await server.drain(1_000);
      tools.timers.release();
      metrics.close();
    },
  };
}

type EnvelopeHandler = handleUnaryCall<unknown, RiskEnvelope>;

/** The same procedure as the library's own tutorial would have it. */
async function openBare(name: CallName, token: string, handler: EnvelopeHandler): Promise<Contender> {
  const server = new Server({ "grpc.enable_channelz": 0 });
  const definition = {
    path: method.path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message: unknown) => Buffer.from(requestCodec.encode(message).finish()),
    requestDeserialize: (bytes: Buffer) => requestCodec.decode(bytes),
    responseSerialize: (message: RiskEnvelope) => Buffer.from(answerCodec.encode(message).finish()),
    responseDeserialize: (bytes: Buffer) => answerCodec.decode(bytes) as RiskEnvelope,
  };
  server.addService({ GetEnvelope: definition }, { GetEnvelope: handler });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const { call, hangUp } = openCaller(port, token);
  return {
    name,
    call,
    async close() {
      hangUp();
      server.forceShutdown();
    },
  };
}

function checkingByHand({ verifyByHand }: Fixture): EnvelopeHandler {
  return (call, callback) => {
    const [sent] = call.metadata.get("authorization");
    verifyByHand(String(sent).slice("Bearer ".length)).then(
      () => callback(null, envelope),
      () => callback({ code: status.UNAUTHENTICATED }),
    );
  };
}

/** The caller lives in this process too, and costs every contender the same. */
function openCaller(port: number, token: string): { readonly call: () => Promise<void>; readonly hangUp: () => void } {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const bytes = Buffer.from(requestCodec.encode({ fund_id: "alpha" }).finish());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const asIs = (raw: Buffer): Buffer => raw;
  const decode = (raw: Buffer): unknown => answerCodec.decode(raw);
  const call = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (error: ServiceError | null): void => (error === null ? resolve() : reject(error));
      client.makeUnaryRequest(method.path, asIs, decode, bytes, metadata, end);
    });
  return { call, hangUp: () => client.close() };
}
