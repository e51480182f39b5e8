// The start-up check of every reach behind a library's interface: one call over a connection in memory, and what the driver has. A library that is built
// otherwise than the pinned one is found here, with a sentence, and not by the first call that goes wrong.
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { Server, ServerInterceptingCall, status } from "@grpc/grpc-js";
import pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import type { Timers } from "../../ports/timers.ts";
import { authorizationHeader } from "../grpc/bearer-token.ts";
import { preface } from "./library-hooks.ts";
import { internalsOff, internalsOn, type LibraryInternals, type reaches } from "./library-internals.ts";

type ReachName = (typeof reaches)[number]["name"];

const checkMsMax = 20_000;

/** What the switch asks for; a Fault that names what does not hold when a library is built otherwise. */
export async function openLibraryInternals(
  isOn: boolean,
  timers: Timers,
  internals = internalsOn,
): Promise<LibraryInternals> {
  if (!isOn) return internalsOff;
  const broken = [...(await brokenInServer(internals, timers)), ...brokenInDriver()];
  if (broken.length === 0) return internals;
  throw new Fault(
    "SERVICE_START_FAILED",
    `The installed grpc-js or pg is built otherwise than the pinned one: ${broken.join(", ")} cannot be reached. ` +
      "Install the versions of package-lock.json (npm ci), or set PORTCULLIS_LIBRARY_INTERNALS=false, which does without " +
      "(docs/configuration.md says what is lost).",
    { retry: "never", facts: { broken: broken.join(", ") } },
  );
}

/** One call to a path that nobody registered, with two authorization headers. */
async function brokenInServer(internals: LibraryInternals, timers: Timers): Promise<readonly ReachName[]> {
  const seen = new Set<ReachName>();
  const server = new Server({
    // As ours: the library takes another way in with it.
    "grpc.enable_channelz": 0,
    interceptors: [
      (_method, call) =>
        new ServerInterceptingCall(call, {
          start: (next) =>
            next({
              onReceiveMetadata: (metadata) => {
                seen.add("paths that nobody registered");
                if (metadata.get(authorizationHeader).length === 2) seen.add("several authorization headers");
                if (internals.streamOf(call)?.session !== undefined) seen.add("the stream of a call");
                call.sendStatus({ code: status.OK, details: "" });
              },
            }),
        }),
    ],
  });
  const done = new AbortController();
  const asked = async (): Promise<void> => {
    internals.hookServer(server);
    const [near, far] = duplexPair();
    internals.injector(server)(far as Socket, () => seen.add("the beginning of a connection"));
    await callOnce(near);
  };
  try {
    // What fails inside shows as a reach that was not seen.
    await Promise.race([asked().catch(() => undefined), timers.sleep(checkMsMax, done.signal)]);
  } finally {
    done.abort();
    server.forceShutdown();
  }
  const all: readonly ReachName[] = [
    "paths that nobody registered",
    "several authorization headers",
    "the beginning of a connection",
    "the stream of a call",
  ];
  return all.filter((name) => !seen.has(name));
}

const headersFrame = 1;

/** Byte by byte, because Node's own client sends no header twice; over when the server has answered. */
function callOnce(near: Duplex): Promise<void> {
  const answered = new Promise<void>((resolve, reject) => {
    near.on("error", reject);
    near.on("data", (bytes: Buffer) => {
      for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
        if (bytes[at + 3] === headersFrame) setImmediate(resolve);
      }
    });
  });
  near.write(callBytes());
  return answered;
}

function callBytes(): Buffer {
  const frame = (type: number, flags: number, id: number, payload: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, id]), payload]);
  const text = (words: string): Buffer => Buffer.concat([Buffer.from([words.length]), Buffer.from(words, "latin1")]);
  // POST, http, then names by their numbers in HPACK's list: :authority, :path, content-type, authorization.
  const headers = Buffer.concat([
    Buffer.from([0x83, 0x86, 0x01]),
    text("a"),
    Buffer.from([0x04]),
    text("/portcullis/self-check"),
    Buffer.from([0x0f, 0x10]),
    text("application/grpc"),
    ...["one", "two"].flatMap((value) => [Buffer.from([0x0f, 0x08]), text(value)]),
  ]);
  const settings = frame(4, 0, 0, Buffer.alloc(0));
  return Buffer.concat([preface, settings, frame(headersFrame, 4, 1, headers), frame(0, 1, 1, Buffer.alloc(5))]);
}

/** What a prepared call uses of the driver. */
function brokenInDriver(): readonly ReachName[] {
  const { connection } = new pg.Client() as unknown as { readonly connection?: Record<string, unknown> };
  const query = pg.Query.prototype as unknown as Record<string, unknown>;
  const isWhole =
    typeof query["submit"] === "function" &&
    typeof query["handleDataRow"] === "function" &&
    typeof connection?.["parse"] === "function" &&
    typeof connection["parsedStatements"] === "object" &&
    typeof connection["submittedNamedStatements"] === "object";
  return isWhole ? [] : ["a call that is ready for the wire"];
}
