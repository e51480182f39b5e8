// An SFTP server over a folder of this machine, for tests: it has a key of its own, knows one user's key, and can be cut, or be full, at any request.
import { createHash } from "node:crypto";
import { type FileHandle, lstat, open, readdir, rename } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import ssh2, { type Connection, type SFTPWrapper, type Stats } from "ssh2";

type SftpRequest = "OPEN" | "WRITE" | "CLOSE" | "LSTAT" | "READ" | "RENAME" | "READDIR";

export interface SftpServer {
  readonly port: number;
  /** As `ssh-keygen -l` prints it. */
  readonly hostKeySha256: string;
  /** What lets the user in. */
  readonly privateKey: string;
  /** The connection is cut when this is asked for; before it is done, or after. Once. */
  cutAt: { readonly request: SftpRequest; readonly when: "before" | "after" } | undefined;
  /** Nothing more fits. */
  isFull: boolean;
  /** Answers nothing any more. */
  isSilent: boolean;
  close(): Promise<void>;
}

const { STATUS_CODE, OPEN_MODE } = ssh2.utils.sftp;

export async function startSftpServer({
  folder,
  user,
}: {
  readonly folder: string;
  readonly user: string;
}): Promise<SftpServer> {
  const [host, own] = [ssh2.utils.generateKeyPairSync("ed25519"), ssh2.utils.generateKeyPairSync("ed25519")];
  const allowed = publicOf(own.public);
  const connections = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [host.private] }, (connection) => {
    connections.add(connection);
    connection.on("error", () => undefined);
    connection.on("close", () => connections.delete(connection));
    connection.on("authentication", (context) => {
      const isThem = context.username === user && context.method === "publickey" && context.key.data.equals(allowed);
      if (isThem) context.accept();
      else context.reject(["publickey"]);
    });
    connection.on("session", (accept) => {
      accept().on("sftp", (acceptSftp) => serve(acceptSftp(), { folder, state, cut: () => connection.end() }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const state: SftpServer = {
    port: (server.address() as AddressInfo).port,
    hostKeySha256: `SHA256:${createHash("sha256").update(publicOf(host.public)).digest("base64").replace(/=+$/, "")}`,
    privateKey: own.private,
    cutAt: undefined,
    isFull: false,
    isSilent: false,
    close: () =>
      new Promise((resolve) => {
        for (const connection of connections) connection.end();
        server.close(() => resolve());
      }),
  };
  return state;
}

interface Serving {
  readonly folder: string;
  readonly state: SftpServer;
  cut(): void;
}

// tidy: long because a server has one handler for each request.
function serve(sftp: SFTPWrapper, { folder, state, cut }: Serving): void {
  const handles = new Map<number, FileHandle | { names: string[] | undefined; readonly at: string }>();
  let last = 0;
  const place = (path: string): string => join(folder, ...path.split("/").filter((part) => part !== ".."));
  const handle = (number: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(number);
    return bytes;
  };
  const held = (bytes: Buffer) => handles.get(bytes.readUInt32BE(0));

  /** Does it, with whatever goes wrong in the request's way. */
  const answer = (request: SftpRequest, id: number, run: () => Promise<void>): void => {
    if (state.isSilent) return;
    const { cutAt } = state;
    const isCut = cutAt?.request === request;
    if (isCut) state.cutAt = undefined;
    if (isCut && cutAt.when === "before") {
      cut();
      return;
    }
    run()
      .then(() => (isCut ? cut() : undefined))
      .catch((thrown: unknown) => {
        const isAbsent = (thrown as NodeJS.ErrnoException).code === "ENOENT";
        sftp.status(id, isAbsent ? STATUS_CODE.NO_SUCH_FILE : STATUS_CODE.FAILURE, (thrown as Error).message);
      });
  };

  sftp.on("OPEN", (id, path, flags) =>
    answer("OPEN", id, async () => {
      const isWriting = (flags & OPEN_MODE.WRITE) !== 0;
      last += 1;
      handles.set(last, await open(place(path), isWriting ? "w" : "r"));
      sftp.handle(id, handle(last));
    }),
  );
  sftp.on("WRITE", (id, bytes, at, data) =>
    answer("WRITE", id, async () => {
      if (state.isFull) throw new Error("No space left on device");
      await (held(bytes) as FileHandle).write(data, 0, data.length, at);
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
  sftp.on("READ", (id, bytes, at, length) =>
    answer("READ", id, async () => {
      const { bytesRead, buffer } = await (held(bytes) as FileHandle).read(Buffer.alloc(length), 0, length, at);
      if (bytesRead === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, buffer.subarray(0, bytesRead));
    }),
  );
  sftp.on("CLOSE", (id, bytes) =>
    answer("CLOSE", id, async () => {
      const one = held(bytes);
      if (one !== undefined && "close" in one) await one.close();
      handles.delete(bytes.readUInt32BE(0));
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
  const stat = (id: number, path: string): void =>
    answer("LSTAT", id, async () => sftp.attrs(id, attributes(await lstat(place(path)))));
  sftp.on("LSTAT", stat);
  sftp.on("STAT", stat);
  sftp.on("RENAME", (id, from, to) =>
    answer("RENAME", id, async () => {
      const isTaken = await lstat(place(to)).then(
        () => true,
        () => false,
      );
      if (isTaken) throw new Error("it exists");
      await rename(place(from), place(to));
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
  sftp.on("OPENDIR", (id, path) =>
    answer("READDIR", id, async () => {
      last += 1;
      handles.set(last, { names: await readdir(place(path)), at: place(path) });
      sftp.handle(id, handle(last));
    }),
  );
  sftp.on("READDIR", (id, bytes) =>
    answer("READDIR", id, async () => {
      const one = held(bytes) as { names: string[] | undefined; readonly at: string };
      const { names } = one;
      one.names = undefined;
      if (names === undefined) return sftp.status(id, STATUS_CODE.EOF);
      const found = await Promise.all(names.map(async (name) => ({ name, stat: await lstat(join(one.at, name)) })));
      sftp.name(
        id,
        found.map(({ name, stat }) => ({ filename: basename(name), longname: name, attrs: attributes(stat) as Stats })),
      );
    }),
  );
}

function attributes(stat: Awaited<ReturnType<typeof lstat>>) {
  const [atime, mtime] = [Math.floor(Number(stat.atimeMs) / 1_000), Math.floor(Number(stat.mtimeMs) / 1_000)];
  return {
    mode: Number(stat.mode),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    size: Number(stat.size),
    atime,
    mtime,
  };
}

function publicOf(key: string): Buffer {
  const parsed = ssh2.utils.parseKey(key);
  if (parsed instanceof Error) throw parsed;
  return parsed.getPublicSSH();
}
