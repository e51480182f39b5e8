// A C2SP witness over HTTP: POST /add-checkpoint takes a log's checkpoint with the proof that it continues the last one, and answers with a
// cosignature; GET / says which key it signs with. Requests are decided one after the other, so that what is kept is what was compared. A
// connection has one request and a short time for it: whoever is slow must not shut a log out.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf } from "../../contracts/src/fault.ts";
import { createTreeHash } from "../../core/audit/merkle.ts";
import { cosignatureType, makeVerifierKey, type VerifierKey } from "../../core/audit/signed-note.ts";
import { type AddCheckpointAnswer, decideAddCheckpoint } from "../../core/audit/witness.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Signing } from "../../ports/signing.ts";
import { systemSha256OfBytes } from "../system/signing.ts";
import { boundConnections } from "./bounded-connections.ts";
import type { WitnessFolder } from "./witness-folder.ts";

interface WitnessServerOptions {
  /** The name under which it cosigns. */
  readonly name: string;
  /** The logs it knows: checkpoints of any other origin are refused. */
  readonly logs: readonly VerifierKey[];
  readonly folder: WitnessFolder;
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly signing: Signing;
  readonly log: Log;
  /** For a request's last byte. */
  readonly requestMsMax?: number;
}

interface WitnessServer {
  readonly url: string;
  readonly vkey: string;
  close(): Promise<void>;
}

/** A log has one request at a time, and all of its bytes are there at once. */
const bounds = { perAddressMax: 16, allMax: 512, requestMsMax: 5_000 };
/** An old size, 63 hashes and a checkpoint with the signatures of as many witnesses as a policy may have. */
const bodyBytesMax = 32_768;
const discardedBytesMax = 1_048_576;
/** Requests that wait for their turn; a witness has a few logs, each with one request at a time. */
const waitingMax = 64;

export async function serveWitness(options: WitnessServerOptions): Promise<WitnessServer> {
  const { folder, log } = options;
  const key = makeVerifierKey(options.name, cosignatureType, folder.key.publicKey, systemSha256OfBytes);
  const tree = createTreeHash(systemSha256OfBytes);
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  /** Decides and keeps; nobody else does either in between. */
  async function add(body: string): Promise<AddCheckpointAnswer> {
    const answer = decideAddCheckpoint(body, {
      logOf: (origin) => {
        const keys = options.logs.filter(({ name }) => name === origin);
        return keys.length === 0 ? undefined : { keys, state: folder.stateOf(origin) };
      },
      witness: { key, sign: folder.key.sign },
      tree,
      verifySignature: options.signing.verify,
      nowUs: options.clock.now(),
    });
    if (answer.status === 200) await folder.keep(answer.origin, answer.keep);
    if (answer.status === 409 && answer.misbehaviour !== undefined) {
      log.error("a log has signed two histories", { origin: answer.misbehaviour.origin });
      await folder.keepPair("misbehaviour", answer.misbehaviour);
    }
    if (answer.status === 422 && answer.suspicion !== undefined) {
      // Whoever sent it may have had no proof: a person has to ask the log.
      log.warn("a log's checkpoint was not shown to continue what was cosigned", { origin: answer.suspicion.origin });
      await folder.keepPair("suspicion", answer.suspicion);
    }
    return answer;
  }

  function inTurn(body: string): Promise<AddCheckpointAnswer> {
    waiting += 1;
    const turn = last
      .then(() => add(body))
      .finally(() => {
        waiting -= 1;
      });
    last = turn.catch(() => undefined);
    return turn;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET" && request.url === "/") return send(response, 200, `${key.vkey}\n`);
    if (request.url !== "/add-checkpoint") return send(response, 404, "POST /add-checkpoint\n");
    if (request.method !== "POST") return send(response, 405, "POST /add-checkpoint\n");
    const body = await bodyOf(request);
    if (body === undefined) return send(response, 413, "the request is too long\n");
    connections.heard(request.socket);
    if (waiting >= waitingMax) return send(response, 503, "too many requests wait\n");
    const decided = await inTurn(body);
    log.info("checkpoint submitted", { status: decided.status });
    const type = "contentType" in decided ? decided.contentType : "text/plain; charset=utf-8";
    send(response, decided.status, decided.body, type);
  }

  const connections = boundConnections({ ...bounds, requestMsMax: options.requestMsMax ?? bounds.requestMsMax });
  const server = createServer((request, response) => {
    answer(request, response).catch((thrown: unknown) => {
      // Whoever was cut off or has gone is not waiting for an answer, and there may be many of them.
      if (request.socket.destroyed) return;
      log.error("a request could not be answered", { error: messageOf(thrown) });
      send(response, 500, "not cosigned\n");
    });
  });
  server.maxRequestsPerSocket = 1;
  server.on("connection", connections.opened);
  await listen(server, options.host, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}/`,
    vkey: key.vkey,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await last;
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Undefined when it is too long: then nothing of it is kept, and some more is read so that the caller hears why. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > discardedBytesMax) return undefined;
    if (length > bodyBytesMax) chunks.length = 0;
    else chunks.push(chunk);
  }
  if (length > bodyBytesMax) return undefined;
  return Buffer.concat(chunks).toString("utf8");
}

/** One answer, and the connection ends. */
function send(response: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8"): void {
  if (response.headersSent) return;
  const length = Buffer.byteLength(body);
  response.writeHead(status, { "content-type": type, "content-length": length, connection: "close" });
  response.end(body);
}
