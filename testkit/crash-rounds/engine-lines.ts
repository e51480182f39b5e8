// Lines to the engine for the crash rounds: unary calls or one stream, each over a connection of its own. Asking resolves to the bytes of
// the answer or rejects when there is none; a line survives the death of the engine and can be turned to another address.
import { Client, type ClientDuplexStream, credentials, Metadata } from "@grpc/grpc-js";
import { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { pause } from "../platform.ts";

export interface Line {
  ask(order: Order): Promise<Uint8Array>;
  turnTo(address: string, token: string): void;
  close(): void;
}

const answerMsMax = 8_000;
// A test does not wait a second before it looks whether the engine is back.
const reconnecting = {
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 200,
  "grpc.use_local_subchannel_pool": 1,
};
const same = (bytes: Buffer): Buffer => bytes;
const bytesOf = (order: Order): Buffer => Buffer.from(Order.encode(order).finish());

interface Connection {
  readonly client: Client;
  readonly metadata: Metadata;
}

function connect(address: string, token: string): Connection {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return { client: new Client(address, credentials.createInsecure(), reconnecting), metadata };
}

export function unaryLine(address: string, token: string): Line {
  let connection = connect(address, token);
  return {
    ask: (order) =>
      new Promise((resolve, reject) => {
        const { client, metadata } = connection;
        const options = { deadline: Date.now() + answerMsMax };
        const path = "/svc.v1.RiskEngine/CheckOrder";
        client.makeUnaryRequest(path, same, same, bytesOf(order), metadata, options, (error, answer) => {
          if (error !== null || answer === undefined) reject(error ?? new Error("no answer"));
          else resolve(answer);
        });
      }),
    turnTo(next, nextToken) {
      connection.client.close();
      connection = connect(next, nextToken);
    },
    close: () => connection.client.close(),
  };
}

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

interface OpenStream {
  readonly call: ClientDuplexStream<Buffer, Buffer>;
  readonly waiting: Map<string, Waiting>;
}

/** Answers are matched by order_id, so one order is asked about once at a time. */
export function streamLine(address: string, token: string): Line {
  let connection = connect(address, token);
  let open: OpenStream | undefined;

  function end(stream: OpenStream, error: Error): void {
    if (open === stream) open = undefined;
    for (const { reject } of stream.waiting.values()) reject(error);
    stream.waiting.clear();
  }

  function opened(): OpenStream {
    if (open !== undefined) return open;
    const call = connection.client.makeBidiStreamRequest(
      "/svc.v1.RiskEngine/CheckOrders",
      same,
      same,
      connection.metadata,
    );
    const stream: OpenStream = { call, waiting: new Map() };
    call.on("data", (bytes: Buffer) => {
      const { order_id: orderId } = RiskDecision.decode(bytes);
      stream.waiting.get(orderId)?.resolve(bytes);
      stream.waiting.delete(orderId);
    });
    call.on("error", (error) => end(stream, error));
    call.on("end", () => end(stream, new Error("the stream ended")));
    open = stream;
    return stream;
  }

  return {
    async ask(order) {
      while (open?.waiting.has(order.order_id) === true) await pause(1);
      const stream = opened();
      let late: NodeJS.Timeout | undefined;
      try {
        return await new Promise<Uint8Array>((resolve, reject) => {
          stream.waiting.set(order.order_id, { resolve, reject });
          late = setTimeout(() => {
            end(stream, new Error(`no answer within ${answerMsMax} ms`));
            stream.call.cancel();
          }, answerMsMax);
          stream.call.write(bytesOf(order));
        });
      } finally {
        clearTimeout(late);
      }
    },
    turnTo(next, nextToken) {
      connection.client.close();
      if (open !== undefined) end(open, new Error("the line was turned to another address"));
      connection = connect(next, nextToken);
    },
    close() {
      open?.call.cancel();
      connection.client.close();
    },
  };
}
