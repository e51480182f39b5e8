// The witness as a program and the log's side of it, over real HTTP and a real folder: what it cosigns, what it refuses, and what it still knows
// after it was started again.
import { EventEmitter } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { base64OfHash } from "../../core/audit/base64.ts";
import { readCheckpointNote } from "../../core/audit/checkpoint.ts";
import { countCosignatures, readPolicy } from "../../core/audit/policy.ts";
import { addCheckpointBody } from "../../core/audit/witness.ts";
import type { WitnessedCheckpoint } from "../../ports/witnesses.ts";
import { firstSigner, origin, type SampleLog, sampleLog, secondSigner } from "../../testkit/audit/sample-log.ts";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemSha256OfBytes, systemSigning } from "../system/signing.ts";
import { boundConnections } from "./bounded-connections.ts";
import { witnessClient } from "./submit-checkpoints.ts";
import { openWitnessFolder } from "./witness-folder.ts";
import { serveWitness } from "./witness-server.ts";

const ports = { clock: systemClock(), random: systemRandom(), signing: systemSigning() };
const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function newFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "witness-"));
  ends.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function start(path: string, logs = [firstSigner.key], more: { readonly requestMsMax?: number } = {}) {
  const folder = await openWitnessFolder(path, ports);
  const options = { name: "witness.example/w1", logs, folder, host: "127.0.0.1", port: 0 };
  const server = await serveWitness({ ...options, ...ports, ...more, log: quietLog });
  let isOpen = true;
  const stop = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await server.close();
    await folder.close();
  };
  ends.push(stop);
  return { server, folder, stop };
}

function checkpointOf(log: SampleLog, size: number, signers = [firstSigner]): WitnessedCheckpoint {
  const proofFrom = async (oldSize: number) => log.consistency(oldSize, size).map(base64OfHash);
  return { origin, size, note: log.checkpoint(size, signers), proofFrom };
}

function clientOf(witness: Awaited<ReturnType<typeof start>>) {
  return witnessClient([{ url: witness.server.url, vkey: witness.server.vkey }], 1);
}

function isCosigned(policyText: string, note: string, lines: readonly string[]): boolean {
  const policy = readPolicy(policyText, systemSha256OfBytes);
  const read = readCheckpointNote(note + lines.join(""));
  if ("malformed" in policy || "malformed" in read) throw new Error("not readable");
  const counted = countCosignatures(read.note, policy, ports.signing.verify, { nowUs: ports.clock.now() });
  return "enough" in counted && counted.enough;
}

