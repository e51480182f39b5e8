// The way to a regulator by SFTP. The server is known by the hash of its key before anything is said to it.
//
//  1. A file is written into the folder of what is under way, its size is asked for, and it is renamed without replacing anything.
//  2. No call waits longer than its limit; a connection that is silent is ended.
import { createHash, timingSafeEqual } from "node:crypto";
import ssh2, { type Client, type ConnectConfig, type SFTPWrapper, type Stats } from "ssh2";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { FilingTransport } from "../../ports/filing-transport.ts";
import { isHarmlessName, listedMax, nameTaken, unreachable } from "./transport-faults.ts";

export interface SftpPlace {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** As `ssh-keygen -l` prints it. */
  readonly hostKeySha256: string;
  readonly transitDir: string;
  readonly completeDir: string;
  readonly feedbackDir: string;
}

interface SftpTransportOptions {
  readonly place: SftpPlace;
  readonly privateKey: string;
  readonly waitMsMax?: number;
}

const noSuchFile = 2;
const standardWaitMs = 60_000;
/** A server takes at least this much at once. */
const sliceBytes = 32_768;

export async function sftpTransport({
  place,
  privateKey,
  waitMsMax = standardWaitMs,
}: SftpTransportOptions): Promise<FilingTransport> {
  const client = new ssh2.Client();
  const sftp = await told(`${place.host}:${place.port} cannot be reached`, () =>
    connect(client, place, privateKey, waitMsMax),
  );
  const ask = asking(client, waitMsMax);
  const inFolder = (folder: string, name: string): string =>
    `${folder.endsWith("/") ? folder.slice(0, -1) : folder}/${name}`;

  const stat = async (path: string): Promise<Stats | undefined> => {
    try {
      return await ask<Stats>((done) => sftp.lstat(path, done));
    } catch (thrown) {
      if ((thrown as { readonly code?: number }).code === noSuchFile) return undefined;
      throw thrown;
    }
  };

  async function read(path: string, bytes: number): Promise<Buffer> {
    const handle = await ask<Buffer>((done) => sftp.open(path, "r", done));
    const content = Buffer.alloc(bytes);
    let at = 0;
    while (at < bytes) {
      const count = await ask<number>((done) =>
        sftp.read(handle, content, at, Math.min(sliceBytes, bytes - at), at, (error, read) => done(error, read)),
      ).catch((thrown: unknown) => {
        if ((thrown as { readonly code?: number }).code === 1) return 0;
        throw thrown;
      });
      if (count === 0) break;
      at += count;
    }
    await ask<void>((done) => sftp.close(handle, done));
    return content.subarray(0, at);
  }

  async function write(path: string, content: Uint8Array): Promise<void> {
    const handle = await ask<Buffer>((done) => sftp.open(path, "w", { mode: 0o600 }, done));
    for (let at = 0; at < content.length; at += sliceBytes) {
      const slice = Buffer.from(content.subarray(at, at + sliceBytes));
      await ask<void>((done) => sftp.write(handle, slice, 0, slice.length, at, done));
    }
    await ask<void>((done) => sftp.close(handle, done));
  }

  async function put(name: string, content: Uint8Array): Promise<"SENT" | "THERE"> {
    const target = inFolder(place.completeDir, name);
    const there = await stat(target);
    if (there !== undefined) {
      const isSame = there.size === content.length && (await read(target, there.size)).equals(content);
      if (isSame) return "THERE";
      throw nameTaken(name);
    }
    const beside = inFolder(place.transitDir, name);
    await write(beside, content);
    const size = (await stat(beside))?.size;
    if (size !== content.length) throw unreachable(`${beside} has ${size ?? "no"} bytes of ${content.length}`);
    await ask<void>((done) => sftp.rename(beside, target, done));
    return "SENT";
  }

  return {
    async put({ name, content }) {
      if (!isHarmlessName(name)) throw new Defect(`${name} is no name of a submission file`);
      return told(`${name} could not be brought to ${place.host}`, () => put(name, content));
    },
    feedback: () =>
      told(`${place.feedbackDir} cannot be read`, async () => {
        const found = await ask<readonly { readonly filename: string; readonly attrs: Stats }[]>((done) =>
          sftp.readdir(place.feedbackDir, done),
        );
        return found
          .filter(({ filename, attrs }) => isHarmlessName(filename) && attrs.isFile())
          .map(({ filename, attrs }) => ({ name: filename, bytes: attrs.size }))
          .sort((one, other) => (one.name < other.name ? -1 : 1))
          .slice(0, listedMax);
      }),
    async read(name, bytesMax) {
      if (!isHarmlessName(name)) throw unreachable(`${name} is no name of a feedback file`);
      return told(`${name} cannot be read`, async () => {
        const path = inFolder(place.feedbackDir, name);
        const found = await stat(path);
        if (found === undefined || !found.isFile()) throw unreachable("it is no file");
        if (found.size > bytesMax) throw unreachable(`it has ${found.size} bytes, more than ${bytesMax}`);
        return new Uint8Array(await read(path, found.size));
      });
    },
    async close() {
      client.end();
      client.destroy();
    },
  };
}

function connect(client: Client, place: SftpPlace, privateKey: string, waitMsMax: number): Promise<SFTPWrapper> {
  let isOther = false;
  const options: ConnectConfig = {
    host: place.host,
    port: place.port,
    username: place.user,
    privateKey,
    readyTimeout: waitMsMax,
    keepaliveInterval: Math.max(1_000, Math.floor(waitMsMax / 3)),
    keepaliveCountMax: 2,
    hostVerifier: (key: Buffer) => {
      isOther = !isExpected(key, place.hostKeySha256);
      return !isOther;
    },
  };
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      client.destroy();
      reject(isOther ? new Error("the server's key is another than sftp.host_key_sha256 says") : error);
    };
    client.on("error", fail);
    client.once("close", () => fail(new Error("the connection was closed")));
    client.once("ready", () => client.sftp((error, sftp) => (error === undefined ? resolve(sftp) : fail(error))));
    try {
      client.connect(options);
    } catch (thrown) {
      // A key that cannot be read is found before anything is sent; what it says stays here.
      fail(new Error("the private key cannot be read", { cause: thrown }));
    }
  });
}

function isExpected(key: Buffer, expected: string): boolean {
  const own = Buffer.from(`SHA256:${createHash("sha256").update(key).digest("base64").replace("=", "")}`);
  const other = Buffer.from(expected);
  return own.length === other.length && timingSafeEqual(own, other);
}

type Ask = <T>(call: (done: (error?: Error | null, value?: T) => void) => void) => Promise<T>;

/** One request with an end to its time: what is cut off never calls back by itself. */
function asking(client: Client, waitMsMax: number): Ask {
  return (call) =>
    new Promise((resolve, reject) => {
      const end = (error: Error): void => {
        clearTimeout(clock);
        client.off("close", onClose);
        reject(error);
      };
      const onClose = (): void => end(new Error("the connection was cut"));
      const clock = setTimeout(() => {
        end(new Error(`there was no answer for ${waitMsMax / 1_000} s`));
        client.destroy();
      }, waitMsMax);
      client.once("close", onClose);
      try {
        call((error, value) => {
          if (error !== undefined && error !== null) return end(error);
          clearTimeout(clock);
          client.off("close", onClose);
          resolve(value as never);
        });
      } catch (thrown) {
        end(thrown instanceof Error ? thrown : new Error(String(thrown)));
      }
    });
}

async function told<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw unreachable(what, thrown);
  }
}
