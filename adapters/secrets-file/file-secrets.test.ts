// The file store passes the common suite with either kind of key, and does what only a file store must: keys, modes, damage.
import { chmod, copyFile, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeSecrets, faultOf, printed } from "../../testkit/conformance/secrets.ts";
import { type FileFixture, makeFileFixture } from "../../testkit/secrets-file/folders.ts";
import type { KeySource } from "./store-key.ts";

const path = "secret/portcullis/tradingview/alpha";
const value = "s3cret-value-of-alpha";
const cheap = { log2N: 14, r: 8, p: 1 };
const passphrase: KeySource = { kind: "passphrase", passphrase: "correct horse battery", scryptCost: cheap };

describeSecrets("The file store with a key file", () => makeFileFixture());
describeSecrets("The file store with a passphrase", () => makeFileFixture(passphrase));

const frozenStore =
  "UENTRUNSRVQBAQAAAAAAAP/+/fz7+vn49/b19PPy8fDv7u3s6+rp6Ofm5eTj4uHgw48+UAgSZgAoD9sFl5akJQAHDhUcIyoxOD9G" +
  "TQAAAFusBmo6CfXxC7lydP5jmIDIp+E1uLHyLwSES8W9TJJZWor1EgpzWgObkU6bBEFC/R1MkGySB5eenK1Hx0Z3omXSv9sII8k1" +
  "/WEcmYhAg4iT5w1KaN8pJcgFITIPgKO61+N3AlQoBN8jd2W8JXn6VwQ5tGMNLCH+NrKvVC8=";

let fixture: FileFixture;
let keyPath: string;
beforeEach(async () => {
  fixture = await makeFileFixture();
  keyPath = join(fixture.folder, "secrets.key");
});
afterEach(() => fixture.close());

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

describe("The key", () => {
  it("is made on first use, 0600 like the store, and neither value nor path is readable in the file", async () => {
    const secrets = await fixture.open();
    await secrets.put(path, value);
    expect(await modeOf(keyPath)).toBe("600");
    expect(await modeOf(fixture.options.file)).toBe("600");
    expect(await readFile(keyPath, "latin1")).toMatch(/^[0-9a-f]{64}\n$/);
    const bytes = await readFile(fixture.options.file);
    expect(bytes.includes(value)).toBe(false);
    expect(bytes.includes("tradingview")).toBe(false);
    expect((await readdir(fixture.folder)).sort()).toEqual(["secrets.enc", "secrets.key"]);
    expect(fixture.log.lines.join("\n")).not.toContain(value);
  });

  it("is refused when others can read it, with the command that mends it", async () => {
    await (await fixture.open()).put(path, value);
    for (const mode of [0o644, 0o640, 0o604, 0o620]) {
      await chmod(keyPath, mode);
      const fault = await faultOf(fixture.open());
      expect([fault.code, fault.facts["reason"]]).toEqual(["SECRETS_WRONG_KEY", "mode"]);
      expect(fault.message).toContain(`chmod 600 '${keyPath}'`);
    }
    await chmod(keyPath, 0o400);
    expect((await (await fixture.open()).get(path))?.value).toBe(value);
  });

  it("is not made anew for a store that exists", async () => {
    await (await fixture.open()).put(path, value);
    await rm(keyPath);
    const fault = await faultOf(fixture.open());
    expect([fault.code, fault.facts["reason"]]).toEqual(["SECRETS_WRONG_KEY", "missing"]);
    expect(await readdir(fixture.folder)).toEqual(["secrets.enc"]);
  });

  it("that is another one, malformed or of the other kind is a clear fault that does not show it", async () => {
    await (await fixture.open()).put(path, value);
    const other = "ab".repeat(32);
    await writeFile(keyPath, other);
    const wrong = await faultOf(fixture.open());
    expect(wrong.code).toBe("SECRETS_WRONG_KEY");
    expect(wrong.message).toBe("This key file is not the one that the secrets file was locked with.");
    expect(printed(wrong)).not.toContain(other);
    await writeFile(keyPath, "not a key but s3cret");
    const malformed = await faultOf(fixture.open());
    expect([malformed.code, malformed.facts["reason"]]).toEqual(["SECRETS_WRONG_KEY", "malformed"]);
    expect(printed(malformed)).not.toContain("s3cret");
    const kind = await faultOf(fixture.open({ key: passphrase }));
    expect(kind.code).toBe("SECRETS_WRONG_KEY");
    expect(kind.message).toContain("locked with a key file, but a passphrase was given");
    expect(kind.message).toContain("unset PORTCULLIS_SECRETS_PASSPHRASE");
  });

  it("from a passphrase works at the stated cost, in either Unicode form, and a wrong one is a clear fault", async () => {
    const composed: KeySource = { kind: "passphrase", passphrase: "caf\u00e9 au lait, bien chaud" };
    await (await fixture.open({ key: composed })).put(path, value);
    const header = await readFile(fixture.options.file);
    expect([...header.subarray(9, 13)]).toEqual([2, 17, 8, 1]);
    const decomposed: KeySource = { kind: "passphrase", passphrase: "cafe\u0301 au lait, bien chaud" };
    expect((await (await fixture.open({ key: decomposed })).get(path))?.value).toBe(value);
    const fault = await faultOf(fixture.open({ key: { kind: "passphrase", passphrase: "wrong-one-entirely" } }));
    expect(fault.code).toBe("SECRETS_WRONG_KEY");
    expect(fault.message).toBe("This passphrase is not the one that the secrets file was locked with.");
    expect(printed(fault)).not.toContain("wrong-one-entirely");
  });

  it("from a short passphrase or at a silly cost is refused for a new store", async () => {
    const short = await faultOf(fixture.open({ key: { kind: "passphrase", passphrase: "tooshort" } }));
    expect(short.code).toBe("CONFIGURATION_INVALID");
    expect(printed(short)).not.toContain("tooshort");
    const weak: KeySource = { ...passphrase, scryptCost: { log2N: 4, r: 8, p: 1 } };
    expect((await faultOf(fixture.open({ key: weak }))).code).toBe("CONFIGURATION_INVALID");
    expect(await readdir(fixture.folder)).toEqual([]);
  });
});