describe("the witness", () => {
  it("cosigns what continues what it knows, and says with which key", async () => {
    const witness = await start(await newFolder());
    expect(await (await fetchOnNewConnection(witness.server.url)).text()).toBe(`${witness.server.vkey}\n`);
    const log = sampleLog(14);
    const client = clientOf(witness);
    for (const size of [3, 7, 7, 14]) {
      const checkpoint = checkpointOf(log, size);
      const { lines, complaints } = await client.submit(checkpoint);
      expect(complaints).toEqual([]);
      expect(isCosigned(client.policy, checkpoint.note, lines)).toBe(true);
    }
  });

  it("knows after a restart what it cosigned, under the same key; a log that forgot is brought up to date", async () => {
    const path = await newFolder();
    const first = await start(path);
    const log = sampleLog(14);
    await clientOf(first).submit(checkpointOf(log, 9));
    await first.stop();
    const second = await start(path);
    expect(second.server.vkey).toBe(first.server.vkey);
    const { lines, complaints } = await clientOf(second).submit(checkpointOf(log, 14));
    expect({ lines: lines.length, complaints }).toEqual({ lines: 1, complaints: [] });
  });

  it("cosigns the handover to a new key, and what comes after it once it is started with that key in place of the old one", async () => {
    const path = await newFolder();
    const log = sampleLog(14);
    const before = await start(path);
    expect((await clientOf(before).submit(checkpointOf(log, 7))).complaints).toEqual([]);
    expect((await clientOf(before).submit(checkpointOf(log, 9, [firstSigner, secondSigner]))).complaints).toEqual([]);
    const { lines, complaints } = await clientOf(before).submit(checkpointOf(log, 12, [secondSigner]));
    expect(lines).toEqual([]);
    expect(complaints[0]).toContain("403");
    await before.stop();
    const after = await start(path, [secondSigner.key]);
    expect((await clientOf(after).submit(checkpointOf(log, 14, [secondSigner]))).complaints).toEqual([]);
    expect(after.folder.stateOf(origin)?.size).toBe(14);
    // Whoever has the old key can no longer lead it astray, and the new key is held to what the old one signed.
    expect((await clientOf(after).submit(checkpointOf(log, 14))).lines).toEqual([]);
    const rewritten = sampleLog(14, "rewritten");
    expect((await clientOf(after).submit(checkpointOf(rewritten, 14, [secondSigner]))).lines).toEqual([]);
  });

  it("A4, A5: a log that was rewritten and signed anew is refused, at the same size and at a larger one, and the proof is kept", async () => {
    const path = await newFolder();
    const witness = await start(path);
    await clientOf(witness).submit(checkpointOf(sampleLog(9), 9));
    const rewritten = sampleLog(12, "rewritten");
    const kinds = ["misbehaviour", "suspicion"] as const;
    for (const [at, [size, kind]] of (
      [
        [9, "other root"],
        [12, "not continued"],
      ] as const
    ).entries()) {
      for (const _again of [1, 2]) {
        const { lines, complaints, contradictions } = await clientOf(witness).submit(checkpointOf(rewritten, size));
        expect({ lines, complaints: complaints.length }).toEqual({ lines: [], complaints: 1 });
        const { url, vkey } = witness.server;
        expect(contradictions).toEqual([{ url, vkey, kind, witnessSize: 9 }]);
      }
      // However often it is submitted, it is kept once.
      const kept = (await readdir(path)).filter((name) => name.startsWith(`${kinds[at]}-`));
      expect(kept).toHaveLength(1);
      const content = await readFile(join(path, kept[0] ?? ""), "utf8");
      expect(content).toBe(`${sampleLog(9).checkpoint(9)}\n---\n${rewritten.checkpoint(size)}`);
    }
    expect(witness.folder.stateOf(origin)?.size).toBe(9);
    // What anybody can write beside a log's signature makes no other pair of it.
    const submitted = rewritten.checkpoint(9);
    await witness.folder.keepPair("misbehaviour", {
      kept: sampleLog(9).checkpoint(9),
      submitted: `${submitted}— x AAAA\n`,
    });
    expect((await readdir(path)).filter((name) => name.startsWith("misbehaviour-"))).toHaveLength(1);
  });

  it("keeps at most a hundred suspicions, over restarts too, and still has room for a proof", async () => {
    const path = await newFolder();
    const first = await start(path);
    const pairOf = (n: number) => ({ kept: "a\n\n", submitted: `${n}\n\n` });
    for (let n = 0; n < 60; n += 1) await first.folder.keepPair("suspicion", pairOf(n));
    await first.stop();
    const second = await start(path);
    for (let n = 60; n < 120; n += 1) await second.folder.keepPair("suspicion", pairOf(n));
    await second.folder.keepPair("misbehaviour", pairOf(1));
    const names = await readdir(path);
    expect(names.filter((name) => name.startsWith("suspicion-"))).toHaveLength(100);
    expect(names.filter((name) => name.startsWith("misbehaviour-"))).toHaveLength(1);
  });

  it("does not contradict a log whose answer was lost, after a restart of the log or without", async () => {
    const witness = await start(await newFolder());
    const log = sampleLog(14);
    const [kept, other] = [clientOf(witness), clientOf(witness)];
    const cosigned = { lines: [expect.any(String)], complaints: [], contradictions: [] };
    expect(await kept.submit(checkpointOf(log, 3))).toEqual(cosigned);
    // Submitted on the log's behalf, and this client never heard of it.
    expect(await other.submit(checkpointOf(log, 9))).toEqual(cosigned);
    expect(await kept.submit(checkpointOf(log, 9))).toEqual(cosigned);
    expect(await clientOf(witness).submit(checkpointOf(log, 9))).toEqual(cosigned);
    expect(await other.submit(checkpointOf(log, 14))).toEqual(cosigned);
    expect(await clientOf(witness).submit(checkpointOf(log, 14))).toEqual(cosigned);
  });

  it("A7, A14: a log that was cut is refused", async () => {
    const witness = await start(await newFolder());
    const log = sampleLog(14);
    await clientOf(witness).submit(checkpointOf(log, 14));
    const { complaints, contradictions } = await clientOf(witness).submit(checkpointOf(log, 9));
    expect(complaints[0]).toContain("size 14");
    expect(contradictions).toMatchObject([{ kind: "larger", witnessSize: 14 }]);
  });

  it("A17: of two requests at once from the same size one wins, and nothing is rolled back", async () => {
    const witness = await start(await newFolder());
    const log = sampleLog(14);
    await clientOf(witness).submit(checkpointOf(log, 3));
    const post = (size: number) =>
      fetchOnNewConnection(new URL("add-checkpoint", witness.server.url), {
        method: "POST",
        body: addCheckpointBody(3, log.consistency(3, size).map(base64OfHash), log.checkpoint(size)),
      });
    const statuses = (await Promise.all([post(14), post(7), post(9)])).map(({ status }) => status);
    expect(statuses).toEqual([200, 409, 409]);
    expect(witness.folder.stateOf(origin)?.size).toBe(14);
  });

  it("does not cosign while its state cannot be written", async () => {
    const path = await newFolder();
    const witness = await start(path);
    await rm(path, { recursive: true });
    const { lines, complaints } = await clientOf(witness).submit(checkpointOf(sampleLog(3), 3));
    expect({ lines, complaint: complaints.length }).toEqual({ lines: [], complaint: 1 });
    expect(witness.folder.stateOf(origin)).toBeUndefined();
  });

  it.each([
    ["state.json", "{"],
    ["state.json", '{"x":{"size":-1,"root":"","note":""}}'],
    ["key", "c2hvcnQ="],
  ])("refuses to start on a damaged %s", async (name, content) => {
    const path = await newFolder();
    await writeFile(join(path, name), content);
    await expect(openWitnessFolder(path, ports)).rejects.toThrow(/damaged/);
  });

  it("has its folder to itself", async () => {
    const path = await newFolder();
    await start(path);
    await expect(openWitnessFolder(path, ports)).rejects.toMatchObject({ code: "DATA_FOLDER_IN_USE" });
  });

  it.each([
    ["GET", "/add-checkpoint", undefined, 405],
    ["POST", "/elsewhere", "", 404],
    ["POST", "/add-checkpoint", "nonsense", 400],
    ["POST", "/add-checkpoint", "x".repeat(600_000), 413],
  ] as const)("answers %s %s as it must", async (method, path, body, status) => {
    const witness = await start(await newFolder());
    const response = await fetchOnNewConnection(new URL(path, witness.server.url), {
      method,
      ...(body === undefined ? {} : { body }),
    });
    expect(response.status).toBe(status);
  });
});

