// What is about a person is in the log only sealed, opens while the key exists and only in its place, and is gone with the key; the log verifies
// throughout, and dying between the steps of an erasure leaves nothing half said.
import { describe, expect, it } from "vitest";
import { systemCipher } from "../../../../adapters/system/cipher.ts";
import { auditActions } from "../../../../contracts/src/audit-actions.ts";
import { Fault } from "../../../../contracts/src/fault.ts";
import type { AuditTrail } from "../../../../contracts/src/generated/svc/v1/audit.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import type { JsonObject } from "../../../../core/audit/canonical/canonical-json.ts";
import type { Secrets } from "../../../../ports/secrets.ts";
import type { SubjectKeys } from "../../../../ports/subject-keys.ts";
import { auditFixture, recordsOf } from "../../../../testkit/audit/service-fixture.ts";
import { memorySubjectKeys } from "../../../../testkit/memory/subject-keys.ts";
import { prng } from "../../../../testkit/virtual/prng.ts";
import type { AppendRequest } from "../log/append-request.ts";
import { createErasure } from "./erasure.ts";
import {
  createSealing,
  damagedText,
  erasedText,
  hasSealed,
  keyMissingText,
  type SealedEntry,
  type Sealing,
} from "./sealing.ts";

const address = "203.0.113.77";
const ada = "operator:ada";
const session = (principal: string, remote_address: string) => ({
  principal,
  method: "password" as const,
  remote_address,
  at: "2026-11-15T09:30:00.000000Z",
});

function openSealing(seed: number, tables = new Map()) {
  const kept = new Map<string, string>();
  const secrets = {
    get: async (path: string) => {
      const value = kept.get(path);
      return value === undefined ? undefined : { path, value, version: 1 };
    },
    put: async (path: string, value: string) => {
      kept.set(path, value);
      return { path, value, version: 1 };
    },
  } satisfies Pick<Secrets, "get" | "put">;
  const subjectKeys = memorySubjectKeys(tables);
  const masterKeyPath = "secret/portcullis/audit/subject-master-key";
  const make = (random = prng(seed)) =>
    createSealing({ subjectKeys, cipher: systemCipher, secrets, random, masterKeyPath });
  return { sealing: make(), again: () => make(prng(seed + 1_000)), subjectKeys, tables, kept };
}

const place = (path: string, eventId = "event-1", person = ada) => ({
  person,
  action: "session.opened",
  subjectId: ada,
  eventId,
  path,
});
/** An entry as the event of `place` makes it. */
const entryOf = (data: object, more: Partial<Omit<SealedEntry, "data">> = {}): SealedEntry => ({
  action: "session.opened",
  subject_id: ada,
  data: { event_id: "event-1", ...data } as JsonObject,
  ...more,
});
/** The same without what every entry here has. */
async function unsealed({ unseal }: Sealing, entry: SealedEntry): Promise<JsonObject> {
  const { event_id: _id, ...data } = await unseal(entry);
  return data;
}

