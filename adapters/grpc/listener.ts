// Where a gRPC server listens: a TCP port or a unix socket. The socket is ours and handed to the gRPC library connection by
// connection, because the library hides why listening failed, does not bound connections, and leaves a socket file open to
// every user of the machine.
import { chmod, lstat, unlink } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { resolve } from "node:path";
import { Fault } from "../../contracts/src/fault.ts";
import { addressText, errnoOf, listenFault, portInUse, resolveHost, type TcpAddress } from "../http/listen.ts";
import type { ConnectionRoom } from "../listener/connection-limit.ts";
import { markSocket } from "./call-connections.ts";

export type GrpcAddress = TcpAddress | { readonly path: string };

export interface ListenOptions {
  readonly address: GrpcAddress;
  /** Who listens, for the sentence when it cannot: "riskengine's gRPC server". */
  readonly purpose: string;
  /** What an operator sets to move it. */
  readonly environmentVariable: string;
  readonly room: ConnectionRoom;
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
  const server = createServer((socket) => {
    if (!room.admit(socket)) return;
    sockets.add(socket);
    markSocket(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const done of emptied.splice(0)) done();
    });
    options.onConnection(socket, () => room.prove(socket));
  });
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
    server.listen({ ...where, exclusive: true }, () => {
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
