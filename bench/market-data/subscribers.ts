// The subscribers of the market-data bench: most read everything and add up the sequences, a few stop reading until the server has closed them.
import { once } from "node:events";
import WebSocket from "ws";

export interface Tally {
  delivered: number;
  skipped: number;
  /** Sequences that did not add up. */
  gaps: number;
  /** Of those who read: how they ended before they were asked to. */
  readonly lost: string[];
}

interface Item {
  readonly channel: string;
  readonly sequence: number;
  readonly skipped: number;
}
interface Frame {
  readonly type: string;
  readonly channel?: string;
  readonly sequence?: number;
  readonly items?: readonly Item[];
}

/** Whoever follows the same gets the same bytes: each text is parsed once. */
function parser(): (text: string) => Frame {
  const recent: { readonly text: string; readonly frame: Frame }[] = [];
  return (text) => {
    const known = recent.find((one) => one.text === text);
    if (known !== undefined) return known.frame;
    const frame = JSON.parse(text) as Frame;
    recent.unshift({ text, frame });
    if (recent.length > 6) recent.pop();
    return frame;
  };
}

export interface Subscriber {
  readonly address: string;
  readonly socket: WebSocket;
}

export async function subscribe(
  port: number,
  address: string,
  symbols: readonly string[],
  hear: (frame: Frame) => void,
  parse: (text: string) => Frame,
): Promise<Subscriber> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, { localAddress: address, perMessageDeflate: false });
  await once(socket, "open");
  socket.on("message", (data) => hear(parse(String(data))));
  socket.send(JSON.stringify({ type: "subscribe", id: 1, quotes: symbols }));
  return { address, socket };
}

/** One address may have twenty connections: the subscribers share as many addresses as they need. */
export async function readers(port: number, count: number, symbols: readonly string[], tally: Tally) {
  const parse = parser();
  const all: Subscriber[] = [];
  for (let index = 0; index < count; index += 1) {
    const last = new Map<string, number>();
    const hear = (frame: Frame): void => {
      if (frame.type === "snapshot" && frame.channel !== undefined) last.set(frame.channel, frame.sequence ?? 0);
      for (const { channel, sequence, skipped } of frame.items ?? []) {
        if (sequence !== (last.get(channel) ?? Number.NaN) + 1 + skipped) tally.gaps += 1;
        last.set(channel, sequence);
        tally.delivered += 1;
        tally.skipped += skipped;
      }
    };
    const one = await subscribe(port, `127.0.2.${1 + Math.floor(index / 20)}`, symbols, hear, parse);
    one.socket.once("close", (code, reason) => tally.lost.push(`${code} ${reason}`));
    all.push(one);
  }
  return all;
}

/** They subscribe, and then read nothing. */
export async function sleepers(
  port: number,
  count: number,
  symbols: readonly string[],
): Promise<readonly Subscriber[]> {
  const all: Subscriber[] = [];
  for (let index = 0; index < count; index += 1) {
    const one = await subscribe(
      port,
      `127.0.3.${1 + index}`,
      symbols,
      () => undefined,
      () => ({ type: "" }),
    );
    one.socket.pause();
    all.push(one);
  }
  return all;
}

/** Reads on, and says how it was closed. */
export async function closingOf({ socket }: Subscriber): Promise<string> {
  const closed = once(socket, "close") as Promise<[number, Buffer]>;
  socket.resume();
  const [code, reason] = await closed;
  return `${code} ${reason}`;
}
