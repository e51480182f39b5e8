// One HTTP/1.1 connection by hand, for requests that no client would send: written as given, in pieces and several at once, and its answers read in turn.
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface RawConnection {
  write(bytes: Buffer): Promise<void>;
  /** Undefined when the connection ended instead. */
  answer(msMax: number): Promise<RawAnswer | undefined>;
  isOpen(): boolean;
  close(): void;
}

export async function rawConnection(host: string, port: number): Promise<RawConnection> {
  const socket: Socket = connect({ host, port, noDelay: true });
  let read = Buffer.alloc(0);
  let isOpen = true;
  let wake = (): void => undefined;
  socket.on("data", (more) => {
    read = Buffer.concat([read, more]);
    wake();
  });
  // What broke is an end like any other: whoever waits for an answer finds none.
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isOpen = false;
    wake();
  });
  await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", resolve));

  function take(): RawAnswer | undefined {
    const end = read.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const [first = "", ...lines] = read.subarray(0, end).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const bodyEnd = end + 4 + Number(headers["content-length"] ?? 0);
    if (read.length < bodyEnd) return undefined;
    const text = read.subarray(end + 4, bodyEnd).toString("utf8");
    read = read.subarray(bodyEnd);
    return { status: Number(first.split(" ")[1]), headers, text };
  }

  return {
    write: (bytes) => new Promise((resolve) => (isOpen ? socket.write(bytes, () => resolve()) : resolve())),
    async answer(msMax) {
      const timer = setTimeout(() => socket.destroy(), msMax);
      try {
        for (;;) {
          const answer = take();
          if (answer !== undefined || !isOpen) return answer;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        clearTimeout(timer);
      }
    },
    isOpen: () => isOpen,
    close() {
      isOpen = false;
      socket.destroy();
    },
  };
}
