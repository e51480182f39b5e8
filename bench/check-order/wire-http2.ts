// HTTP/2 as plain bytes on a socket, as much of it as a load generator needs: one block of headers that never changes, data, and the ends of
// streams. Node's own client would use as much of the processor as the server that is being measured.
//
// What a header says is not read: an answer without a message is a failure whatever its status was.
import { createConnection, type Socket } from "node:net";

const frame = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;
const headBytes = 9;
/** As large as a window may be: nothing that is measured here comes near it, so none is ever given back. */
const windowMax = 2_147_483_647;
const windowDefault = 65_535;
const streamsSetting = 3;
const initialWindowSetting = 4;
const framePayloadMax = 16_384;

export interface WireStream {
  /** More of the request; `last` ends it. */
  write(bytes: Buffer, last: boolean): void;
}

export interface StreamEvents {
  readonly onData: (bytes: Buffer) => void;
  /** The other side has ended or reset it, or the connection is gone. */
  readonly onEnd: () => void;
}

export interface WireConnection {
  open(events: StreamEvents): WireStream;
  close(): void;
}

interface Waiting {
  readonly id: number;
  readonly bytes: Buffer;
  readonly last: boolean;
}

export async function connectWire(port: number, path: string, token: string): Promise<WireConnection> {
  const socket = createConnection({ host: "127.0.0.1", port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  const headers = headerBlock(port, path, token);
  const streams = new Map<number, StreamEvents>();
  /** What may still be sent: on the whole connection, and on each stream that is open. */
  const windows = { connection: windowDefault, initial: windowDefault, byStream: new Map<number, number>() };
  let waiting: Waiting[] = [];
  /** Streams that the server has no room for yet. */
  const unopened: (() => void)[] = [];
  let streamsMax = Number.POSITIVE_INFINITY;
  let nextId = 1;
  let greeted = (): void => undefined;
  const greeting = new Promise<void>((resolve, reject) => {
    greeted = resolve;
    socket.once("close", () => reject(new Error("the server closed the connection before it said anything")));
  });

  function end(id: number): void {
    windows.byStream.delete(id);
    const events = streams.get(id);
    if (!streams.delete(id)) return;
    if (!socket.destroyed) unopened.shift()?.();
    events?.onEnd();
  }

  function sendData(id: number, bytes: Buffer, last: boolean): boolean {
    const left = windows.byStream.get(id);
    if (left === undefined) return true;
    if (bytes.length > Math.min(left, windows.connection)) return false;
    gather();
    windows.connection -= bytes.length;
    windows.byStream.set(id, left - bytes.length);
    for (let from = 0; from === 0 || from < bytes.length; from += framePayloadMax) {
      const part = bytes.subarray(from, from + framePayloadMax);
      const isLast = last && from + framePayloadMax >= bytes.length;
      socket.write(frameHead(part.length, frame.data, isLast ? flag.endStream : 0, id));
      socket.write(part);
    }
    return true;
  }

  /** What is written in one step leaves in one piece. */
  function gather(): void {
    if (socket.writableCorked > 0) return;
    socket.cork();
    process.nextTick(() => socket.uncork());
  }

  function sendWaiting(): void {
    const due = waiting;
    waiting = [];
    for (const [index, { id, bytes, last }] of due.entries()) {
      if (sendData(id, bytes, last)) continue;
      waiting = due.slice(index);
      return;
    }
  }

  function hear(type: number, flags: number, id: number, payload: Buffer): void {
    if (type === frame.data) {
      if ((flags & flag.padded) !== 0) throw new Error("the server pads its data, which the generator does not expect");
      if (payload.length > 0) streams.get(id)?.onData(payload);
    } else if (type === frame.settings && (flags & flag.ack) === 0) {
      for (let at = 0; at + 6 <= payload.length; at += 6) {
        const setting = payload.readUInt16BE(at);
        if (setting === initialWindowSetting) windows.initial = payload.readUInt32BE(at + 2);
        else if (setting === streamsSetting) streamsMax = payload.readUInt32BE(at + 2);
      }
      socket.write(frameHead(0, frame.settings, flag.ack, 0));
      greeted();
    } else if (type === frame.ping && (flags & flag.ack) === 0) {
      socket.write(frameHead(payload.length, frame.ping, flag.ack, 0));
      socket.write(payload);
    } else if (type === frame.windowUpdate) {
      const more = payload.readUInt32BE(0);
      const left = windows.byStream.get(id);
      if (id === 0) windows.connection += more;
      else if (left !== undefined) windows.byStream.set(id, left + more);
      if (waiting.length > 0) sendWaiting();
    }
    const isEnd =
      type === frame.reset || ((type === frame.data || type === frame.headers) && (flags & flag.endStream) !== 0);
    if (isEnd) end(id);
  }

  onFrames(socket, hear);
  socket.on("error", () => socket.destroy());
  socket.once("close", () => {
    for (const id of [...streams.keys()]) end(id);
    // Those that never began end as well; each finds the connection gone.
    for (const begin of unopened.splice(0)) begin();
    for (const id of [...streams.keys()]) end(id);
  });
  const window = Buffer.alloc(6);
  window.writeUInt16BE(initialWindowSetting, 0);
  window.writeUInt32BE(windowMax, 2);
  const more = Buffer.alloc(4);
  more.writeUInt32BE(windowMax - windowDefault, 0);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
  socket.write(
    Buffer.concat([frameHead(6, frame.settings, 0, 0), window, frameHead(4, frame.windowUpdate, 0, 0), more]),
  );
  await greeting;

  return {
    open(events) {
      let id = 0;
      const early: { readonly bytes: Buffer; readonly last: boolean }[] = [];
      const send = (bytes: Buffer, last: boolean): void => {
        if (waiting.length > 0 || !sendData(id, bytes, last)) waiting.push({ id, bytes, last });
      };
      const begin = (): void => {
        id = nextId;
        nextId += 2;
        streams.set(id, events);
        windows.byStream.set(id, windows.initial);
        gather();
        socket.write(frameHead(headers.length, frame.headers, flag.endHeaders, id));
        socket.write(headers);
        for (const { bytes, last } of early) send(bytes, last);
      };
      if (socket.destroyed) queueMicrotask(events.onEnd);
      else if (streams.size < streamsMax) begin();
      else unopened.push(begin);
      return {
        write(bytes, last) {
          if (id === 0) early.push({ bytes, last });
          else send(bytes, last);
        },
      };
    },
    close: () => socket.destroy(),
  };
}

/** Cuts what arrives into frames. */
function onFrames(socket: Socket, hear: (type: number, flags: number, id: number, payload: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= headBytes) {
      const length = bytes.readUIntBE(at, 3);
      if (bytes.length - at < headBytes + length) break;
      const payload = bytes.subarray(at + headBytes, at + headBytes + length);
      hear(bytes.readUInt8(at + 3), bytes.readUInt8(at + 4), bytes.readUInt32BE(at + 5) & windowMax, payload);
      at += headBytes + length;
    }
    rest = bytes.subarray(at);
  });
}

function frameHead(length: number, type: number, flags: number, id: number): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(id, 5);
  return head;
}

/** Literals that no table remembers, so that the same bytes mean the same on every stream. */
function headerBlock(port: number, path: string, token: string): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, "latin1");
    if (bytes.length > 126) throw new RangeError("a header of the generator has at most 126 bytes");
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  };
  const literal = (name: string, value: string): Buffer => Buffer.concat([Buffer.from([0]), text(name), text(value)]);
  return Buffer.concat([
    // The third and the sixth of the static table: POST, http.
    Buffer.from([0x83, 0x86]),
    literal(":path", path),
    literal(":authority", `127.0.0.1:${port}`),
    literal("content-type", "application/grpc"),
    literal("te", "trailers"),
    literal("authorization", `Bearer ${token}`),
  ]);
}
