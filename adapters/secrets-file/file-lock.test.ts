// The lock between processes: who may take it, who must wait, and what becomes of a dead holder's lock. The numbers are the
// invariants in the header of file-lock.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rename, utimes, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { faultOf } from "../../testkit/conformance/secrets.ts";
import { type FileFixture, makeFileFixture } from "../../testkit/secrets-file/folders.ts";
import { openFileLock } from "./file-lock.ts";
import { formatIdentity, isAlive, type ProcessIdentity, parseIdentity, thisProcess } from "./process-identity.ts";

let fixture: FileFixture;
let file: string;
beforeEach(async () => {
  fixture = await makeFileFixture();
  file = fixture.options.file;
});
afterEach(() => fixture.close());

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await once(child, "close");
  if (child.pid === undefined) throw new Error("the child has no process number");
  return child.pid;
}

function identity(changes: Partial<ProcessIdentity>, self: Omit<ProcessIdentity, "id">): string {
  return formatIdentity({ ...self, id: fixture.options.random.uuid(), ...changes });
}

async function taken(waitMsMax: number): Promise<string> {
  const lock = await openFileLock(file, waitMsMax, fixture.options);
  return lock.hold(async (held) => {
    await held.assertHeld();
    return "taken";
  });
}

describe("The lock", () => {
  it("1: is held by one at a time and leaves nothing behind, also when the work throws", async () => {
    const locks = await Promise.all([1, 2, 3, 4].map(() => openFileLock(file, 5_000, fixture.options)));
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await fixture.options.timers.sleep(1);
      inside -= 1;
    };
    await Promise.all(locks.flatMap((lock) => Array.from({ length: 10 }, () => lock.hold(work))));
    expect(most).toBe(1);
    const failed = locks[0]?.hold(() => Promise.reject(new Error("the work failed")));
    await expect(failed).rejects.toThrow("the work failed");
    expect(await readdir(fixture.folder)).toEqual([]);
  });

  it("1: held by a living process is waited for, and after the bound that is SECRETS_UNAVAILABLE, later", async () => {
    const self = await thisProcess();
    await writeFile(`${file}.lock`, identity({}, self));
    const fault = await faultOf(taken(60));
    expect([fault.code, fault.retry, fault.facts["reason"]]).toEqual(["SECRETS_UNAVAILABLE", "later", "locked"]);
    expect(fault.facts["pid"]).toBe(process.pid);
    expect(await readdir(fixture.folder)).toEqual(["secrets.enc.lock"]);
  });

  it("2: of a dead process is taken over at once, by one of many", async () => {
    const self = await thisProcess();
    const dead = identity({ pid: await endedPid() }, self);
    await writeFile(`${file}.lock`, dead);
    const before = fixture.log.lines.length;
    expect(await Promise.all(Array.from({ length: 8 }, () => taken(2_000)))).toEqual(Array(8).fill("taken"));
    expect(fixture.log.lines.slice(before).filter((line) => line.startsWith("Took over"))).toHaveLength(1);
    expect(await readdir(fixture.folder)).toEqual([]);
  });

  it("2: of a process whose number is in use again is taken over", async () => {
    const self = await thisProcess();
    await writeFile(`${file}.lock`, identity({ started: "1" }, self));
    expect(await taken(2_000)).toBe("taken");
  });

  it("3: whose heirs died one after the other is still taken over", async () => {
    const self = await thisProcess();
    const pid = await endedPid();
    const [holder, heir, heirsHeir] = [1, 2, 3].map(() => identity({ pid }, self));
    if (holder === undefined || heir === undefined || heirsHeir === undefined) throw new Error("impossible");
    await writeFile(`${file}.lock`, holder);
    await writeFile(`${file}.lock.heir-of.${parseIdentity(holder)?.id}`, heir);
    await writeFile(`${file}.lock.heir-of.${parseIdentity(heir)?.id}`, heirsHeir);
    expect(await taken(2_000)).toBe("taken");
    expect(await readdir(fixture.folder)).toEqual([]);
  });

  it("3: with a living heir is left to that heir", async () => {
    const self = await thisProcess();
    const holder = identity({ pid: await endedPid() }, self);
    await writeFile(`${file}.lock`, holder);
    await writeFile(`${file}.lock.heir-of.${parseIdentity(holder)?.id}`, identity({}, self));
    expect((await faultOf(taken(40))).facts["reason"]).toBe("locked");
    expect(await readFile(`${file}.lock`, "latin1")).toBe(holder);
  });

  it("4: of another container is waited for, until it is a minute old", async () => {
    const self = await thisProcess();
    for (const foreign of [identity({ realm: "0123456789abcdef" }, self), "unreadable"]) {
      await writeFile(`${file}.lock`, foreign);
      expect((await faultOf(taken(40))).facts["reason"]).toBe("locked");
      const longAgo = Date.now() / 1000 - 61;
      await utimes(`${file}.lock`, longAgo, longAgo);
      expect(await taken(2_000)).toBe("taken");
    }
  });

  it("4: that was taken over is noticed before anything is replaced, and not released for the other", async () => {
    const lock = await openFileLock(file, 1_000, fixture.options);
    const self = await thisProcess();
    const other = identity({}, self);
    const lost = lock.hold(async (held) => {
      await writeFile(`${file}.lock.other`, other);
      await rename(`${file}.lock.other`, `${file}.lock`);
      await held.assertHeld();
    });
    const fault = await faultOf(lost);
    expect([fault.code, fault.retry, fault.facts["reason"]]).toEqual(["SECRETS_UNAVAILABLE", "now", "lock lost"]);
    expect(await readFile(`${file}.lock`, "latin1")).toBe(other);
  });
});

describe("A process identity", () => {
  it("says of the living that they live, of the ended that they do not", async () => {
    const self = await thisProcess();
    expect(await isAlive({ ...self, id: "" })).toBe(true);
    expect(await isAlive({ ...self, id: "", pid: 1, started: "0" })).toBe(true);
    expect(await isAlive({ ...self, id: "", pid: await endedPid() })).toBe(false);
    const text = formatIdentity({ ...self, id: fixture.options.random.uuid() });
    expect(formatIdentity(parseIdentity(text) ?? { ...self, id: "" })).toBe(text);
    expect(parseIdentity("12345")).toBeUndefined();
  });
});
