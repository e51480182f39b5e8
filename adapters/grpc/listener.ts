// Where a gRPC server listens: a TCP port or a unix socket. The socket is ours and handed to the gRPC library connection by
// connection, because the library hides why listening failed, does not bound connections, and leaves a socket file open to
// every user of the machine.
import { chmod, lstat, unlink } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { resolve } from "node:path";
import { createServer as createSecureServer } from "node:tls";
import { Fault } from "../../contracts/src/fault.ts";
import {
  addressText,
  backlogMax,
  errnoOf,
  listenFault,
  portInUse,
  resolveHost,
  type TcpAddress,
} from "../http/listen.ts";
import type { ConnectionRoom } from "../listener/connection-limit.ts";
import type { KeptCertificate } from "../tls/kept-certificate.ts";
import { type OwnProcessRule, objectionToOwn } from "../tls/own-processes.ts";
import { renewOn, serverOptions, takePlaces } from "../tls/secure-server.ts";
import { markSocket } from "./call-connections.ts";

export type GrpcAddress = TcpAddress | { readonly path: string };

export interface ListenOptions {
  readonly address: GrpcAddress;
  /** Who listens, for the sentence when it cannot: "riskengine's gRPC server". */
  readonly purpose: string;
  /** What an operator sets to move it. */
  readonly environmentVariable: string;
  readonly room: ConnectionRoom;
  /** With it a TCP port speaks TLS and nothing else; a unix socket never leaves the machine. */
  readonly certificate?: KeptCertificate | undefined;
  /** A connection came in; called for each, before it is known whether there is a place. */
  readonly onArrival: () => void;
  /** Over which connections tokens of our own processes count. */
  readonly ownProcesses: OwnProcessRule;
  /** How long a handshake may take. */
  readonly handshakeMsMax: number;
  /** Takes the connection over, and says once that it speaks HTTP/2. */
  readonly onConnection: (socket: Socket, prove: () => void) => void;
}

export interface GrpcListener {
  /** The real address, also when port 0 was asked for. */
  readonly address: GrpcAddress;
  /** Accepts no more connections; those that have spoken stay. A unix socket's file is removed. */
  stopAccepting(): void;
  /** Calls back once there is no connection left: at once when there is none. */
  whenEmpty(done: () => void): void;
  /** Cuts every connection. */
  cutAll(): void;
}

/** sockaddr_un has room for 108 bytes, one of which ends the text. */
const socketPathBytesMax = 107;

export async function openListener(options: ListenOptions): Promise<GrpcListener> {
  const sockets = new Set<Socket>();
  const emptied: (() => void)[] = [];
  const { room } = options;
  const server = serverFor(options, (socket) => {
    sockets.add(socket);
    markSocket(socket, objectionToOwn(socket, "path" in options.address, options.ownProcesses));
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const done of emptied.splice(0)) done();
    });
    options.onConnection(socket, () => room.prove(socket));
  });
  server.on("connection", options.onArrival);
  const address =
    "path" in options.address
      ? await listenOnSocket(server, resolve(options.address.path), options)
      : await listenOnPort(server, options.address, options);
  return {
    address,
    stopAccepting: () => {
      server.close();
      room.cutUnproven();
    },
    whenEmpty: (done) => {
      if (sockets.size === 0) done();
      else emptied.push(done);
    },
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** `welcome` gets every connection that has a place and, where there is TLS, is encrypted. */
function serverFor(options: ListenOptions, welcome: (socket: Socket) => void): Server {
  const { room, certificate, handshakeMsMax } = options;
  if (certificate === undefined || "path" in options.address) {
    return createServer((socket) => (room.admit(socket) ? welcome(socket) : undefined));
  }
  const server = createSecureServer(serverOptions(certificate, { protocols: ["h2"], handshakeMsMax }));
  renewOn(server, certificate);
  takePlaces(server, room, (socket) => {
    // Who does not name the protocol does not speak it.
    if (socket.alpnProtocol === "h2") welcome(socket);
    else socket.destroy();
  });
  return server;
}

/** Several places to listen at as one. */
export function joinedListeners([first, ...others]: readonly [GrpcListener, ...GrpcListener[]]): GrpcListener {
  const all = [first, ...others];
  return {
    address: first.address,
    stopAccepting: () => {
      for (const listener of all) listener.stopAccepting();
    },
    whenEmpty: (done) => {
      let left = all.length;
      const one = (): void => {
        left -= 1;
        if (left === 0) done();
      };
      for (const listener of all) listener.whenEmpty(one);
    },
    cutAll: () => {
      for (const listener of all) listener.cutAll();
    },
  };
}

async function listenOnPort(server: Server, wanted: TcpAddress, options: ListenOptions): Promise<GrpcAddress> {
  const host = await resolveHost(wanted.host);
  try {
    await listening(server, { host, port: wanted.port });
  } catch (thrown) {
    const text = addressText({ host, port: wanted.port });
    throw listenFault(thrown, options.purpose, text, options.environmentVariable);
  }
  const bound = server.address();
  return { host, port: bound !== null && typeof bound === "object" ? bound.port : wanted.port };
}

async function listenOnSocket(server: Server, path: string, options: ListenOptions): Promise<GrpcAddress> {
  if (Buffer.byteLength(path) > socketPathBytesMax) {
    throw new Fault(
      "SERVICE_START_FAILED",
      `${options.purpose} cannot listen on ${path}: the path of a unix socket has at most ${socketPathBytesMax} bytes. ` +
        `Set ${options.environmentVariable} to a shorter one.`,
      { retry: "never", facts: { path } },
    );
  }
  try {
    await removeStaleSocket(path, options);
    await listening(server, { path });
    // The folder keeps strangers out from the first moment; this keeps them out should the folder be opened up.
    await chmod(path, 0o600);
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw listenFault(thrown, options.purpose, path, options.environmentVariable);
  }
  return { path };
}

function listening(server: Server, where: TcpAddress | { readonly path: string }): Promise<void> {
  return new Promise((resolveListening, reject) => {
    server.once("error", reject);
    server.listen({ ...where, exclusive: true, backlog: backlogMax }, () => {
      server.off("error", reject);
      resolveListening();
    });
  });
}

/** A killed process leaves its socket file behind. It is removed only when nobody answers on it. */
async function removeStaleSocket(path: string, options: ListenOptions): Promise<void> {
  const found = await lstat(path).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new Fault(
      "SERVICE_START_FAILED",
      `${options.purpose} cannot listen on ${path}: a file that is not a socket stands there. ` +
        `Move it away or set ${options.environmentVariable} to use another path.`,
      { retry: "never", facts: { path } },
    );
  }
  if (await somebodyListens(path)) throw portInUse(options.purpose, path, options.environmentVariable);
  await unlink(path);
}

/** Refused means that nobody listens; a full queue (EAGAIN) means that somebody does. Anything else is not ours to judge. */
function somebodyListens(path: string): Promise<boolean> {
  return new Promise((resolveAnswer, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolveAnswer(true);
    });
    socket.once("error", (error) => {
      const errno = errnoOf(error);
      if (errno === "ECONNREFUSED") resolveAnswer(false);
      else if (errno === "EAGAIN") resolveAnswer(true);
      else reject(error);
    });
  });
}
