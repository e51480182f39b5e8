// The login from a file: its three forms, who may read it, and that a renewed one counts at the next connection.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Log } from "../../ports/log.ts";
import { startNatsServer } from "../../testkit/nats-server.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { connectNats } from "./connect.ts";
import { loginFromFile, loginNameOf, loginPath } from "./login.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portcullis-login-"));
  path = loginPath(folder, "oms");
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const seedOf = (user = nkeys.createUser()): string => new TextDecoder().decode(user.getSeed());
const block = (title: string, text: string) => `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n\n`;
const write = (text: string, mode = 0o600) => writeFile(path, text, { mode });

function refusal(): string {
  try {
    loginFromFile(path, quietLog);
  } catch (thrown) {
    return String(thrown);
  }
  return "accepted";
}

test("a process logs in as its service; with operations beside others as that one", () => {
  expect(loginPath("/etc/nats", "oms")).toBe("/etc/nats/oms.creds");
  expect(loginNameOf(["oms"])).toBe("oms");
  expect(loginNameOf(["riskengine", "operations"])).toBe("operations");
  expect(loginNameOf(["treasury", "research"])).toBe("treasury");
});

describe("the file's form", () => {
  test("what nsc writes", async () => {
    const user = nkeys.createUser();
    await write(block("NATS USER JWT", "a.b.c") + block("USER NKEY SEED", seedOf(user)));
    expect(loginFromFile(path, quietLog)("nonce")).toMatchObject({ jwt: "a.b.c", nkey: user.getPublicKey() });
  });

  test("the seed of an nkey", async () => {
    const user = nkeys.createUser();
    await write(`${seedOf(user)}\n`);
    const login = loginFromFile(path, quietLog)("nonce");
    expect(login).toMatchObject({ nkey: user.getPublicKey() });
    expect(login).not.toHaveProperty("jwt");
  });

  test("a user and a password, in which a colon may stand", async () => {
    await write("oms:pass:word\n");
    expect(loginFromFile(path, quietLog)("nonce")).toEqual({ user: "oms", pass: "pass:word" });
  });

  test.each([
    ["nothing", ""],
    ["a word", "Pl4nted"],
    ["no password", "oms:"],
    ["two lines", "oms:Pl4nted\ntreasury:Pl4nted\n"],
    ["a seed with a wrong letter", `SU${"A".repeat(56)}`],
    ["a JWT without its seed", block("NATS USER JWT", "Pl4nted")],
    ["a JWT with a broken seed", block("NATS USER JWT", "Pl4nted") + block("USER NKEY SEED", "SUAPl4nted")],
  ])("%s is refused, and nothing of it is repeated", async (_what, text) => {
    await write(text);
    expect(refusal()).toContain(`${path} holds none of these`);
    expect(refusal()).not.toMatch(/Pl4nted|SUAA/);
  });
});

describe("who may read it", () => {
  test.each([0o604, 0o640, 0o660, 0o644, 0o620])("mode %o is refused", async (mode) => {
    await write("oms:word");
    await chmod(path, mode);
    expect(refusal()).toContain(`${path} is open to others (mode ${mode.toString(8).padStart(4, "0")}). Run chmod 600`);
  });

  test("mode 400 is fine; a folder or an absent file is not", async () => {
    await write("oms:word");
    await chmod(path, 0o400);
    expect(refusal()).toBe("accepted");
    await rm(path);
    expect(refusal()).toContain(`${path} cannot be read`);
    path = folder;
    expect(refusal()).toContain("is not a small file");
  });
});

test("a renewed login counts at the next connection, and a spoilt file leaves the old one in force", async () => {
  const lines: string[] = [];
  const note = (message: string, fields?: unknown): void => void lines.push(message + JSON.stringify(fields ?? {}));
  const log: Log = { debug: note, info: note, warn: note, error: note, with: () => log };
  await write("bob:first-word");
  const login = loginFromFile(path, log);
  await write("bob:second-word");
  expect(login("nonce")).toEqual({ user: "bob", pass: "second-word" });
  await chmod(path, 0o644);
  expect(login("nonce")).toEqual({ user: "bob", pass: "second-word" });
  expect(lines.length).toBe(1);
  expect(lines[0]).toContain("the one from before is used");
  expect(lines[0]).not.toContain("word");
});

test("all three forms open a real server's door, with each user's own rights", async () => {
  const [bare, issued] = [nkeys.createUser(), nkeys.createUser()];
  const configuration = `authorization { users: [
    { user: oms, password: "word-of-oms" }, { nkey: ${bare.getPublicKey()} }, { nkey: ${issued.getPublicKey()} } ] }`;
  const server = await startNatsServer({ jetStream: true, configuration });
  try {
    for (const text of [
      "oms:word-of-oms",
      seedOf(bare),
      block("NATS USER JWT", "any") + block("USER NKEY SEED", seedOf(issued)),
    ]) {
      await write(text);
      const link = await connectNats({ url: server.url, name: "test", log: quietLog, credsFile: path });
      expect(link.health()).toEqual({ connected: true });
      await link.close();
    }
    await write("oms:another-word");
    const wrong = connectNats({ url: server.url, name: "test", log: quietLog, credsFile: path });
    await expect(wrong).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
  } finally {
    await server.stop();
  }
});
