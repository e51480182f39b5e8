// Sealing: opens for its own context and key only, and the key is made once however many start together.
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { memorySecrets } from "../../testkit/identity/test-secrets.ts";
import { systemRandom } from "../system/random.ts";
import { createSealing, hashOf, openSealing } from "./sealing.ts";

const random = systemRandom();

describe("sealing", () => {
  it("opens what it sealed, and seals the same text differently each time", () => {
    const sealing = createSealing(random.bytes(32), random);
    for (const text of ["", "JBSWY3DPEHPK3PXP", "ünïcode ✓", "x".repeat(100_000)]) {
      expect(sealing.open(sealing.seal(text, "a row"), "a row")).toBe(text);
    }
    expect(sealing.seal("same", "c").equals(sealing.seal("same", "c"))).toBe(false);
    expect(sealing.seal("in clear", "c").includes("in clear")).toBe(false);
  });

  it("3: gives the same text the same pseudonym under one key, and another under another", () => {
    const [key, other] = [random.bytes(32), random.bytes(32)];
    const pseudonym = createSealing(key, random).pseudonym("ada");
    expect(pseudonym).toMatch(/^[0-9a-f]{12}$/);
    expect(createSealing(key, random).pseudonym("ada")).toBe(pseudonym);
    expect(createSealing(key, random).pseudonym("ada ")).not.toBe(pseudonym);
    expect(createSealing(other, random).pseudonym("ada")).not.toBe(pseudonym);
  });

  it("1: does not open for another context", () => {
    const sealing = createSealing(random.bytes(32), random);
    const sealed = sealing.seal("secret", "second_factor a");
    expect(() => sealing.open(sealed, "second_factor b")).toThrow(Fault);
    expect(() => sealing.open(sealed, "second_factor a ")).toThrow(Fault);
  });

  it("2: opens no changed byte, no shortened form and nothing of another key", () => {
    const sealing = createSealing(random.bytes(32), random);
    const sealed = sealing.seal("secret", "c");
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => sealing.open(changed, "c"), `byte ${index}`).toThrow(/cannot be opened/);
      expect(() => sealing.open(sealed.subarray(0, index), "c"), `length ${index}`).toThrow(Fault);
    }
    expect(() => createSealing(random.bytes(32), random).open(sealed, "c")).toThrow(Fault);
  });

  it("makes one key, however many processes start together, and finds it again", async () => {
    const secrets = memorySecrets();
    const all = await Promise.all(Array.from({ length: 5 }, () => openSealing(secrets, "portcullis", random)));
    const sealed = all[0]?.seal("secret", "c") ?? Buffer.of();
    for (const sealing of [...all, await openSealing(secrets, "portcullis", random)]) {
      expect(sealing.open(sealed, "c")).toBe("secret");
    }
    expect(await secrets.get("secret/portcullis/identity/sealing-key")).toMatchObject({
      version: 1,
      value: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    });
  });

  it("does not take something else for a key", async () => {
    const secrets = memorySecrets();
    await secrets.put("secret/portcullis/identity/sealing-key", "hunter2");
    const opening = openSealing(secrets, "portcullis", random);
    await expect(opening).rejects.toMatchObject({ code: "SECRETS_CORRUPT" });
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });

  it("hashes as everybody does", () => {
    expect(hashOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