describe("sealing", () => {
  it("gives the same bytes for the same event, other ones for any other, and never the text", async () => {
    const { sealing, again } = openSealing(71);
    const seal = await sealing.prepare([ada, "operator:bob"]);
    const one = seal(place("payload/remote_address"), address);
    const later = await again().prepare([ada]);
    expect(later(place("payload/remote_address"), address)).toEqual(one);
    const others = [
      seal(place("payload/remote_address", "event-2"), address),
      seal(place("payload/other"), address),
      seal(place("payload/remote_address"), `${address}0`),
      seal(place("payload/remote_address", "event-1", "operator:bob"), address),
      seal({ ...place("payload/remote_address"), subjectId: "operator:bob" }, address),
      seal({ ...place("payload/remote_address"), action: "session.closed" }, address),
    ];
    const nonces = [one, ...others].map(({ sealed }) => Buffer.from(sealed, "base64").subarray(0, 12).toString("hex"));
    expect(new Set(nonces).size).toBe(7);
    expect(Buffer.from(one.sealed, "base64").toString("latin1")).not.toContain(address);
    expect(Buffer.from(one.sealed, "base64").length).toBe(12 + JSON.stringify(address).length + 16);
  });

  it("opens in its place, for whoever has the keys, also after a restart", async () => {
    const { sealing, again } = openSealing(72);
    const seal = await sealing.prepare([ada]);
    const path = "payload/remote_address";
    const data = { payload: { principal: ada, remote_address: seal(place(path), address) }, list: [1, "two"] };
    const open = { payload: { principal: ada, remote_address: address }, list: [1, "two"] };
    expect(await unsealed(sealing, entryOf(data))).toEqual(open);
    expect(await unsealed(again(), entryOf(data))).toEqual(open);
  });

  it("does not open elsewhere, under another person's key, or when a bit was changed", async () => {
    const { sealing } = openSealing(73);
    const seal = await sealing.prepare([ada, "operator:bob"]);
    const value = seal(place("payload/remote_address"), address);
    const bobs = seal(place("payload/remote_address", "event-1", "operator:bob"), address);
    const at = (data: object) => unsealed(sealing, entryOf(data));
    expect(await at({ payload: { other: value } })).toEqual({ payload: { other: damagedText } });
    expect(await at({ remote_address: value })).toEqual({ remote_address: damagedText });
    const swapped = { payload: { remote_address: { ...value, subject_key: bobs.subject_key } } };
    expect(await at(swapped)).toEqual({ payload: { remote_address: damagedText } });
    const bytes = Buffer.from(value.sealed, "base64");
    bytes[15] = (bytes[15] ?? 0) ^ 1;
    const changed = { payload: { remote_address: { ...value, sealed: bytes.toString("base64") } } };
    expect(await at(changed)).toEqual({ payload: { remote_address: damagedText } });
    const unknown = { remote_address: { sealed: value.sealed, subject_key: "00000000-0000-4000-8000-000000000000" } };
    expect(await at(unknown)).toEqual({ remote_address: keyMissingText });
  });

  it("does not open in another entry: of another event, about somebody else, or of another action", async () => {
    const { sealing } = openSealing(79);
    const seal = await sealing.prepare([ada]);
    const data = { payload: { remote_address: seal(place("payload/remote_address"), address) } };
    const open = async (entry: SealedEntry) => (await unsealed(sealing, entry))["payload"];
    expect(await open(entryOf(data))).toEqual({ remote_address: address });
    const copies = [
      entryOf({ ...data, event_id: "event-2" }),
      { ...entryOf(data), data: data as unknown as JsonObject },
      entryOf(data, { subject_id: "operator:bob" }),
      entryOf(data, { action: "event.observed" }),
    ];
    for (const copy of copies) expect(await open(copy)).toEqual({ remote_address: damagedText });
  });

  it("says erased when the key is destroyed, and the next event gets another key", async () => {
    const { sealing, subjectKeys } = openSealing(74);
    const seal = await sealing.prepare([ada]);
    const value = seal(place("a"), address);
    await subjectKeys.destroy(ada);
    sealing.forget();
    expect(await unsealed(sealing, entryOf({ a: value }))).toEqual({ a: erasedText });
    const next = (await sealing.prepare([ada]))(place("a"), address);
    expect(next.subject_key).not.toBe(value.subject_key);
    expect(await unsealed(sealing, entryOf({ a: next }))).toEqual({ a: address });
  });

  it("stands still when the master key is another one, and says where it lies", async () => {
    const { sealing, again, kept } = openSealing(75);
    await sealing.prepare([ada]);
    kept.set("secret/portcullis/audit/subject-master-key", Buffer.alloc(32).toString("base64"));
    await expect(again().prepare([ada])).rejects.toThrow(/subject-master-key.* does not open the subject key/);
    kept.set("secret/portcullis/audit/subject-master-key", "short");
    await expect(again().prepare([ada])).rejects.toMatchObject({ code: "SECRETS_CORRUPT", retry: "later" });
  });

  it("is recognised by its form, wherever it stands", () => {
    const form = { sealed: "x", subject_key: "y" };
    for (const data of [{ a: form }, form, { a: [1, { b: form }] }]) expect(hasSealed(data)).toBe(true);
    for (const data of [{}, { a: { ...form, more: 1 } }, { sealed: "x" }, { a: { sealed: 1, subject_key: "y" } }]) {
      expect(hasSealed(data)).toBe(false);
    }
  });

  it("marks what is about persons, and nothing else", () => {
    const marked = Object.entries(auditActions).flatMap(([key, rule]) =>
      "actions" in rule && rule.personal.length > 0 ? [[key, ...rule.personal]] : [],
    );
    expect(marked).toEqual([
      ["sessionOpened", "remote_address"],
      ["sessionClosed", "remote_address"],
      ["sessionRefused", "remote_address"],
    ]);
  });
});

