// Where the platform is and who we are: stubs from the protos, a token, clear text on this machine or TLS.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const dataFolder = process.env["PORTCULLIS_DATA_DIR"] ?? ".portcullis";
const written = (name: string) => JSON.parse(readFileSync(join(dataFolder, name), "utf8")) as Record<string, unknown>;
const addressOf = (variable: string, service: string): string =>
  process.env[variable] ?? String((written("run.json")["addresses"] as Record<string, string>)[service]);

const definition = loadSync(["svc/v1/riskengine.proto", "svc/v1/foreign.proto", "svc/v1/events.proto"], {
  includeDirs: [process.env["PROTOS"] ?? fileURLToPath(new URL("../../contracts/proto/", import.meta.url))],
  keepCase: true,
  defaults: true,
  arrays: true,
  longs: Number,
  enums: String,
});
const { v1 } = (
  loadPackageDefinition(definition) as unknown as { svc: { v1: Record<string, ServiceClientConstructor> } }
).svc;

const authority = process.env["CA_FILE"];
const transport =
  authority === undefined ? credentials.createInsecure() : credentials.createSsl(readFileSync(authority));
// Without this a channel waits for up to two minutes before it tries a platform again that was restarted.
const options = { "grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 1_000 };

function stub(name: string, address: string) {
  const Service = v1[name];
  if (Service === undefined) throw new Error(`the protos have no ${name}`);
  return new Service(address, transport, options);
}

const metadata = new Metadata();
const tokenFile = process.env["TOKEN_FILE"];
const token =
  tokenFile === undefined
    ? String(written("dev-credentials.json")["service_token"])
    : readFileSync(tokenFile, "utf8").trim();
metadata.set("authorization", `Bearer ${token}`);

const operations = addressOf("OPERATIONS", "operations");
export const engine = stub("RiskEngine", addressOf("RISK_ENGINE", "riskengine"));
const foreign = stub("ForeignEvents", operations);
const events = stub("Events", operations);

/** One call. What a failure means for the order: docs/errors.md. */
export function ask<Answer>(name: string, request: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, answer: Answer) => (error === null ? resolve(answer) : reject(error));
    const call = engine[name] as (...given: unknown[]) => void;
    call.call(engine, request, metadata, { deadline: Date.now() + 5_000 }, done);
  });
}

export interface Receipt {
  readonly id: string;
  readonly accepted: boolean;
  readonly code: string;
  readonly reason: string;
}

export interface EventPage {
  readonly events: readonly { readonly subject: string }[];
  readonly after: string;
  readonly reset: boolean;
}

type Stream<Request, Answer> = ClientDuplexStream<Request, Answer>;
type Opens = (given: Metadata) => unknown;
export const openPublish = (): Stream<object, Receipt> =>
  (foreign["Publish"] as Opens).call(foreign, metadata) as Stream<object, Receipt>;
export const openTail = (): Stream<object, EventPage> =>
  (events["TailEvents"] as Opens).call(events, metadata) as Stream<object, EventPage>;
