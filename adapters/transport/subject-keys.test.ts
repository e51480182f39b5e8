// Both places for subject keys against their suite; what the database refuses; and the cipher.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { subjectKeysConformance } from "../../testkit/conformance/subject-keys.ts";
import { memorySubjectKeys } from "../../testkit/memory/subject-keys.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { openPool } from "../postgres/connection.ts";
import { createPostgresSubjectKeys } from "../postgres/subject-keys.ts";
import { systemCipher } from "../system/cipher.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
const pool = () => openPool(database.address.app, { log: quietLog, applicationName: "subject keys", sizeMax: 4 });

subjectKeysConformance("memory", async () => {
  const tables = new Map();
  return { keys: memorySubjectKeys(tables), other: memorySubjectKeys(tables), close: async () => undefined };
});

subjectKeysConformance("PostgreSQL", async () => {
  const [one, two] = [pool(), pool()];
  const close = async () => void (await Promise.all([one.end(), two.end()]));
  return { keys: createPostgresSubjectKeys({ pool: one }), other: createPostgresSubjectKeys({ pool: two }), close };
});

describe("the table of subject keys", () => {
  it("lets nothing come back, and no row go", async () => {
    const app = pool();
    const keys = createPostgresSubjectKeys({ pool: app });
    const id = "00000000-0000-4000-8000-000000000001";
    await keys.add({ id, person: "operator:ada", wrapped: Uint8Array.of(1) });
    await keys.destroy("operator:ada");
    const revive = app.query("update audit_subject_key set wrapped = '\\x01' where id = $1", [id]);
    await expect(revive).rejects.toThrow(/does not come back/);
    await expect(app.query("delete from audit_subject_key")).rejects.toThrow(/permission denied/);
    await expect(app.query("update audit_subject_key set person = 'x'")).rejects.toThrow(/permission denied/);
    await app.end();
  });
});

describe("systemCipher", () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);
  const key = new Uint8Array(32).fill(3);
  const nonce = new Uint8Array(12).fill(4);

  it("is AES-256-GCM: the test case of the specification", () => {
    // Test case 14 of "The Galois/Counter Mode of Operation": key, nonce and plain text all zero.
    const sealed = systemCipher.seal(new Uint8Array(32), new Uint8Array(12), bytes(), new Uint8Array(16));
    expect(Buffer.from(sealed.subarray(12)).toString("hex")).toBe(
      "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919",
    );
  });

  it("opens only what was sealed, with that key and for that place, whatever bit is changed", () => {
    const sealed = systemCipher.seal(key, nonce, bytes(1, 2), bytes(9, 8, 7));
    expect(systemCipher.open(key, sealed, bytes(1, 2))).toEqual(bytes(9, 8, 7));
    expect(systemCipher.open(new Uint8Array(32), sealed, bytes(1, 2))).toBeUndefined();
    expect(systemCipher.open(key, sealed, bytes(1, 3))).toBeUndefined();
    expect(systemCipher.open(key, sealed.subarray(0, 20), bytes(1, 2))).toBeUndefined();
    for (let bit = 0; bit < 8 * sealed.length; bit += 1) {
      const changed = Uint8Array.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(systemCipher.open(key, changed, bytes(1, 2))).toBeUndefined();
    }
    expect(() => systemCipher.seal(key, bytes(1), bytes(), bytes())).toThrow(RangeError);
  });
});