describe("slow connections", () => {
  /** Connections that say the beginning of a request and then nothing; how many are still open. */
  async function slow(url: string, addresses: readonly string[], count: number): Promise<() => number> {
    const { port } = new URL(url);
    const open = new Set<Socket>();
    const beginning = "POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: 1000\r\n\r\nold 1";
    const opening = Array.from({ length: count }, (_, at) => {
      const localAddress = addresses[at % addresses.length] ?? "127.0.0.1";
      const socket = connect({ host: "127.0.0.1", port: Number(port), localAddress });
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
      return new Promise<void>((resolve) => {
        socket.once("connect", () => socket.write(at % 2 === 0 ? beginning : "POST /add", () => resolve()));
        socket.once("close", () => resolve());
      });
    });
    ends.push(async () => {
      for (const socket of open) socket.destroy();
    });
    await Promise.all(opening);
    return () => open.size;
  }

  it.each([
    ["of one address, its own", ["127.0.0.1"], 200, 16],
    ["of twenty others", Array.from({ length: 20 }, (_, at) => `127.0.0.${at + 2}`), 200, 200],
  ])("%s, do not keep a log from its answer", async (_whose, addresses, count, left) => {
    const witness = await start(await newFolder(), [firstSigner.key], { requestMsMax: 60_000 });
    const openNow = await slow(witness.server.url, addresses, count);
    const { lines, complaints } = await clientOf(witness).submit(checkpointOf(sampleLog(3), 3));
    // The client itself gives up after three seconds, and complains.
    expect({ lines: lines.length, complaints }).toEqual({ lines: 1, complaints: [] });
    await expect.poll(openNow, { timeout: 10_000 }).toBeLessThanOrEqual(left);
    if (count <= left) expect(openNow()).toBe(count);
  });

  it("are cut off when their time is over", async () => {
    const witness = await start(await newFolder(), [firstSigner.key], { requestMsMax: 100 });
    const openNow = await slow(witness.server.url, ["127.0.0.1"], 10);
    await expect.poll(openNow, { timeout: 10_000 }).toBe(0);
    expect((await clientOf(witness).submit(checkpointOf(sampleLog(3), 3))).lines).toHaveLength(1);
  });

  it("that were heard whole are not cut off for new ones", () => {
    const cut: number[] = [];
    const connections = boundConnections({ perAddressMax: 3, allMax: 5, requestMsMax: 60_000 });
    const sockets = Array.from({ length: 9 }, (_, at) => {
      const socket = Object.assign(new EventEmitter(), {
        remoteAddress: at < 5 ? "a" : `b${at % 2}`,
        destroy: () => cut.push(at),
      });
      return socket as unknown as Socket;
    });
    const opened = (at: number): void => {
      const socket = sockets[at];
      if (socket !== undefined) connections.opened(socket);
    };
    for (const at of [0, 1, 2]) opened(at);
    const [first] = sockets;
    if (first !== undefined) connections.heard(first);
    opened(3);
    expect(cut).toEqual([1]);
    opened(4);
    expect(cut).toEqual([1, 2]);
    for (const at of [5, 6]) opened(at);
    expect(cut).toEqual([1, 2]);
    opened(7);
    // Six are open, three of them of `a`: the oldest silent one of those goes.
    expect(cut).toEqual([1, 2, 3]);
    for (const socket of sockets) socket.emit("close");
  });
});

it("a witness whose answer does not end, or says 422 to the first checkpoint, is a complaint", async () => {
  const answers: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(200).end("x".repeat(200_000)),
    (response) => response.writeHead(422).end("what is that\n"),
    (response) => response.writeHead(409).end("not a size\n"),
    (response) => response.writeHead(409).end("0\n"),
  ];
  const server = createServer((_request, response) => answers.shift()?.(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const client = witnessClient([{ url: `http://127.0.0.1:${port}/`, vkey: firstSigner.key.vkey }], 1);
  for (const why of ["too long", "422 what is that", "409 not a size", "409 from 0"]) {
    const { lines, complaints, contradictions } = await client.submit(checkpointOf(sampleLog(3), 3));
    expect({ lines, contradictions }).toEqual({ lines: [], contradictions: [] });
    expect(complaints[0]).toContain(why);
  }
});

it("a witness that is away is a complaint, not a failure", async () => {
  const client = witnessClient([{ url: "http://127.0.0.1:9/", vkey: firstSigner.key.vkey }], 1);
  const { lines, complaints } = await client.submit(checkpointOf(sampleLog(3), 3));
  expect(lines).toEqual([]);
  expect(complaints[0]).toContain("127.0.0.1:9");
});
