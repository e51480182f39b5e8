// A client over plain HTTP/2 that sends what it is told, however it is told: at once, in drips, half, or with the line cut. What a gRPC
// library would never let through goes through here.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Prng } from "../virtual/prng.ts";

export type Delivery = "at once" | "in pieces" | "byte by byte" | "reset half way" | "never finished" | "hung up";

export interface Reply {
  /** grpc-status, or undefined when none came. */
  readonly status: number | undefined;
  readonly details: string;
  /** Everything that came back as data. */
  readonly body: Buffer;
  /** Whether the connection was over when the call was. */
  readonly isCutOff: boolean;
}

export interface Sending {
  readonly path: string;
  readonly frame: Buffer;
  readonly delivery: Delivery;
  readonly encoding?: string | undefined;
}

export interface HostileCaller {
  send(sending: Sending): Promise<Reply>;
  close(): void;
}

/** How long an answer may take before it counts as never given. */
const answerMsMax = 20_000;
const unfinishedMs = 30;

export function hostileCaller(address: string, token: string, prng: Prng): HostileCaller {
  let session: ClientHttp2Session | undefined;

  function open(): ClientHttp2Session {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    // The server's bounds are under test, not this client's.
    session = connect(`http://${address}`, { maxSessionMemory: 1_000 });
    // Being cut off is what a hostile client must expect.
    session.on("error", () => undefined);
    return session;
  }

  return {
    send({ path, frame, delivery, encoding }) {
      const own = open();
      const stream = own.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${token}`,
        ...(encoding === undefined ? {} : { "grpc-encoding": encoding }),
      });
      const reply = replyOf(stream, own);
      void deliver(stream, own, frame, delivery, prng);
      return reply;
    },
    close: () => session?.destroy(),
  };
}

function replyOf(stream: ClientHttp2Stream, session: ClientHttp2Session): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status: number | undefined;
    let details = "";
    const learn = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers["grpc-status"] === undefined) return;
      status = Number(headers["grpc-status"]);
      details = decodeURIComponent(String(headers["grpc-message"] ?? ""));
    };
    const late = setTimeout(() => {
      stream.destroy();
      reject(new Error(`no answer within ${answerMsMax} ms`));
    }, answerMsMax);
    stream.on("response", learn);
    stream.on("trailers", learn);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => undefined);
    stream.on("close", () => {
      clearTimeout(late);
      resolve({ status, details, body: Buffer.concat(chunks), isCutOff: session.closed || session.destroyed });
    });
  });
}

async function deliver(
  stream: ClientHttp2Stream,
  session: ClientHttp2Session,
  frame: Buffer,
  delivery: Delivery,
  prng: Prng,
): Promise<void> {
  const half = frame.subarray(0, Math.floor(frame.length / 2));
  switch (delivery) {
    case "at once":
      stream.end(frame);
      return;
    case "in pieces":
    case "byte by byte":
      for (let at = 0; at < frame.length && !stream.destroyed; ) {
        const size = delivery === "in pieces" ? 1 + prng.below(Math.ceil(frame.length / 3)) : 1;
        stream.write(frame.subarray(at, at + size));
        at += size;
        await new Promise((resolve) => setImmediate(resolve));
      }
      stream.end();
      return;
    case "reset half way":
      stream.write(half);
      setImmediate(() => stream.close(prng.chance(0.5) ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_INTERNAL_ERROR));
      return;
    case "never finished":
      stream.write(frame);
      setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), unfinishedMs);
      return;
    case "hung up":
      stream.write(half);
      setImmediate(() => session.destroy());
      return;
  }
}