describe("Damage", () => {
  it("of any single byte is SECRETS_CORRUPT and never a wrong key", async () => {
    await (await fixture.open()).put(path, value);
    const good = await readFile(fixture.options.file);
    for (let at = 0; at < good.length; at += 1) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(fixture.options.file, bad);
      const fault = await faultOf(fixture.open());
      expect([at, fault.code]).toEqual([at, "SECRETS_CORRUPT"]);
      expect(printed(fault)).not.toContain(value);
    }
  });

  it("by cutting or lengthening is SECRETS_CORRUPT, an emptied file included", async () => {
    await (await fixture.open()).put(path, value);
    const good = await readFile(fixture.options.file);
    const lengths = [0, 1, 8, 95, 96, 97, good.length - 17, good.length - 16, good.length - 1];
    for (const bad of [...lengths.map((length) => good.subarray(0, length)), Buffer.concat([good, Buffer.from("x")])]) {
      await writeFile(fixture.options.file, bad);
      expect((await faultOf(fixture.open())).code).toBe("SECRETS_CORRUPT");
    }
  });

  it("while the store is open is noticed by the next read and write, and an older file is just an older file", async () => {
    const secrets = await fixture.open();
    await secrets.put(path, "first");
    const backup = join(fixture.folder, "backup");
    await copyFile(fixture.options.file, backup);
    await secrets.put(path, value);
    await writeFile(fixture.options.file, "overwritten by accident");
    expect((await faultOf(secrets.get(path))).code).toBe("SECRETS_CORRUPT");
    expect((await faultOf(secrets.put(path, "another"))).code).toBe("SECRETS_CORRUPT");
    await copyFile(backup, fixture.options.file);
    expect(await secrets.get(path)).toEqual({ path, version: 1, value: "first" });
  });

  it("by removal is SECRETS_UNAVAILABLE, not a new and empty store", async () => {
    const secrets = await fixture.open();
    await secrets.put(path, value);
    await rm(fixture.options.file);
    expect((await faultOf(secrets.get(path))).code).toBe("SECRETS_UNAVAILABLE");
    expect((await faultOf(secrets.put(path, "another"))).code).toBe("SECRETS_UNAVAILABLE");
    expect(await readdir(fixture.folder)).toEqual(["secrets.key"]);
  });
});

describe("The file", () => {
  it("has a fresh nonce for every write and the frozen header", async () => {
    const secrets = await fixture.open();
    const nonces = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      await secrets.put(path, "the same value");
      const bytes = await readFile(fixture.options.file);
      expect(bytes.subarray(0, 10).toString("latin1")).toBe("PCSECRET\u0001\u0001");
      expect(bytes.length).toBe(96 + bytes.readUInt32BE(76) + 16);
      nonces.add(bytes.subarray(64, 76).toString("hex"));
    }
    expect(nonces.size).toBe(20);
  });

  it("may be reached through a symbolic link, which stays one", async () => {
    await (await fixture.open()).put(path, value);
    const alias = join(fixture.folder, "alias");
    await symlink(fixture.options.file, alias);
    await (await fixture.open({ file: alias })).put(path, "through the link");
    expect((await (await fixture.open()).get(path))?.value).toBe("through the link");
  });

  it("in a folder that cannot be made is SECRETS_UNAVAILABLE, later", async () => {
    await fixture.open();
    const fault = await faultOf(fixture.open({ file: join(keyPath, "below-a-file", "secrets.enc") }));
    expect([fault.code, fault.retry]).toEqual(["SECRETS_UNAVAILABLE", "later"]);
  });

  it("written by an earlier build of this format still opens", async () => {
    // Made once with the key 00..1f and never to be regenerated: this is what "frozen" means.
    const frozen = Buffer.from(frozenStore, "base64");
    await writeFile(fixture.options.file, frozen);
    await writeFile(keyPath, Buffer.from(Array.from({ length: 32 }, (_unused, index) => index)).toString("hex"), {
      mode: 0o600,
    });
    expect(await (await fixture.open()).get(path)).toEqual({ path, version: 3, value: "frozen in place" });
  });
});