describe("the log", () => {
  const seed = 76;
  it(`holds no address, shows it to those who may read it until it is erased, and verifies (seed ${seed})`, async () => {
    const fixture = auditFixture({ seed });
    const life = await fixture.start();
    await fixture.publish("gateway", subjects.sessionOpened, session(ada, address));
    await fixture.publish("gateway", subjects.sessionOpened, session("operator:bob", "198.51.100.1"));
    await fixture.publish("gateway", subjects.sessionRefused, session(ada, address));
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 500 });
    const written = () => JSON.stringify([recordsOf(fixture.disk), [...fixture.subjectKeys]]);
    expect(recordsOf(fixture.disk)).toHaveLength(4);
    expect(written()).not.toContain(address);
    expect(written()).not.toContain(Buffer.from(JSON.stringify(address)).toString("base64").slice(0, 12));
    const shown = async (role: string, person = ada): Promise<unknown[]> => {
      const handler = life.audit.rpcHandlers["GetAuditTrail"];
      const identity = { kind: "operator", actor: `operator:${role}`, roles: [role] };
      const trail = (await fixture.finish(
        handler?.({ subject_id: person } as never, { identity } as never) ?? Promise.reject(new Error("none")),
      )) as AuditTrail;
      return trail.entries.map(({ data }) => (data?.["payload"] as { remote_address: unknown })?.remote_address);
    };
    expect(await shown("admin")).toEqual([address, address]);
    expect(await shown("viewer")).toEqual([expect.objectContaining({ sealed: expect.any(String) }), expect.anything()]);
    expect(await fixture.finish(life.audit.erase(ada, "operator:duty"))).toEqual([4]);
    expect(recordsOf(fixture.disk)[4]).toMatchObject({
      action: "subject.key_destroyed",
      actor: "operator:duty",
      subject_id: ada,
      data: { subject_key: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(await fixture.finish(life.audit.erase(ada, "operator:duty"))).toEqual([]);
    expect(await shown("admin")).toEqual([erasedText, erasedText, undefined]);
    expect(await shown("admin", "operator:bob")).toEqual(["198.51.100.1"]);
    expect(await fixture.finish(life.audit.verify())).toMatchObject({ entries: 5 });
    await fixture.publish("gateway", subjects.sessionOpened, session(ada, address));
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 500 });
    expect(await shown("risk_officer")).toEqual([erasedText, erasedText, undefined, address]);
    await fixture.finish(life.audit.stop());
  });

  it("has every event once, over kills and lost answers, although sealed", async () => {
    const fixture = auditFixture({ seed: 77 });
    const throwing = prng(77);
    let life = await fixture.start();
    for (let n = 0; n < 30; n += 1) {
      const fates = ["committed", "failed", "lost, committed", "lost, not committed"] as const;
      fixture.fates.set("audit.append", [fates[throwing.below(4)] ?? "committed"]);
      await fixture.publish("gateway", subjects.sessionOpened, session(ada, `10.0.0.${n}`));
      await fixture.time.run({ untilMs: fixture.time.elapsedMs() + throwing.below(8) });
      if (!throwing.chance(0.15)) continue;
      life.process.kill();
      fixture.fates.clear();
      life = await fixture.start();
    }
    fixture.fates.clear();
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 20_000 });
    const opened = await fixture.finish(life.audit.unseal(recordsOf(fixture.disk).slice(1)));
    const addresses = opened.map(({ data }) => (data["payload"] as JsonObject)["remote_address"]);
    expect(addresses).toEqual(Array.from({ length: 30 }, (_, n) => `10.0.0.${n}`));
    await fixture.finish(life.audit.stop());
  });
});

describe("an erasure", () => {
  async function sealedKeys() {
    const { sealing, subjectKeys } = openSealing(78);
    await sealing.prepare([ada]);
    const [key] = [...(await subjectKeys.inForce([ada])).values()];
    return { sealing, subjectKeys, id: key?.id ?? "" };
  }

  it("says destroyed only when it is, and says it once, wherever it dies", async () => {
    for (const dyingAt of ["destroy", "append", "markReported", "never"]) {
      const { sealing, subjectKeys, id } = await sealedKeys();
      const log = new Map<string, AppendRequest>();
      let isAlive = true;
      const step = <T>(name: string, run: () => Promise<T>): Promise<T> => {
        if (isAlive && name === dyingAt) isAlive = false;
        return isAlive ? run() : Promise.reject(new Fault("STORE_UNAVAILABLE", "dead", { retry: "later" }));
      };
      const append = async (request: AppendRequest) => {
        // The key is gone before anything is said.
        expect((await subjectKeys.find([id])).get(id)).toBe("destroyed");
        log.set(request.eventId, request);
        return { sequence: 9, entry: undefined };
      };
      const dying: SubjectKeys = {
        ...subjectKeys,
        destroy: (person) => step("destroy", () => subjectKeys.destroy(person)),
        markReported: (key) => step("markReported", () => subjectKeys.markReported(key)),
      };
      const first = createErasure({
        subjectKeys: dying,
        sealing,
        append: (request) => step("append", () => append(request)),
      });
      await first.erase(ada, "operator:duty").catch((thrown: unknown) => expect(thrown).toBeInstanceOf(Fault));
      const next = createErasure({ subjectKeys, sealing, append });
      await next.recover();
      if (dyingAt === "destroy") expect(log.size).toBe(0);
      await next.erase(ada, "operator:duty");
      await next.recover();
      expect([...log.values()]).toMatchObject([
        { eventId: `subject-key-destroyed/${id}`, subjectId: ada, data: { subject_key: id } },
      ]);
      expect(await subjectKeys.unaudited()).toEqual([]);
    }
  });
});
