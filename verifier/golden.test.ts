// The golden vectors of the format against the offline verifier and against the small writer that its tests make logs with.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stranger } from "../testkit/audit/attacks/shape.ts";
import { rawBundle } from "../testkit/audit/attacks/texts.ts";
import { loadVerifier } from "../testkit/audit/run-attack.ts";
import { fileOf, noteOf, nowS, rootOf, sha256 } from "../testkit/audit/test-log.ts";

const verifier = await loadVerifier();
const golden = (name: string): Buffer => readFileSync(new URL(`../core/audit/golden/${name}`, import.meta.url));
const goldenJson = (name: string): unknown => JSON.parse(golden(name).toString("utf8"));
const leafOf = (bytes: Uint8Array): Buffer => sha256(Buffer.from([0]), bytes);

const { vkey, line, checkpoint } = goldenJson("cosignature.json") as Readonly<Record<string, string>>;
const logKeyText = /"keys":\["([^"]+)"\]/.exec(golden("bundle-0-12.txt").toString("utf8"))?.[1] ?? "";
const trust = { vkeys: [logKeyText], nowS };

test.each(["bundle-0-12.txt", "bundle-5-9.txt", "entry-5.tlog-proof"])("%s verifies at L1", async (name) => {
  expect(await verifier.verifyBytes(golden(name), trust)).toMatchObject({
    verdict: "yes",
    level: "L1",
    checkpoint_size: 12,
  });
});

test("the golden cosignature makes the golden bundle L2", async () => {
  const noted = golden("bundle-0-12.txt")
    .toString("utf8")
    .replace(JSON.stringify(checkpoint), JSON.stringify(`${checkpoint}${line}`));
  const policy = `1 of ${vkey}`;
  expect(await verifier.verifyBytes(Buffer.from(noted), { ...trust, policy })).toMatchObject({ level: "L2" });
});

test("the entries of v1 are a log", async () => {
  const { entries, genesis } = goldenJson("entries-v1.json") as {
    readonly entries: readonly { readonly text: string; readonly leaf: string }[];
    readonly genesis: { readonly origin: string };
  };
  const chained: string[] = [];
  let hash = "0".repeat(64);
  // Not every one of them follows the one before: those that do are a log.
  for (const { text, leaf } of entries) {
    expect(leafOf(Buffer.from(text)).toString("hex")).toBe(leaf);
    const { prev_hash: prev, hash: own } = JSON.parse(text) as Readonly<Record<string, string>>;
    if (prev !== hash) continue;
    chained.push(text);
    hash = own ?? "";
  }
  expect(chained.length).toBeGreaterThan(3);
  const root = rootOf(chained.map((text) => leafOf(Buffer.from(text)))).toString("base64");
  const note = noteOf(`${genesis.origin}\n${chained.length}\n${root}\n`, [stranger]);
  const header = { checkpoint: note, entries: chained.length, from: 0, handovers: [], left: [], right: [] };
  expect(await verifier.verifyBytes(fileOf(JSON.stringify(header), chained), { nowS })).toMatchObject({ level: "L0" });
});

test("RFC 8785: what is canonical is read, what is not is refused", async () => {
  const { canonical, not_canonical: others } = goldenJson("rfc8785.json") as {
    readonly canonical: readonly { readonly name: string; readonly canonical: string }[];
    readonly not_canonical: readonly { readonly name: string; readonly text?: string; readonly hex?: string }[];
  };
  const verdictOf = async (value: string | Uint8Array): Promise<unknown> => {
    const data = Buffer.concat([Buffer.from('{"a":'), Buffer.from(value), Buffer.from("}")]);
    const { verdict, code } = await verifier.verifyBytes(rawBundle({ data }), { nowS });
    return code ?? verdict;
  };
  for (const { name, canonical: text } of canonical) expect(await verdictOf(text), name).toBe("yes");
  for (const { name, text, hex } of others) {
    const bytes = hex === undefined ? Buffer.from(text ?? "") : Buffer.from(hex, "hex");
    expect(await verdictOf(bytes), name).toBe("ENTRY_MALFORMED");
  }
});

test("RFC 6962: the writer's trees of 0 to 8 leaves have the published roots", () => {
  const { leaves, roots } = goldenJson("rfc6962.json") as Readonly<Record<"leaves" | "roots", readonly string[]>>;
  const hashes = leaves.map((leaf) => leafOf(Buffer.from(leaf, "hex")));
  expect(roots.map((_, size) => rootOf(hashes.slice(0, size)).toString("hex"))).toEqual(roots);
});

test("the key of the C2SP example is a key", async () => {
  const [example] = goldenJson("signed-notes.json") as readonly { readonly vkey: string }[];
  const answer = verifier.verifyBytes(golden("bundle-0-12.txt"), { vkeys: [example?.vkey ?? ""], nowS });
  expect(await answer).toMatchObject({ code: "CHECKPOINT_MALFORMED", sequence: 12 });
});
