// The witness as a program and the log's side of it, over real HTTP and a real folder: what it cosigns, what it refuses, and what it still knows
// after it was started again.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { base64OfHash } from "../../core/audit/base64.ts";
import { readCheckpointNote } from "../../core/audit/checkpoint.ts";
import { countCosignatures, readPolicy } from "../../core/audit/policy.ts";
import { addCheckpointBody } from "../../core/audit/witness.ts";
import type { WitnessedCheckpoint } from "../../ports/witnesses.ts";
import { firstSigner, origin, type SampleLog, sampleLog, secondSigner } from "../../testkit/audit/sample-log.ts";
import { quietLog } from "../../testkit/global-setup.ts";
import { systemClock } from "../system-clock.ts";
import { systemRandom } from "../system-random.ts";
import { systemSha256OfBytes, systemSigning } from "../system-signing.ts";
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

async function start(path: string, logs = [firstSigner.key]) {
  const folder = await openWitnessFolder(path, ports);
  const options = { name: "witness.example/w1", logs, folder, host: "127.0.0.1", port: 0 };
  const server = await serveWitness({ ...options, ...ports, log: quietLog });
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
    expect(await (await fetch(witness.server.url)).text()).toBe(`${witness.server.vkey}\n`);
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
    for (const size of [9, 12]) {
      const { lines, complaints } = await clientOf(witness).submit(checkpointOf(rewritten, size));
      expect(lines).toEqual([]);
      expect(complaints).toHaveLength(1);
    }
    expect(witness.folder.stateOf(origin)?.size).toBe(9);
    const [kept = ""] = (await readdir(path)).filter((name) => name.startsWith("misbehaviour-"));
    expect(await readFile(join(path, kept), "utf8")).toContain(rewritten.checkpoint(9));
  });

  it("A7, A14: a log that was cut is refused", async () => {
    const witness = await start(await newFolder());
    const log = sampleLog(14);
    await clientOf(witness).submit(checkpointOf(log, 14));
    const { complaints } = await clientOf(witness).submit(checkpointOf(log, 9));
    expect(complaints[0]).toContain("size 14");
  });

  it("A17: of two requests at once from the same size one wins, and nothing is rolled back", async () => {
    const witness = await start(await newFolder());
    const log = sampleLog(14);
    await clientOf(witness).submit(checkpointOf(log, 3));
    const post = (size: number) =>
      fetch(new URL("add-checkpoint", witness.server.url), {
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
    const response = await fetch(new URL(path, witness.server.url), {
      method,
      ...(body === undefined ? {} : { body }),
    });
    expect(response.status).toBe(status);
  });
});

it("a witness that is away is a complaint, not a failure", async () => {
  const client = witnessClient([{ url: "http://127.0.0.1:9/", vkey: firstSigner.key.vkey }], 1);
  const { lines, complaints } = await client.submit(checkpointOf(sampleLog(3), 3));
  expect(lines).toEqual([]);
  expect(complaints[0]).toContain("127.0.0.1:9");
});
